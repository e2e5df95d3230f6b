import { isForeign } from '../security/origin.ts';
import { tokenHash } from '../security/tokens.ts';

/** Links that wait for somebody to follow them; of more, the oldest go. */
const MAX_TICKETS = 16;

/**
 * The name of the page's cookie. Browsers send cookies to every port of a host: with the port in the name two
 * services of one machine do not log each other out. It is sent to the page only and `/services` does not know it,
 * so no other page of the machine can use it to call the service.
 */
export function cookieName(headers: Readonly<Record<string, string>>): string {
  const port = /:(\d+)$/.exec(headers['host'] ?? '')?.[1] ?? '80';
  return `boxwright-page-${port}`;
}

/** The token in the page's cookie. */
export function cookieToken(headers: Readonly<Record<string, string>>): string | undefined {
  const wanted = `${cookieName(headers)}=`;
  const found = (headers['cookie'] ?? '').split(';').map((pair) => pair.trim());
  const value = found.find((pair) => pair.startsWith(wanted))?.slice(wanted.length);
  return value === undefined || value === '' ? undefined : value;
}

/** The header that logs in with `token`, or out with "". */
export function setCookie(headers: Readonly<Record<string, string>>, token: string): string {
  const end = token === '' ? '; Max-Age=0' : '';
  return `${cookieName(headers)}=${token}; Path=/page; HttpOnly; SameSite=Strict${end}`;
}

/** Whether a form comes from the page itself, and from no other page that is open in the same browser. */
export function isOwnForm(headers: Readonly<Record<string, string>>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return !isForeign(headers);
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** Whether a `Host` header, or the host of an address, means this machine. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/** Where to go after a login: an address of the page, and nothing that leads elsewhere or out again. */
export function safeNext(next: string | null): string {
  return next !== null && /^\/page\/(?!log)[!-~]*$/.test(next) ? next : '/page/instances';
}

/** Links that log in once. They are kept in memory only: none outlives the run. */
export class Tickets {
  readonly #accounts = new Map<string, string>();

  /** Makes `ticket` good for one login of an account. */
  add(ticket: string, account: string): void {
    this.#accounts.set(tokenHash(ticket), account);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > MAX_TICKETS && oldest !== undefined) this.#accounts.delete(oldest);
  }

  /** The account that a ticket lets in; the ticket is used up. */
  take(ticket: string): string | undefined {
    const key = tokenHash(ticket);
    const account = this.#accounts.get(key);
    this.#accounts.delete(key);
    return account;
  }
}
