import { describe, expect, it } from 'vitest';
import { SlowRetry } from './slow-retry.ts';

const MINUTE = 60_000;

describe('what was refused', () => {
  it('is tried again after ten minutes, doubling to six hours', () => {
    const retry = new SlowRetry<string>();
    const waits: number[] = [];
    let now = 0;
    for (let i = 0; i < 8; i++) {
      const wait = retry.refuse('a', 'no', now);
      waits.push(wait / MINUTE);
      expect(retry.holds('a', now + wait - 1)).toEqual({ verdict: 'no', retryAfterMs: 1 });
      now += wait;
      expect(retry.holds('a', now)).toBeUndefined();
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 360, 360]);
  });

  it('is tried at once when what was refused has changed', () => {
    const retry = new SlowRetry<string>();
    retry.refuse('a', 'no', 0);
    expect(retry.holds('b', 0)).toBeUndefined();
    expect(retry.refuse('b', 'no', 0)).toBe(10 * MINUTE);
  });

  it('is forgotten when it went through', () => {
    const retry = new SlowRetry<string>();
    retry.refuse('a', 'no', 0);
    retry.clear();
    expect(retry.holds('a', 1)).toBeUndefined();
    expect(retry.refuse('a', 'no', 1)).toBe(10 * MINUTE);
  });
});
