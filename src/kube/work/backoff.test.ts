import { describe, expect, it } from 'vitest';
import { backoffDelay, ItemBackoff } from './backoff.ts';

const OPTIONS = { baseMs: 100, maxMs: 1_000 };

describe('backoffDelay', () => {
  it('doubles up to the cap, also after days of failures', () => {
    const waits = [1, 2, 3, 4, 5, 6, 100_000].map((failures) => backoffDelay(failures, OPTIONS, () => 0));
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000]);
  });

  it('takes jitter off the wait and never adds to it', () => {
    expect(backoffDelay(1, OPTIONS, () => 0.999)).toBe(50);
    expect(backoffDelay(1, { ...OPTIONS, jitter: 0 }, () => 0.999)).toBe(100);
  });
});

describe('ItemBackoff', () => {
  it('counts each key on its own and starts again once a key is forgotten', () => {
    const backoff = new ItemBackoff(OPTIONS, () => 0);
    expect([backoff.next('a'), backoff.next('a'), backoff.next('b')]).toEqual([100, 200, 100]);
    backoff.forget('a');
    expect(backoff.failures('a')).toBe(0);
    expect(backoff.next('a')).toBe(100);
  });
});
