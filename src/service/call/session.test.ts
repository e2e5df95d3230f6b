import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../base/masking/known-secrets.ts';
import { settle, VirtualClock } from '../../base/virtual-clock.ts';
import { createServiceClient } from '../client.ts';
import type { ServiceClient } from '../client.ts';
import type { PortAnswer, PortRequest } from '../port.ts';
import { json, raw, rejectionOf, ScriptedPort } from '../scripted-port.ts';

const box = { id: 'b1', name: 'web' };

/** A service that hands out tokens t1, t2, … and lets in those that `valid` holds. */
class Logins {
  readonly valid = new Set<string>();
  readonly port: ScriptedPort;
  readonly clock = new VirtualClock();
  readonly client: ServiceClient;
  count = 0;
  /** Answers the next logins in place of a token. */
  readonly instead: (PortAnswer | Promise<PortAnswer>)[] = [];
  bare = false;
  /** The tokens that it hands out are good for nothing. */
  forgets = false;

  constructor(credentials: Parameters<typeof createServiceClient>[0]['credentials']) {
    this.port = new ScriptedPort((request) => this.#answer(request));
    this.client = createServiceClient({ port: this.port, credentials, clock: this.clock, random: () => 0 });
  }

  get calls(): string[] {
    return this.port.requests.map(({ path, headers }) => `${path} ${headers['service-token'] ?? '-'}`);
  }

  #answer(request: PortRequest): PortAnswer | Promise<PortAnswer> {
    if (request.path === '/services/security/token') {
      const other = this.instead.shift();
      if (other !== undefined) return other;
      const token = `t${++this.count}`;
      if (!this.forgets) this.valid.add(token);
      return this.bare ? raw(200, `${token}\n`, { 'content-type': 'text/plain' }) : json(200, { token });
    }
    return this.valid.has(request.headers['service-token'] ?? '')
      ? json(200, box)
      : json(401, { message: 'who?' });
  }
}

const password = { kind: 'password', email: 'a@b.c', password: 'pw' } as const;

describe('login with email and password', () => {
  it('logs in once for all calls, without a token of its own', async () => {
    const logins = new Logins(password);
    await Promise.all([logins.client.boxes.read('b1'), logins.client.boxes.read('b1')]);
    await logins.client.boxes.read('b1');
    expect(logins.calls).toEqual([
      '/services/security/token -',
      '/services/boxes/b1 t1',
      '/services/boxes/b1 t1',
      '/services/boxes/b1 t1',
    ]);
    expect(logins.port.requests[0]?.body).toBe('{"email":"a@b.c","password":"pw"}');
  });

  // H4
  it('logs in anew when told to, also right after a login was refused', async () => {
    const logins = new Logins(password);
    await logins.client.boxes.read('b1');
    logins.client.loginAgain();
    await logins.client.boxes.read('b1');
    expect(logins.calls.slice(2)).toEqual(['/services/security/token -', '/services/boxes/b1 t2']);
    logins.client.loginAgain();
    logins.instead.push(json(401, { message: 'who?' }));
    expect((await logins.client.boxes.read('b1')).kind).toBe('unknown');
    logins.client.loginAgain();
    expect((await logins.client.boxes.read('b1')).kind).toBe('found');
  });

  it('takes a bare token too', async () => {
    const logins = new Logins(password);
    logins.bare = true;
    expect((await logins.client.boxes.read('b1')).kind).toBe('found');
    expect(logins.calls[1]).toBe('/services/boxes/b1 t1');
  });

  it.each([
    raw(200, '<html>hello</html>'),
    json(200, { error: 1 }),
    raw(200, ''),
    json(200, { token: 'a\nb' }),
  ])('takes an answer without a token for no answer', async (answer) => {
    const logins = new Logins(password);
    logins.instead.push(answer);
    expect(await logins.client.boxes.read('b1')).toMatchObject({
      kind: 'unknown',
      error: { code: 'BadAnswer' },
    });
    // The next call tries again.
    expect((await logins.client.boxes.read('b1')).kind).toBe('found');
  });

  it('logs in once more when the token is revoked, however many calls notice', async () => {
    const logins = new Logins(password);
    await logins.client.boxes.read('b1');
    logins.valid.clear();
    const reads = await Promise.all([1, 2, 3].map(() => logins.client.boxes.read('b1')));
    expect(reads.map(({ kind }) => kind)).toEqual(['found', 'found', 'found']);
    expect(logins.count).toBe(2);
  });

  it('repeats the refused write once with the new token', async () => {
    const logins = new Logins(password);
    await logins.client.boxes.read('b1');
    logins.valid.clear();
    expect(await logins.client.boxes.create({ schema: 's', name: 'web' })).toMatchObject({ kind: 'ok' });
    expect(logins.calls.slice(2)).toEqual([
      '/services/boxes t1',
      '/services/security/token -',
      '/services/boxes t2',
    ]);
  });

  it('reports a 401 that a new login does not cure, and does not log in again at once', async () => {
    const logins = new Logins(password);
    logins.valid.add = () => logins.valid;
    expect(await logins.client.boxes.create({ schema: 's', name: 'web' })).toMatchObject({
      kind: 'refused',
      error: { code: 'CredentialsRejected', class: 'NeedsUser', status: 401 },
    });
    expect(logins.count).toBe(2);
    await logins.client.boxes.read('b1');
    expect(logins.count).toBe(2);
    await logins.clock.advance(10_000);
    await logins.client.boxes.read('b1');
    expect(logins.count).toBe(3);
  });

  it('logs in once more, later, where what it got was never let in, though it asks for the same alone', async () => {
    const logins = new Logins(password);
    logins.forgets = true;
    expect(await logins.client.boxes.read('b1')).toMatchObject({ kind: 'unknown' });
    await logins.clock.advance(10_000);
    expect(await logins.client.boxes.read('b1')).toMatchObject({ kind: 'unknown' });
    logins.forgets = false;
    await logins.clock.advance(300_000);
    expect(await logins.client.boxes.read('b1')).toMatchObject({ kind: 'found' });
  });

  it.each([400, 401, 403])(
    'reports a login answered %i and leaves the account in peace for a while',
    async (status) => {
      const logins = new Logins(password);
      logins.instead.push(json(status, { message: 'Invalid Username/Password' }), json(status, {}));
      const write = await logins.client.boxes.create({ schema: 's', name: 'web' });
      expect(write).toMatchObject({
        kind: 'notSent',
        error: { code: 'CredentialsRejected', class: 'NeedsUser', template: '/services/security/token' },
      });
      expect(write.kind === 'notSent' && write.error.message).toContain('Invalid Username/Password');
      await logins.client.boxes.read('b1');
      expect(logins.calls).toHaveLength(1);
      await logins.clock.advance(10_000);
      await logins.client.boxes.read('b1');
      expect(logins.calls).toHaveLength(2);
      await logins.clock.advance(10_000);
      await logins.client.boxes.read('b1');
      expect(logins.calls).toHaveLength(2);
      await logins.clock.advance(10_000);
      expect((await logins.client.boxes.read('b1')).kind).toBe('found');
    },
  );

  it('says that a write was not sent when the login has no answer', async () => {
    const logins = new Logins(password);
    logins.instead.push(raw(502, 'bad gateway'));
    expect(await logins.client.boxes.create({ schema: 's', name: 'web' })).toMatchObject({
      kind: 'notSent',
      error: { code: 'ServerError', class: 'Retryable' },
    });
  });

  it('lets one caller leave without ending the login for the others', async () => {
    const logins = new Logins(password);
    const login = Promise.withResolvers<PortAnswer>();
    logins.instead.push(login.promise);
    logins.valid.add('slow');
    const abort = new AbortController();
    const leaving = rejectionOf(logins.client.boxes.read('b1', { signal: abort.signal }));
    const staying = logins.client.boxes.read('b1');
    await settle();
    abort.abort(new Error('stop'));
    expect(await leaving).toMatchObject({ message: 'stop' });
    login.resolve(json(200, { token: 'slow' }));
    expect((await staying).kind).toBe('found');
  });

  it('does not hang when only one call may be in flight', async () => {
    const clock = new VirtualClock();
    const port = new ScriptedPort((request) =>
      request.path.endsWith('/token') ? json(200, { token: 't' }) : json(200, box),
    );
    const client = createServiceClient({
      port,
      credentials: password,
      clock,
      random: () => 0,
      pace: { inFlight: 1 },
    });
    expect((await client.boxes.read('b1')).kind).toBe('found');
  });
});

describe('a fixed token', () => {
  it('is reported when it is refused, after one call', async () => {
    const logins = new Logins({ kind: 'token', token: 'old' });
    expect(await logins.client.boxes.read('b1')).toMatchObject({
      kind: 'unknown',
      error: { code: 'CredentialsRejected', class: 'NeedsUser', serviceMessage: 'who?' },
    });
    expect(logins.calls).toEqual(['/services/boxes/b1 old']);
  });

  it('loses the line end that Secrets often carry', async () => {
    const logins = new Logins({ kind: 'token', token: 'tok\n' });
    logins.valid.add('tok');
    expect((await logins.client.boxes.read('b1')).kind).toBe('found');
  });

  it.each(['', '  ', 'a b', 'a\r\nX-Evil: 1', 'tök'])(
    'is not sent when it cannot travel: %j',
    async (token) => {
      const logins = new Logins({ kind: 'token', token });
      expect(await logins.client.boxes.remove('b1')).toMatchObject({
        kind: 'notSent',
        error: { code: 'CredentialsUnusable', class: 'NeedsUser' },
      });
      expect(logins.calls).toEqual([]);
    },
  );
});

it('is known as a secret with each call, whatever else was noted in between', async () => {
  const known = new KnownSecrets(10_000);
  const secrets = known.of('shop/main');
  const port = new ScriptedPort(() => json(200, box));
  const client = createServiceClient({
    port,
    credentials: { kind: 'token', token: 'token-of-the-shop' },
    clock: new VirtualClock(),
    random: () => 0,
    secrets,
  });
  for (let i = 0; i < 1_000; i += 1) secrets.note(`pushing-out-everything-else-${i}`);
  expect(secrets.mask('token-of-the-shop')).toBe('token-of-the-shop');
  await client.boxes.read('b1');
  expect(secrets.mask('token-of-the-shop')).toBe('****');
});
