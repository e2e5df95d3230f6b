import { describe, expect, it } from 'vitest';
import { credentialsIn } from './credentials.ts';

const whole = (
  data: Readonly<Record<string, Uint8Array>>,
  type?: string,
): Parameters<typeof credentialsIn>[1] => ({ type, data, refused: undefined });
const secret = (data: Record<string, string>): ReturnType<typeof credentialsIn> =>
  credentialsIn(
    'login',
    whole(Object.fromEntries(Object.entries(data).map(([k, v]) => [k, Buffer.from(v)]))),
  );
const said = (data: Record<string, string>): string => {
  const read = secret(data);
  return read.kind === 'missing' ? read.message : 'found';
};

describe('credentials in a Secret', () => {
  it('are a token, or email and password; a token goes before', () => {
    expect(secret({ token: 'abc' })).toEqual({ kind: 'found', credentials: { kind: 'token', token: 'abc' } });
    const pair = { email: 'ops@example.com', password: 'secret' };
    expect(secret(pair)).toEqual({ kind: 'found', credentials: { kind: 'password', ...pair } });
    expect(secret({ ...pair, token: 'abc' })).toMatchObject({ credentials: { kind: 'token' } });
    expect(secret({ ...pair, token: '' })).toMatchObject({ credentials: { kind: 'password' } });
  });

  it('of type basic-auth call the email username; other types that are made for something are no login', () => {
    const data = { username: Buffer.from('ops@example.com'), password: Buffer.from('secret') };
    const read = (type: string | undefined): ReturnType<typeof credentialsIn> =>
      credentialsIn('login', whole(data, type));
    expect(read('kubernetes.io/basic-auth')).toMatchObject({
      credentials: { kind: 'password', email: 'ops@example.com', password: 'secret' },
    });
    expect(read('Opaque')).toMatchObject({ kind: 'missing' });
    expect(read('example.com/session')).toMatchObject({
      kind: 'missing',
      message: expect.stringContaining('has the type example.com/session') as string,
    });
  });

  it('lose the line break that echo and editors leave, and nothing else', () => {
    expect(secret({ token: 'abc\n' })).toMatchObject({ credentials: { token: 'abc' } });
    expect(secret({ token: 'abc\r\n' })).toMatchObject({ credentials: { token: 'abc' } });
    expect(secret({ email: 'a@example.com\n', password: ' pass \n\n' })).toMatchObject({
      credentials: { email: 'a@example.com', password: ' pass \n' },
    });
  });

  it('that are not there are told by what is there', () => {
    expect(credentialsIn('login', undefined)).toMatchObject({
      message: expect.stringMatching(/^Secret "login" does not exist: create it with key token/),
    });
    expect(said({})).toBe('Secret "login" has no keys: it needs key token, or keys email and password');
    expect(said({ username: 'x', Token: 'y' })).toContain('has only Token, username: it needs key token');
    expect(said({ email: 'ops@example.com' })).toContain('has only email');
    expect(said({ f: '1', e: '1', d: '1', c: '1', b: '1', a: '1' })).toContain('has only a, b, c, d, e:');
  });

  it('that are empty or far too long are told as such, and not shown', () => {
    expect(said({ token: '\n' })).toContain('key token is empty');
    expect(said({ email: 'ops@example.com', password: '' })).toContain('key password is empty');
    const bytes = { token: Uint8Array.of(0xff, 0x41) };
    expect(credentialsIn('login', whole(bytes))).toMatchObject({
      message: 'Secret "login": key token is not UTF-8 text; it needs key token, or keys email and password',
    });
    const long = said({ token: 'x'.repeat(10_000) });
    expect(long).toContain('key token holds 10000 bytes');
    expect(long).not.toContain('xx');
  });

  it('are not looked for in what every object inherits', () => {
    expect(credentialsIn('login', whole(Object.create({ token: Buffer.from('inherited') })))).toMatchObject({
      kind: 'missing',
    });
  });
});
