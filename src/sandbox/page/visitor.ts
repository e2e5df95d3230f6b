import { onTestFinished } from 'vitest';
import { startFixture, type Answered, type Fixture } from '../fixture.ts';
import type { SandboxOptions } from '../sandbox.ts';

const HOST = '127.0.0.1:8420';

/** What a browser sends that has not logged in, besides what is the same for all. */
export const NOBODY = { 'service-token': '', host: HOST, 'sec-fetch-site': 'same-origin' };

/** A browser that has logged in: its cookie, and nothing else that a client would send. */
export interface Visitor extends Fixture {
  get: (path: string, headers?: Record<string, string>) => Promise<Answered>;
  post: (path: string, fields?: Fields, headers?: Record<string, string>) => Promise<Answered>;
}

/** Fields of a form; pairs where a name comes several times. */
export type Fields = Record<string, string> | [string, string][];

/** Fields of a form, as a browser sends them. */
export const form = (fields: Fields): Uint8Array => Buffer.from(new URLSearchParams(fields).toString());

/** Logs in, and returns the cookie. */
export async function login({ call }: Fixture, email: string, password: string): Promise<string> {
  const answer = await call('POST', '/page/login', form({ email, password }), NOBODY);
  return (answer.headers['set-cookie'] ?? '').split(';')[0] ?? '';
}

/** Starts a service that ends with the test, and logs in there. */
export async function visit(
  options: Omit<SandboxOptions, 'clock'> = {},
  email = 'ops@example.com',
  password = 'secret-1',
): Promise<Visitor> {
  const fixture = await startFixture(options);
  onTestFinished(() => fixture.sandbox.stop());
  const cookie = await login(fixture, email, password);
  return {
    ...fixture,
    get: (path, headers) => fixture.call('GET', path, undefined, { ...NOBODY, cookie, ...headers }),
    post: (path, fields = {}, headers = {}) =>
      fixture.call('POST', path, form(fields), { ...NOBODY, cookie, ...headers }),
  };
}
