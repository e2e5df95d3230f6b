import { describe, expect, it } from 'vitest';
import { ItemBackoff } from './item-backoff.ts';

describe('ItemBackoff', () => {
  it('counts each key on its own and starts again once a key is forgotten', () => {
    const backoff = new ItemBackoff({ firstMs: 100, longestMs: 1_000 }, () => 0);
    expect([backoff.next('a'), backoff.next('a'), backoff.next('b')]).toEqual([100, 200, 100]);
    backoff.forget('a');
    expect(backoff.failures('a')).toBe(0);
    expect(backoff.next('a')).toBe(100);
  });
});
