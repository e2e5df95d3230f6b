import { createHash, scryptSync, timingSafeEqual } from 'node:crypto';
import type { AccountDoc } from '../model.ts';
import type { Service } from '../service.ts';
import { cookieCounts } from './origin.ts';

/** The form in which a token is stored. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function passwordHash(password: string, salt: string): string {
  // A test service with one password on loopback: the cost is kept low enough for a login per test.
  return scryptSync(password, salt, 32, { N: 1024 }).toString('hex');
}

export function passwordMatches(account: AccountDoc, password: string): boolean {
  // Of an imported state without its passwords.
  if (account.hash === '') return false;
  const given = Buffer.from(passwordHash(password, account.salt), 'hex');
  return timingSafeEqual(given, Buffer.from(account.hash, 'hex'));
}

/** Makes `token` valid for an account. Earlier tokens stay valid (service-behaviour.md 6). */
export function grantToken(service: Service, account: string, token: string): void {
  service.store.tokens.put({ id: tokenHash(token), account, created: service.time.stamp() });
}

/** The token of a request: the header, a bearer token, or the cookie named token where that counts. */
export function tokenOf(method: string, headers: Readonly<Record<string, string>>): string | undefined {
  const own = headers['service-token'];
  if (own !== undefined && own !== '') return own;
  const bearer = /^Bearer +(\S+)$/i.exec(headers['authorization'] ?? '');
  if (bearer?.[1] !== undefined) return bearer[1];
  if (!cookieCounts(method, headers)) return undefined;
  const cookie = /(?:^|;\s*)token=([^;]+)/.exec(headers['cookie'] ?? '');
  return cookie?.[1];
}
