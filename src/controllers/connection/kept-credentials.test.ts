import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { KubeClient, SECRETS, type KubePort, type KubeRequest } from '../../kube/index.ts';
import { FakeKube } from '../../../test/support/fake-kube.ts';
import { Digest } from '../digest.ts';
import { KEPT_SECRET, KeptCredentials } from './kept-credentials.ts';

const HOME = 'boxwright-system';
const DAY = 24 * 3_600_000;
const { signal } = new AbortController();
const access = (token: string) => ({ credentials: { kind: 'token' as const, token }, ca: undefined });

function setup() {
  const clock = new VirtualClock();
  const kube = new FakeKube({ clock, namespaces: [HOME] });
  const state = { refuse: false, writes: 0, living: new Set(['a', 'b']) };
  const port: KubePort = {
    watch: (request) => kube.watch(request),
    request: async (request: KubeRequest) => {
      if (request.method !== 'GET') state.writes += 1;
      if (!state.refuse) return kube.request(request);
      const body = { kind: 'Status', status: 'Failure', code: 403, reason: 'Forbidden', message: 'no' };
      return { status: 403, headers: {}, body };
    },
  };
  const client = new KubeClient(port, { clock, random: () => 0.5 });
  const start = (keyByte = 1): KeptCredentials =>
    new KeptCredentials({
      kube: client,
      namespace: HOME,
      key: new Digest(Buffer.alloc(32, keyByte)).keyFor('kept credentials'),
      clock,
      log: silentLogger,
      isLiving: (uid) => state.living.has(uid),
    });
  const leaving = (uid: string, endpoint = 'https://service.test') => ({
    uid,
    endpoint,
    deletionTimestamp: new Date(clock.now()).toISOString(),
  });
  const stored = (): string[] => {
    const secret = kube.get(SECRETS, { namespace: HOME, name: KEPT_SECRET });
    return Object.keys((secret as { data?: object } | undefined)?.data ?? {}).toSorted();
  };
  return { clock, state, start, leaving, stored };
}

describe('kept credentials', () => {
  it('are found by another process, once for each Connection, and written once', async () => {
    const { start, leaving, stored, state } = setup();
    const first = start();
    await Promise.all(['a', 'b'].map((uid) => first.keep(leaving(uid), access(`token-${uid}`), signal)));
    const { writes } = state;
    await first.keep(leaving('a'), access('token-a'), signal);
    expect(state.writes).toBe(writes);
    expect(await start().find(leaving('b'), signal)).toEqual(access('token-b'));
    await first.forget('a', signal);
    expect(stored()).toEqual(['b']);
  });

  it('are of no use under another key, for another endpoint, or a day after the deletion', async () => {
    const { clock, start, leaving, stored } = setup();
    const gone = leaving('a');
    await start().keep(gone, access('token-a'), signal);
    expect(await start().find({ ...gone, endpoint: 'https://other.test' }, signal)).toBeUndefined();
    expect(await start().find(gone, signal)).toBeDefined();
    await clock.advance(DAY);
    expect(await start().find(gone, signal)).toBeUndefined();
    expect(stored()).toEqual([]);
    await start().keep(gone, access('token-a'), signal);
    expect(stored()).toEqual([]);
    await start().keep(leaving('b'), access('token-b'), signal);
    expect(await start(2).find(leaving('b'), signal)).toBeUndefined();
  });

  it('of Connections that have gone meanwhile are cleared away at the start', async () => {
    const { state, start, leaving, stored } = setup();
    await start().keep(leaving('a'), access('token-a'), signal);
    state.living.delete('a');
    await start().find(leaving('b'), signal);
    expect(stored()).toEqual([]);
  });

  it('hold nothing up where the API server refuses them, and are tried again a minute later', async () => {
    const { clock, state, start, leaving, stored } = setup();
    const credentials = start();
    state.refuse = true;
    for (let i = 0; i < 10; i++) await credentials.keep(leaving('a'), access('token-a'), signal);
    expect(state.writes).toBeLessThanOrEqual(1);
    state.refuse = false;
    await clock.advance(60_000);
    await credentials.keep(leaving('a'), access('token-a'), signal);
    expect(stored()).toEqual(['a']);
  });

  it('stay within what a Secret may hold', async () => {
    const { state, start, leaving, stored } = setup();
    const credentials = start();
    for (let i = 0; i < 120; i++) {
      state.living.add(`uid-${i}`);
      await credentials.keep(leaving(`uid-${i}`), access('x'.repeat(8_000)), signal);
    }
    expect(stored().length).toBeGreaterThan(20);
    expect(stored().length).toBeLessThan(80);
  });
});
