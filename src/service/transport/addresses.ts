import { BlockList, isIP } from 'node:net';
import { ipv6Words } from '../../base/ipv6.ts';

/** Why an address is not called: undefined when it may be. */
export type AddressCheck = (
  address: string,
) => 'loopback' | 'link-local' | 'metadata' | 'unspecified' | 'multicast' | 'not an address' | undefined;

type Kind = Exclude<ReturnType<AddressCheck>, undefined | 'not an address'>;

/** Networks that no service of a user's choice lives in. Metadata addresses are those of the large clouds. */
const networks: readonly (readonly [Kind, string, number])[] = [
  ['metadata', '169.254.169.254', 32],
  ['metadata', '169.254.170.2', 32],
  ['metadata', '100.100.100.200', 32],
  ['metadata', '168.63.129.16', 32],
  ['metadata', 'fd00:ec2::254', 128],
  ['loopback', '127.0.0.0', 8],
  ['loopback', '::1', 128],
  ['link-local', '169.254.0.0', 16],
  ['link-local', 'fe80::', 10],
  // Linux takes these for loopback.
  ['unspecified', '0.0.0.0', 8],
  ['unspecified', '::', 128],
  ['multicast', '224.0.0.0', 4],
  ['multicast', '255.255.255.255', 32],
  ['multicast', 'ff00::', 8],
];

/**
 * A check of the addresses that a host resolves to. Private networks may be called, since services often live
 * there; loopback only with `allowLoopback`; link-local, metadata and addresses of no host never.
 */
export function createAddressCheck(allowLoopback: boolean): AddressCheck {
  const lists = networks
    .filter(([kind]) => !(kind === 'loopback' && allowLoopback))
    .map(([kind, network, prefix]) => {
      const list = new BlockList();
      list.addSubnet(network, prefix, isIP(network) === 6 ? 'ipv6' : 'ipv4');
      return { kind, list };
    });
  return (address) => {
    const plain = embeddedIPv4(address) ?? address;
    const family = isIP(plain);
    if (family === 0) return 'not an address';
    return lists.find(({ list }) => list.check(plain, family === 6 ? 'ipv6' : 'ipv4'))?.kind;
  };
}

/** The IPv4 address inside an IPv6 one that is only another spelling of it (mapped, compatible, NAT64, 6to4). */
function embeddedIPv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = ipv6Words(address);
  const zeros = a === 0 && b === 0 && c === 0 && d === 0 && e === 0;
  if (zeros && f === 0xff_ff) return tail(g, h);
  if (zeros && f === 0 && (g !== 0 || h > 1)) return tail(g, h);
  if (a === 0x64 && b === 0xff_9b && c === 0 && d === 0 && e === 0 && f === 0) return tail(g, h);
  if (a === 0x20_02) return tail(b, c);
  return undefined;
}

function tail(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
