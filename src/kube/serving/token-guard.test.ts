import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { KubeTransportError, type KubeAnswer, type KubePort, type KubeRequest } from '../port.ts';
import type { Verdict } from './guard.ts';
import { TokenGuard } from './token-guard.ts';

/** An API server that knows users by token and what they may. */
class FakeReviews implements KubePort {
  readonly users = new Map<string, object>();
  readonly readers = new Set<string>();
  readonly asked: KubeRequest[] = [];
  /** Answers this instead. */
  failure: { status: number } | 'down' | undefined;

  request(request: KubeRequest): Promise<KubeAnswer> {
    this.asked.push(request);
    if (this.failure === 'down') {
      return Promise.reject(new KubeTransportError('no answer', { maybeSent: false }));
    }
    if (this.failure !== undefined) return Promise.resolve(answer(this.failure.status, { kind: 'Status' }));
    const { spec } = request.body as { spec: { token?: string; user?: string } };
    if (request.path.endsWith('/tokenreviews')) {
      const user = this.users.get(spec.token ?? '');
      const status =
        user === undefined
          ? { authenticated: false, error: 'invalid bearer token' }
          : { authenticated: true, user };
      return Promise.resolve(answer(201, { spec, status }));
    }
    return Promise.resolve(answer(201, { status: { allowed: this.readers.has(spec.user ?? '') } }));
  }

  watch(): Promise<never> {
    throw new Error('nobody watches here');
  }
}

function answer(status: number, body: unknown): KubeAnswer {
  return { status, headers: {}, body };
}

const PROMETHEUS = {
  username: 'system:serviceaccount:monitoring:prometheus',
  uid: 'u-1',
  groups: ['system:serviceaccounts', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/pod-name': ['prometheus-0'] },
};

function world(): {
  clock: VirtualClock;
  api: FakeReviews;
  log: { fields: object; message: string }[];
  ask: (authorization?: string, address?: string) => Promise<Verdict>;
  /** What somebody at an address gets for a token. */
  status: (token: string, address?: string) => Promise<number>;
} {
  const clock = new VirtualClock();
  const api = new FakeReviews();
  api.users.set('good', PROMETHEUS);
  api.readers.add(PROMETHEUS.username);
  const log: { fields: object; message: string }[] = [];
  const logger = {
    ...silentLogger,
    warn: (fields: object, message: string) => void log.push({ fields, message }),
  };
  const guard = new TokenGuard({ port: api, clock, logger });
  const ask = (authorization?: string, remoteAddress = '10.0.0.7'): Promise<Verdict> =>
    guard.judge({
      headers: authorization === undefined ? {} : { authorization },
      socket: { remoteAddress },
    } as IncomingMessage);
  const status = async (token: string, address?: string): Promise<number> => {
    const verdict = await ask(`Bearer ${token}`, address);
    return verdict.kind === 'allowed' ? 200 : verdict.status;
  };
  return { clock, api, log, ask, status };
}

describe('TokenGuard', () => {
  it('lets in whose token the API server knows and who may get /metrics, asking with the whole identity', async () => {
    const { api, status } = world();
    expect(await status('good')).toBe(200);
    expect(api.asked.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'good' } },
      },
      {
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: {
            user: PROMETHEUS.username,
            uid: PROMETHEUS.uid,
            groups: PROMETHEUS.groups,
            extra: PROMETHEUS.extra,
            nonResourceAttributes: { path: '/metrics', verb: 'get' },
          },
        },
      },
    ]);
  });

  it('answers 401 without a token, asking nobody', async () => {
    const { api, ask } = world();
    for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic Z29vZDpnb29k', 'Bearer a b', 'good']) {
      expect(await ask(header)).toMatchObject({ status: 401 });
    }
    expect(api.asked).toEqual([]);
  });

  it('answers 401 to a token that is nobody’s, and 403 to somebody who may not', async () => {
    const { api, status } = world();
    api.users.set('other', { ...PROMETHEUS, username: 'jane' });
    expect(await status('garbage')).toBe(401);
    expect(await status('other')).toBe(403);
  });

  it.each([
    ['no name', { username: '', groups: [] }],
    ['no user', {}],
    ['the name of nobody', { username: 'system:anonymous', groups: ['system:unauthenticated'] }],
    ['a name that is no text', { username: ['root'] }],
  ])('denies an identity with %s, whatever it might be allowed', async (_, user) => {
    const { api, status } = world();
    api.users.set('empty', user);
    for (const name of ['', 'system:anonymous']) api.readers.add(name);
    expect(await status('empty')).toBe(401);
    expect(api.asked).toHaveLength(1);
  });

  it.each([503, 500, 429, 401] as const)('answers 503 while the API server answers %i', async (code) => {
    const { api, status } = world();
    api.failure = { status: code };
    expect(await status('good')).toBe(503);
  });

  it('answers 503 while the API server does not answer, also to who was let in before', async () => {
    const { api, clock, status } = world();
    expect(await status('good')).toBe(200);
    await clock.advance(61_000);
    api.failure = 'down';
    expect(await status('good')).toBe(503);
    api.failure = undefined;
    await clock.advance(1_001);
    expect(await status('good')).toBe(200);
  });

  it('answers 500 and says in the log what is missing when the operator may not ask', async () => {
    const { api, log, ask } = world();
    api.failure = { status: 403 };
    expect(await ask('Bearer good')).toMatchObject({
      status: 500,
      text: expect.stringContaining('system:auth-delegator') as string,
    });
    expect(log).toEqual([
      {
        fields: { why: 'the API server answered a TokenReview with 403' },
        message: expect.stringContaining('system:auth-delegator') as string,
      },
    ]);
  });

  it('asks once a minute about who may, and notices within it that he no longer may', async () => {
    const { api, clock, status } = world();
    for (let i = 0; i < 50; i++) await status('good');
    expect(api.asked).toHaveLength(2);
    api.readers.clear();
    await clock.advance(61_000);
    expect(await status('good')).toBe(403);
  });

  it('notices after ten seconds that somebody now may', async () => {
    const { api, clock, status } = world();
    api.readers.clear();
    expect(await status('good')).toBe(403);
    api.readers.add(PROMETHEUS.username);
    expect(await status('good')).toBe(403);
    await clock.advance(10_001);
    expect(await status('good')).toBe(200);
  });

  it('asks once for requests that come at the same time', async () => {
    const { api, status } = world();
    expect(await Promise.all(Array.from({ length: 20 }, () => status('good')))).toEqual(
      Array.from({ length: 20 }, () => 200),
    );
    expect(api.asked).toHaveLength(2);
  });

  it('asks a few times a second in a flood of bad tokens, and goes on letting in who was good', async () => {
    const { api, clock, status } = world();
    expect(await status('good')).toBe(200);
    api.asked.length = 0;
    const seen = new Set<number>();
    for (let second = 0; second < 120; second++) {
      for (let i = 0; i < 100; i++) {
        seen.add(await status(`bad-${second}-${i}`));
      }
      expect(await status('good')).toBe(200);
      await clock.advance(1_000);
    }
    expect(api.asked.length).toBeLessThan(20 + 120 * 5 + 10);
    expect(seen).toEqual(new Set([401, 429]));
  });

  it('asks about a new token while somebody at another address tries out many', async () => {
    const { api, clock, status } = world();
    for (let second = 0; second < 30; second++) {
      for (let i = 0; i < 50; i++) await status(`bad-${second}-${i}`, '10.0.0.66');
      await clock.advance(1_000);
    }
    expect(await status('bad', '10.0.0.66')).toBe(401);
    for (let i = 0; i < 50; i++) await status(`worse-${i}`, '10.0.0.66');
    expect(await status('good', '10.0.0.66')).toBe(429);
    expect(await status('good', '10.0.0.7')).toBe(200);
    expect(api.asked.length).toBeLessThan(20 + 31 * 5 + 10);
  });

  it('asks a bounded number of times however many addresses bad tokens come from', async () => {
    const { api, clock, status } = world();
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < 200; i++) await status(`bad-${second}-${i}`, `10.${second}.${i}.1`);
      await clock.advance(1_000);
    }
    expect(api.asked.length).toBeLessThan(100 + 60 * 20 + 10);
  });

  it('asks about the new token of whoever was let in before, in a flood from everywhere', async () => {
    const { api, clock, status } = world();
    expect(await status('good', '10.0.0.7')).toBe(200);
    for (let i = 0; i < 1_000; i++) await status(`bad-${i}`, `10.1.${i % 250}.${Math.floor(i / 250)}`);
    api.users.delete('good');
    api.users.set('rotated', PROMETHEUS);
    await clock.advance(1);
    expect(await status('rotated', '10.9.9.9')).toBe(429);
    expect(await status('rotated', '10.0.0.7')).toBe(200);
  });

  it('asks once in ten seconds about one bad token', async () => {
    const { api, status } = world();
    for (let i = 0; i < 100; i++) expect(await status('bad')).toBe(401);
    expect(api.asked).toHaveLength(1);
  });

  it('tells nothing of a token or a review to the log, and warns once a minute', async () => {
    const { api, clock, log, status } = world();
    api.failure = 'down';
    for (let i = 0; i < 90; i++) {
      await status('canary-token');
      await clock.advance(1_001);
    }
    expect(log).toHaveLength(2);
    expect(JSON.stringify(log)).not.toContain('canary');
  });
});
