import { describe, expect, it } from 'vitest';
import { backoffMs, jittered, lookAgainMs, PASSING, REFUSED, type Curve } from './backoff.ts';

/** How many tries a curve allows within a time, the first one included, with the least jitter. */
function tries(curve: Curve, withinMs: number): number {
  let at = 0;
  let count = 0;
  while (at < withinMs) at += backoffMs(++count, curve, () => 0);
  return count;
}

describe('backoffMs', () => {
  it('doubles up to the longest wait, also after days of failures', () => {
    const curve = { firstMs: 100, longestMs: 1_000 };
    const waits = [1, 2, 3, 4, 5, 6, 100_000].map((failures) => backoffMs(failures, curve, () => 0));
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000]);
  });

  it('adds jitter and never takes any off', () => {
    const curve = { firstMs: 100, longestMs: 1_000, jitter: 0.5 };
    expect(backoffMs(1, curve, () => 0.999)).toBe(150);
    expect(backoffMs(9, curve, () => 0.999)).toBe(1_500);
    expect(backoffMs(1, { ...curve, jitter: 0 }, () => 0.999)).toBe(100);
  });

  it('waits for what was asked where that is longer, and never less than without', () => {
    expect(backoffMs(1, PASSING, () => 0, 30_000)).toBe(30_000);
    expect(backoffMs(1, PASSING, () => 0.999, 30_000)).toBeGreaterThan(30_000);
    expect(backoffMs(9, PASSING, () => 0, 1_000)).toBe(256_000);
  });

  it('keeps what may pass below 21 tries an hour and what is refused below 10 a day', () => {
    expect(tries(PASSING, 3_600_000)).toBe(20);
    expect(tries(REFUSED, 24 * 3_600_000)).toBe(9);
  });
});

it('jitters an interval upwards only', () => {
  expect([0, 0.999].map((random) => Math.round(jittered(1_000, () => random)))).toEqual([1_000, 1_100]);
});

it('looks soon at what has begun a moment ago, and rarely at what goes on for long', () => {
  const waits = [0, 60_000, 600_000, 7_200_000, 86_400_000].map((ms) => lookAgainMs(ms, 5_000, 600_000));
  expect(waits).toEqual([5_000, 5_000, 30_000, 360_000, 600_000]);
});
