import { isIP } from 'node:net';

/** One entry of `--allowed-hosts`. */
export interface AllowedHost {
  /** As the hostname of a URL has it: lower case, IPv6 in brackets; `*.` in front for any name below; or `*`. */
  host: string;
  /** Absent: the scheme's own. */
  port?: number | 'any';
}

/** An entry, or what to write instead, in words. */
export type AllowedHostRead = { kind: 'read'; allowed: AllowedHost } | { kind: 'wrong'; message: string };

const FORM =
  'must be a host with an optional port, such as deploy.example.com, *.example.com:8443, 10.0.0.7, [fd00::7]:8443 or *';

/**
 * Reads `host[:port]`: an exact name or address, `*.example.com` for any name below it (not itself), or `*`; the port
 * a number, or `*` for any. What could never be the host of a URL is refused: it would look as if it allowed something.
 */
export function readAllowedHost(text: string): AllowedHostRead {
  const bare = isIP(text) === 6;
  const [, given = '', portText] = bare ? [text, `[${text}]`] : (/^(.*?)(?::([^:\]/]*))?$/s.exec(text) ?? []);
  const port = portOf(portText);
  if (port === 'wrong') return { kind: 'wrong', message: 'the port must be a number from 1 to 65535, or *' };
  const allowed = (host: string): AllowedHostRead => ({
    kind: 'read',
    allowed: { host, ...(port === undefined ? {} : { port }) },
  });
  const host = given.toLowerCase();
  if (host === '*') return allowed(host);
  const below = host.startsWith('*.');
  const name = below ? host.slice(2) : host;
  if (!/^[^\s/\\@?#*%]+$/.test(name) || /^\.|\.\./.test(name)) return { kind: 'wrong', message: FORM };
  // What a URL makes of it is what it is compared with.
  const sample = below ? `a.${name}` : name;
  const known = URL.parse(`https://${sample}`)?.hostname;
  if (known === undefined || known === '') return { kind: 'wrong', message: FORM };
  if (sample.startsWith('[')) return allowed(known);
  const canonical = known.replace(/\.$/, '');
  if (canonical === sample) return allowed(host);
  return {
    kind: 'wrong',
    message: `no URL can have this host: write ${below ? `*.${canonical.slice(2)}` : canonical}`,
  };
}

/** Whether a URL's host and port match one of the entries. An entry that cannot be read matches nothing. */
export function hostAllowed(
  { hostname, port }: Pick<URL, 'hostname' | 'port'>,
  ownPort: number,
  entries: readonly string[],
): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  return entries.some((entry) => {
    const read = readAllowedHost(entry);
    return (
      read.kind === 'read' &&
      isPort(read.allowed.port, port === '' ? ownPort : Number(port), ownPort) &&
      isHost(read.allowed.host, name)
    );
  });
}

function isHost(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.startsWith('*.')) return pattern === name;
  const suffix = pattern.slice(1);
  return name.endsWith(suffix) && name.length > suffix.length;
}

function isPort(allowed: AllowedHost['port'], port: number, ownPort: number): boolean {
  return allowed === 'any' || port === (allowed ?? ownPort);
}

function portOf(text: string | undefined): AllowedHost['port'] | 'wrong' {
  if (text === undefined) return undefined;
  if (text === '*') return 'any';
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535 ? port : 'wrong';
}
