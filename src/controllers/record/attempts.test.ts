import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { tokenOf } from '../../api/tokens.ts';
import { Attempts } from './attempts.ts';
import { verdict } from './status/verdict.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DOWN = verdict('ServiceUnavailable', 'down');
const NO = verdict('Refused', 'no');

const timesIn = (of: readonly string[], aspect: string): number => of.filter((one) => one === aspect).length;

describe('the ledger of attempts', () => {
  let clock: VirtualClock;
  let attempts: Attempts;
  beforeEach(() => {
    clock = new VirtualClock();
    attempts = new Attempts(clock, () => 0);
  });
  const wait = (ms: number): Promise<void> => clock.advance(ms);

  /** Sends `fingerprint` whenever it may be, and answers when it was, in seconds. */
  async function sends(hours: number, send: () => void, fingerprint = 'a'): Promise<number[]> {
    const at: number[] = [];
    const end = clock.monotonic() + hours * HOUR;
    while (clock.monotonic() < end) {
      const held = attempts.held('content', fingerprint);
      if (held !== undefined) {
        await wait(held.retryAfterMs);
        continue;
      }
      at.push(clock.monotonic() / 1_000);
      send();
    }
    return at;
  }

  it('tries what may pass after a second, doubling to five minutes: 20 times in an hour', async () => {
    const at = await sends(1, () => attempts.failed('content', 'a', DOWN));
    expect(at.slice(0, 5)).toEqual([0, 1, 3, 7, 15]);
    expect(at).toHaveLength(20);
  });

  describe('of two aspects that are sent by one call', () => {
    const ASPECTS = ['lease', 'content'] as const;

    /** Sends whichever may be, the lease first, for some hours. */
    async function both(hours: number, send: (aspect: (typeof ASPECTS)[number]) => void): Promise<string[]> {
      const at: string[] = [];
      const end = clock.monotonic() + hours * HOUR;
      while (clock.monotonic() < end) {
        const held = ASPECTS.map((aspect) => attempts.held(aspect, 'a', 'put'));
        const due = ASPECTS.find((_aspect, index) => held[index] === undefined);
        if (due === undefined) {
          await wait(Math.min(...held.map((one) => one?.retryAfterMs ?? 0)));
          continue;
        }
        at.push(due);
        send(due);
      }
      return at;
    }

    it('counts the failures together, and lets them take turns', async () => {
      const at = await both(1, (aspect) => attempts.failed(aspect, 'a', DOWN, undefined, 'put'));
      expect(at.length).toBeLessThanOrEqual(21);
      expect(Math.abs(timesIn(at, 'lease') - timesIn(at, 'content'))).toBeLessThanOrEqual(2);
      attempts.clear();
      expect(attempts.held('lease', 'a', 'put')).toBeUndefined();
    });

    it('lets one pass that the service takes, however often the other fails', async () => {
      attempts.failed('content', 'a', DOWN, undefined, 'put');
      attempts.failed('lease', 'a', DOWN, undefined, 'put');
      await wait(1_500);
      expect(attempts.held('lease', 'a', 'put')).toMatchObject({ why: 'passing', retryAfterMs: 500 });
      await wait(500);
      expect(attempts.held('lease', 'a', 'put')).toBeUndefined();
      attempts.accepted('lease', 'a', { call: 'put' });
      expect(attempts.held('content', 'a', 'put')).toBeUndefined();
    });

    it('tries at once what is meant for the first time, and does not wait for one that is no longer meant', async () => {
      for (let times = 0; times < 8; times++) attempts.failed('content', 'a', DOWN, undefined, 'put');
      expect(attempts.held('lease', 'a', 'put')).toBeUndefined();
      attempts.failed('lease', 'a', DOWN, undefined, 'put');
      expect(attempts.held('content', 'b', 'put')).toBeUndefined();
      await wait(3 * MINUTE);
      expect(attempts.held('content', 'a', 'put')).toBeDefined();
      await wait(2 * MINUTE);
      expect(attempts.held('lease', 'a', 'put')).toMatchObject({ retryAfterMs: 1_000 });
      expect(attempts.held('lease', 'a', 'put')).toBeUndefined();
    });
  });

  it('waits at least as long as the service asked for', () => {
    expect(attempts.failed('content', 'a', DOWN, 90_000).recheckAfterMs).toBe(90_000);
    expect(attempts.held('content', 'a')).toEqual({ why: 'passing', verdict: DOWN, retryAfterMs: 90_000 });
  });

  it('tries what was refused after ten minutes, doubling to six hours, and keeps its words', async () => {
    const at = await sends(24, () => attempts.refused('content', 'a', NO));
    expect(at.map((second) => second / 60)).toEqual([0, 10, 30, 70, 150, 310, 630, 990, 1_350]);
    attempts.refused('content', 'a', NO);
    expect(attempts.held('content', 'a')).toMatchObject({ why: 'refused', verdict: NO });
  });

  it('holds nothing else back: no other aspect, and nothing else that is meant', () => {
    attempts.refused('content', 'a', NO);
    expect(attempts.held('power', 'a')).toBeUndefined();
    expect(attempts.held('content', 'b')).toBeUndefined();
  });

  it('finds the wait of a declaration that goes to and fro, among the last eight', () => {
    attempts.refused('content', 'a', NO);
    for (let i = 0; i < 7; i++) attempts.refused('content', `b${i}`, NO);
    expect(attempts.held('content', 'a')).toBeDefined();
    attempts.refused('content', 'c', NO);
    expect(attempts.held('content', 'a')).toBeUndefined();
  });

  it('begins anew once it was accepted and is in force', async () => {
    for (let i = 0; i < 5; i++) attempts.failed('content', 'a', DOWN);
    attempts.accepted('content', 'a');
    attempts.inForce('content', 'a');
    expect(attempts.held('content', 'a')).toBeUndefined();
    expect(attempts.failed('content', 'a', DOWN).recheckAfterMs).toBe(1_000);
  });

  it('sends what is accepted without effect three times, then slowly', async () => {
    const at = await sends(24, () => attempts.accepted('content', 'a', { difference: 'tags' }));
    expect(at.slice(0, 5)).toEqual([0, 1, 3, 603, 1_803]);
    expect(at.length).toBeLessThanOrEqual(12);
    attempts.accepted('content', 'a', { difference: 'tags' });
    expect(attempts.held('content', 'a')).toMatchObject({ why: 'noEffect' });
  });

  it('says that somebody undoes what was in force after each correction', async () => {
    for (let i = 0; i < 3; i++) {
      expect(attempts.held('content', 'a')).toBeUndefined();
      attempts.accepted('content', 'a', { difference: 'tags', correcting: true });
      attempts.inForce('content', 'a');
      await wait(10 * MINUTE);
    }
    expect(attempts.held('content', 'a')).toEqual({
      why: 'undone',
      verdict: undefined,
      retryAfterMs: 10 * MINUTE,
    });
  });

  it('counts a correction less for each hour that the value stays', async () => {
    for (let i = 0; i < 10; i++) {
      expect(attempts.held('content', 'a')).toBeUndefined();
      attempts.accepted('content', 'a', { difference: 'tags', correcting: true });
      for (let minutes = 0; minutes <= 60; minutes += 10) {
        attempts.inForce('content', 'a');
        await wait(10 * MINUTE);
      }
    }
  });

  it('counts each difference for itself, and still never sends at the pace of the passes', () => {
    for (let i = 0; i < 5; i++) attempts.accepted('content', 'a', { difference: `f${i}`, correcting: true });
    expect(attempts.held('content', 'a')).toMatchObject({ why: 'passing', retryAfterMs: 16_000 });
  });

  it('takes the same conflict in the same state three times for a refusal', () => {
    const busy = verdict('Updating', 'busy');
    const ask = (at: string): number | undefined =>
      attempts.conflict('power', 'a', at, busy, NO).recheckAfterMs;
    expect([ask('done'), ask('done'), ask('done')]).toEqual([1_000, 2_000, 10 * MINUTE]);
    expect(attempts.conflicts('power', 'a', 'done')).toBe(3);
    expect(attempts.held('power', 'a')).toMatchObject({ why: 'refused', verdict: NO });
  });

  it('waits ever longer for conflicts in states that change all the time, and takes the fifth for a refusal', () => {
    const busy = verdict('Updating', 'busy');
    const waits = ['a', 'b', 'a', 'b', 'c', 'd'].map(
      (at) => attempts.conflict('deletion', 'terminate', at, busy, NO).recheckAfterMs,
    );
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 10 * MINUTE, 20 * MINUTE]);
    expect(attempts.conflicts('deletion', 'terminate', 'd')).toBe(1);
  });

  it('hears a person who wants a look now, once in ten seconds, and no wish is lost', async () => {
    attempts.refused('content', 'a', NO);
    expect(attempts.wish('1', undefined)).toBeUndefined();
    expect(attempts.held('content', 'a')).toBeUndefined();
    attempts.refused('content', 'a', NO);
    expect(attempts.wish('2', '1')).toBe(10_000);
    expect(attempts.held('content', 'a')).toBeDefined();
    await wait(10_000);
    expect(attempts.wish('2', '2')).toBeUndefined();
    expect(attempts.held('content', 'a')).toBeUndefined();
  });

  it('hears no wish that was handled before this process began', () => {
    attempts.refused('content', 'a', NO);
    attempts.wish('1', '1');
    const long = 'x'.repeat(300);
    attempts.wish(long, tokenOf(long));
    attempts.wish('', undefined);
    expect(attempts.held('content', 'a')).toBeDefined();
  });

  it('tries what status shows as refused within ten minutes of a start; ends of leases and deletions at once', async () => {
    attempts = new Attempts(clock, () => 0.5);
    attempts.startsRefused(NO, undefined, 0);
    expect(attempts.held('content', 'a')).toEqual({
      why: 'refused',
      verdict: NO,
      retryAfterMs: 5 * MINUTE,
    });
    expect(attempts.held('leaseEnd', 'a')).toBeUndefined();
    expect(attempts.held('deletion', 'a')).toBeUndefined();
    await wait(5 * MINUTE);
    expect(attempts.held('content', 'a')).toBeUndefined();
  });

  it('waits longer for that the more often it was started in the last hour, six hours at the most', () => {
    const waits = [0, 1, 2, 5, 12].map((restarts) => {
      attempts = new Attempts(clock, () => 0.5);
      attempts.startsRefused(NO, undefined, restarts);
      return (attempts.held('content', 'a')?.retryAfterMs ?? 0) / MINUTE;
    });
    expect(waits).toEqual([5, 10, 20, 160, 180]);
  });

  it('holds after a start what status shows as refused, and nothing beside it', () => {
    attempts = new Attempts(clock, () => 0.5);
    attempts.startsRefused(NO, 'content', 0);
    expect(attempts.held('content', 'a')).toMatchObject({ why: 'refused', verdict: NO });
    expect(attempts.held('power', 'a')).toBeUndefined();
    expect(attempts.held('lease', 'a')).toBeUndefined();
  });

  it('does not wait after a start for what somebody has changed since', () => {
    attempts = new Attempts(clock, () => 0.5);
    attempts.startsRefused(NO, undefined, 0);
    attempts.startOver();
    expect(attempts.held('content', 'a')).toBeUndefined();
  });

  it('tries again with other credentials what was refused to those before', () => {
    attempts.refused('content', 'a', NO, true);
    attempts.refused('power', 'a', NO);
    attempts.accessChanged();
    expect(attempts.held('content', 'a')).toBeUndefined();
    expect(attempts.held('power', 'a')).toBeDefined();
  });
});
