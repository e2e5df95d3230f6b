import { describe, expect, it } from 'vitest';
import { Digest } from './digest.ts';

const HERE = { kind: 'Box', namespace: 'shop', name: 'web' };

function shownBy(digest: Digest | undefined): string {
  return digest?.shown(HERE, 'field', digest.of('x')) ?? '';
}

describe('a keyed hash', () => {
  it('is the same for the same under one key, and tells its key', () => {
    const [one, same, other] = [1, 1, 2].map((byte) => new Digest(Buffer.alloc(32, byte)));
    expect(one?.of('variable', 'secret')).toBe(same?.of('variable', 'secret'));
    expect(one?.of('variable', 'secret')).not.toBe(other?.of('variable', 'secret'));
    expect(one?.knows(shownBy(same))).toBe(true);
    expect(one?.knows(shownBy(other))).toBe(false);
  });

  it('is shown otherwise in every resource and field, and nowhere as it is', () => {
    const digest = new Digest(Buffer.alloc(32, 1));
    const inner = digest.of('variable', 'secret');
    const domains = [
      HERE,
      { ...HERE, kind: 'Instance' },
      { ...HERE, namespace: 'other' },
      { ...HERE, name: 'other' },
    ];
    const shown = domains.flatMap((domain) => ['a', 'b'].map((field) => digest.shown(domain, field, inner)));
    expect(new Set([...shown, inner]).size).toBe(shown.length + 1);
    expect(shown.every((hash) => /^[a-z2-7]{8}:[a-z2-7]{32}$/.test(hash))).toBe(true);
  });

  it('that an earlier version has shown is compared as it would be shown now; others stay', () => {
    const digest = new Digest(Buffer.alloc(32, 1));
    const inner = digest.of('variable', 'secret');
    const shown = digest.shown(HERE, 'a', inner);
    expect(digest.present(HERE, 'a', inner)).toBe(shown);
    expect(digest.present(HERE, 'a', shown)).toBe(shown);
    expect(digest.present(HERE, 'a', 'otherkey:hash')).toBe('otherkey:hash');
    // An earlier version cannot compare it, and takes it for one under a key that was lost.
    expect(Digest.differ(inner, shown)).toBe(false);
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
