import { isIP } from 'node:net';
import { withoutEnding } from '../../base/text.ts';
import { createAddressCheck } from './addresses.ts';
import { hostAllowed } from './hosts.ts';

export interface EndpointRules {
  /** What may be called, as {@link readAllowedHost} reads it: `host[:port]`. Empty means nothing. */
  allowedHosts: readonly string[];
  /** Plain http too. @default false */
  allowInsecure?: boolean | undefined;
  /** Loopback addresses too. @default false */
  allowLoopback?: boolean | undefined;
}

/** An endpoint that may be called. */
export interface Endpoint {
  /** `https://host[:port]`. */
  origin: string;
  /** Hostname without the brackets of an IPv6 address. */
  host: string;
  /** Path in front of `/services`, without a slash at the end; empty mostly. */
  base: string;
}

/** Thrown for an endpoint that can never be called as things are set; the message says what to change. */
export class EndpointError extends Error {
  readonly code: 'EndpointInvalid' | 'EndpointInsecure' | 'HostNotAllowed';

  constructor(code: EndpointError['code'], message: string) {
    super(message);
    this.name = 'EndpointError';
    this.code = code;
  }
}

/** Checks a Connection's endpoint against what the operator may call. Throws {@link EndpointError}. */
export function parseEndpoint(text: string, rules: EndpointRules): Endpoint {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '') {
    throw new EndpointError(
      'EndpointInvalid',
      'endpoint is not an http(s) URL; write https://<host>[:<port>]',
    );
  }
  if (url.username !== '' || url.password !== '') {
    // Not quoted: it holds a credential.
    throw new EndpointError(
      'EndpointInvalid',
      'endpoint holds a user or a password; put them into the credentials Secret',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw new EndpointError('EndpointInvalid', 'endpoint holds a query or a fragment; leave them out');
  }
  if (url.protocol === 'http:' && rules.allowInsecure !== true) {
    throw new EndpointError(
      'EndpointInsecure',
      `endpoint ${url.origin} is plain http; use https, or have the administrator start the operator with --allow-insecure`,
    );
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (!hostAllowed(url, url.protocol === 'https:' ? 443 : 80, rules.allowedHosts)) {
    throw new EndpointError(
      'HostNotAllowed',
      `endpoint host ${url.host} is not among the allowed hosts of this operator; have the administrator add ` +
        `${url.host} to --allowed-hosts`,
    );
  }
  const refused = isIP(host) === 0 ? undefined : createAddressCheck(rules.allowLoopback === true)(host);
  if (refused !== undefined) {
    throw new EndpointError(
      'HostNotAllowed',
      `endpoint host ${host} is a ${refused} address, which is not called`,
    );
  }
  return { origin: url.origin, host, base: withoutEnding(url.pathname, '/') };
}

/**
 * The one spelling of an endpoint: whatever leads to the same place of the same host is the same service. What no
 * endpoint can be stays as it is.
 */
export function canonicalEndpoint(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return text;
  const isMore = url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '';
  const hostname = url.hostname.replace(/\.$/, '');
  if (isMore || hostname === '') return text;
  const port = url.port === '' ? '' : `:${url.port}`;
  return `${url.protocol}//${hostname}${port}${canonicalPath(url.pathname)}`;
}

const UNRESERVED = /^[\w.~-]$/;

/** RFC 3986, 6.2.2: what needs no encoding has none. A slash more names the same place to most servers. */
function canonicalPath(pathname: string): string {
  const decoded = pathname.replace(/%[\da-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(character) ? character : code.toUpperCase();
  });
  return withoutEnding(decoded.replace(/\/{2,}/g, '/'), '/');
}
