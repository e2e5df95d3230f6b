import { describe, expect, it } from 'vitest';
import { Digest } from './digest.ts';

describe('a keyed hash', () => {
  it('is the same for the same under one key, and tells its key', () => {
    const [one, same, other] = [1, 1, 2].map((byte) => new Digest(Buffer.alloc(32, byte)));
    expect(one?.of('variable', 'secret')).toBe(same?.of('variable', 'secret'));
    expect(one?.of('variable', 'secret')).not.toBe(other?.of('variable', 'secret'));
    expect(one?.knows(same?.of('x') ?? '')).toBe(true);
    expect(one?.knows(other?.of('x') ?? '')).toBe(false);
  });

  it('tells apart what is cut elsewhere, and gives away neither content nor key', () => {
    const digest = new Digest(Buffer.from('a key that nobody may ever see..'));
    expect(digest.of('ab', 'c')).not.toBe(digest.of('a', 'bc'));
    const text = digest.of('hunter22');
    expect(text).not.toContain('hunter22');
    expect(text).toMatch(/^[a-z2-7]{8}:[a-z2-7]{32}$/);
    expect(digest.keyId).not.toContain(Buffer.from('a key').toString('hex'));
  });
});
