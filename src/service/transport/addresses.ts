import { BlockList, isIP } from 'node:net';

/** Why an address is not called: undefined when it may be. */
export type AddressCheck = (address: string) => AddressKind | 'not an address' | undefined;

type AddressKind = 'loopback' | 'link-local' | 'metadata' | 'unspecified' | 'multicast' | 'reserved';

/**
 * Networks that no service of a user's choice lives in: the special-purpose address registries of IANA (IPv4 and
 * IPv6) but for private use, shared and unique-local networks; multicast; and the addresses at which the large clouds
 * tell machines of their credentials, with the link-local ones as a whole. The first that fits names the reason.
 */
const refused: readonly (readonly [AddressKind, string, number])[] = [
  ['metadata', '169.254.169.254', 32],
  // AWS: containers and pods.
  ['metadata', '169.254.170.0', 24],
  // Alibaba.
  ['metadata', '100.100.100.200', 32],
  // Azure.
  ['metadata', '168.63.129.16', 32],
  // Oracle's first; the registry gives all of 192.0.0.0/24 to protocols.
  ['metadata', '192.0.0.192', 32],
  // AWS, with its resolver, its clock and EKS Pod Identity.
  ['metadata', 'fd00:ec2::', 32],
  // Google.
  ['metadata', 'fd20:ce::', 64],
  // Oracle and Scaleway.
  ['metadata', 'fd00:c1::a9fe:a9fe', 128],
  ['metadata', 'fd00:42::42', 128],
  ['loopback', '127.0.0.0', 8],
  ['loopback', '::1', 128],
  ['link-local', '169.254.0.0', 16],
  ['link-local', 'fe80::', 10],
  // Site-local before RFC 3879.
  ['link-local', 'fec0::', 10],
  // Linux takes these for loopback.
  ['unspecified', '0.0.0.0', 8],
  ['unspecified', '::', 128],
  ['multicast', '224.0.0.0', 4],
  ['multicast', '255.255.255.255', 32],
  ['multicast', 'ff00::', 8],
  ['reserved', '192.0.0.0', 24],
  ['reserved', '192.0.2.0', 24],
  ['reserved', '192.31.196.0', 24],
  ['reserved', '192.52.193.0', 24],
  ['reserved', '192.88.99.0', 24],
  ['reserved', '192.175.48.0', 24],
  ['reserved', '198.18.0.0', 15],
  ['reserved', '198.51.100.0', 24],
  ['reserved', '203.0.113.0', 24],
  ['reserved', '240.0.0.0', 4],
  // IETF protocol assignments: Teredo, benchmarking, AMT, ORCHID and more.
  ['reserved', '2001::', 23],
  ['reserved', '2001:db8::', 32],
  // 6to4, which speaks of an IPv4 address of anybody's choice.
  ['reserved', '2002::', 16],
  ['reserved', '2620:4f:8000::', 48],
  ['reserved', '3fff::', 20],
];

/**
 * What may be called at all: everything of IPv4, also as IPv6 spells it (mapped), and behind the well-known prefix of
 * NAT64; global unicast and unique-local addresses. The rest of IPv6 is reserved: 64:ff9b:1::/48, ::ffff:0:0:0/96,
 * 100::/64, 5f00::/16 and whatever comes.
 */
const callable: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 0],
  ['64:ff9b::', 96],
  ['2000::', 3],
  ['fc00::', 7],
];

/**
 * A check of the addresses that a host resolves to. Private networks may be called, since services often live
 * there; loopback only with `allowLoopback`; link-local, metadata and addresses of no host never.
 */
export function createAddressCheck(allowLoopback: boolean): AddressCheck {
  const lists = refused
    .filter(([kind]) => !(kind === 'loopback' && allowLoopback))
    .map(([kind, network, prefix]) => ({ kind, list: listOf([[network, prefix]]) }));
  const known = listOf([...callable, ...(allowLoopback ? ([['::1', 128]] as const) : [])]);
  return (address) => {
    const family = isIP(address);
    if (family === 0) return 'not an address';
    const isIn = (list: BlockList): boolean => list.check(address, family === 6 ? 'ipv6' : 'ipv4');
    return lists.find(({ list }) => isIn(list))?.kind ?? (isIn(known) ? undefined : 'reserved');
  };
}

/** Node compares an IPv4-mapped address with networks of IPv4 by itself; the address behind NAT64 it does not see. */
function listOf(networks: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) {
    if (isIP(network) === 6) {
      list.addSubnet(network, prefix, 'ipv6');
    } else {
      list.addSubnet(network, prefix, 'ipv4');
      list.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6');
    }
  }
  return list;
}
