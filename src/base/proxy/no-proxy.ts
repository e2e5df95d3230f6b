import { BlockList, isIP } from 'node:net';

/** Whether a host (a name, or an address without brackets) and port are to be called without a proxy. */
export type Bypass = (host: string, port: number) => boolean;

interface Entry {
  port: number | undefined;
  matches(host: string): boolean;
}

/**
 * Reads NO_PROXY as Go's net/http does, so that one value does for all programs of a cluster: `*`; addresses;
 * networks such as 10.0.0.0/8; `example.com` for the name and all below it; `.example.com` and `*.example.com`
 * for those below only; any but a network with `:port`. Loopback is always called directly. Names are compared as
 * they are written (but for a dot at the end), never looked up. What cannot be read matches nothing.
 */
export function parseNoProxy(text: string): Bypass {
  const words = text.split(',').map((word) => word.trim().toLowerCase());
  const isLoopback = listOf((list) => {
    list.addSubnet('127.0.0.0', 8, 'ipv4');
    list.addAddress('::1', 'ipv6');
  });
  if (words.includes('*')) return () => true;
  const entries = words.map(entryOf).filter((entry) => entry !== undefined);
  return (given, port) => {
    const host = withoutDot(given.toLowerCase());
    if (host === 'localhost' || isLoopback(host)) return true;
    return entries.some((entry) => (entry.port ?? port) === port && entry.matches(host));
  };
}

function entryOf(word: string): Entry | undefined {
  const network = /^([^/]+)\/(\d{1,3})$/.exec(word);
  if (network !== null) return networkEntry(network[1] ?? '', Number(network[2]));
  const { host: written, port } = splitPort(word);
  const host = withoutDot(written);
  if (/^\*?$/.test(host)) return undefined;
  const family = isIP(host);
  if (family !== 0) {
    const own = listOf((list) => list.addAddress(host, familyName(family)));
    return { port, matches: own };
  }
  const suffix = `.${host.replace(/^\*?\./, '')}`;
  const nameToo = !/^\*?\./.test(host);
  return {
    port,
    matches: (name) => isIP(name) === 0 && (name.endsWith(suffix) || (nameToo && name === suffix.slice(1))),
  };
}

function networkEntry(address: string, bits: number): Entry | undefined {
  const family = isIP(address);
  if (family === 0 || bits > (family === 6 ? 128 : 32)) return undefined;
  return { port: undefined, matches: listOf((list) => list.addSubnet(address, bits, familyName(family))) };
}

/** `host:port`, `[::1]:port`, or a host alone; an IPv6 address without brackets has no port. */
function splitPort(word: string): { host: string; port: number | undefined } {
  const found = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(word);
  if (found === null) return { host: word.replace(/^\[(.*)\]$/, '$1'), port: undefined };
  return { host: found[1] ?? found[2] ?? '', port: Number(found[3]) };
}

/** A block list knows an IPv4 address inside an IPv6 one too. */
function listOf(fill: (list: BlockList) => void): (host: string) => boolean {
  const list = new BlockList();
  fill(list);
  return (host) => {
    const family = isIP(host);
    return family !== 0 && list.check(host, familyName(family));
  };
}

/** `example.com.` is `example.com`, only never looked for below a domain of the resolver. */
function withoutDot(name: string): string {
  return name.replace(/\.$/, '');
}

function familyName(family: number): 'ipv4' | 'ipv6' {
  return family === 6 ? 'ipv6' : 'ipv4';
}
