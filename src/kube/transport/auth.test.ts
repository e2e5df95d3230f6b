import { describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../../base/virtual-clock.ts';
import { CachedAccess, type AccessSource, type ClusterAccess } from './auth.ts';

function make() {
  const clock = new VirtualClock();
  const looks: boolean[] = [];
  const state = { token: 'one', fail: false, hang: false };
  const source: AccessSource = {
    access: async (fresh) => {
      looks.push(fresh);
      await Promise.resolve();
      if (state.hang) await new Promise(() => undefined);
      if (state.fail) throw new Error('plugin exited with 1');
      return access(state.token);
    },
  };
  return { clock, looks, state, cached: new CachedAccess(source, clock) };
}

function access(token: string): ClusterAccess {
  return { server: 'https://127.0.0.1', headers: { authorization: `Bearer ${token}` }, tls: {} };
}

describe('CachedAccess', () => {
  it('asks the source once for many callers, and again after a minute', async () => {
    const { clock, looks, state, cached } = make();
    const all = await Promise.all(Array.from({ length: 10 }, () => cached.current()));
    expect(looks).toEqual([false]);
    expect(new Set(all).size).toBe(1);
    state.token = 'two';
    await clock.advance(59_000);
    expect(await cached.current()).toEqual(access('one'));
    await clock.advance(1_000);
    expect(await cached.current()).toEqual(access('two'));
    expect(looks).toEqual([false, false]);
  });

  it('goes on with the last access while the source fails, and looks again soon', async () => {
    const { clock, looks, state, cached } = make();
    await cached.current();
    state.fail = true;
    await clock.advance(60_000);
    expect(await cached.current()).toEqual(access('one'));
    expect(await cached.current()).toEqual(access('one'));
    expect(looks).toHaveLength(2);
    state.fail = false;
    state.token = 'two';
    await clock.advance(10_000);
    expect(await cached.current()).toEqual(access('two'));
  });

  it('fails when there never was an access', async () => {
    const { state, cached } = make();
    state.fail = true;
    await expect(cached.current()).rejects.toThrow(/exited with 1/);
  });

  it('gives up a source that hangs', async () => {
    const { clock, state, cached } = make();
    state.hang = true;
    const outcome = cached.current().catch((error: unknown) => error);
    await clock.advance(60_000);
    expect(await outcome).toMatchObject({ code: 'KubeCredentials' });
  });

  it('passes caches by after a refusal, once for all who were refused, and not again with each call', async () => {
    const { clock, looks, state, cached } = make();
    const refused = await cached.current();
    state.token = 'two';
    const others = await Promise.all([cached.another(refused), cached.another(refused)]);
    expect(others).toEqual([access('two'), access('two')]);
    expect(looks).toEqual([false, true]);
    expect(await cached.another(access('two'))).toBeUndefined();
    expect(looks).toHaveLength(2);
    await clock.advance(5_000);
    expect(await cached.another(access('two'))).toBeUndefined();
    expect(looks).toHaveLength(3);
  });

  it('has no other access when the source fails', async () => {
    const { state, cached } = make();
    const refused = await cached.current();
    state.fail = true;
    expect(await cached.another(refused)).toBeUndefined();
    await settle();
  });
});
