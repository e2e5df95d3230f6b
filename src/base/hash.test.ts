import { describe, expect, it } from 'vitest';
import { base32, canonicalJson, hmacBase32, sha256Base32 } from './hash.ts';

describe('base32', () => {
  // Test vectors of RFC 4648 section 10, in lower case and without padding.
  it.each([
    ['', ''],
    ['f', 'my'],
    ['fo', 'mzxq'],
    ['foo', 'mzxw6'],
    ['foob', 'mzxw6yq'],
    ['fooba', 'mzxw6ytb'],
    ['foobar', 'mzxw6ytboi'],
  ])('encodes %j as %j', (text, encoded) => {
    expect(base32(Buffer.from(text))).toBe(encoded);
  });
});

describe('hashes', () => {
  it('tells lists of parts apart that join to the same text', () => {
    expect(sha256Base32('ab', 'c')).not.toBe(sha256Base32('a', 'bc'));
    expect(hmacBase32(Buffer.from('k'), 'ab', 'c')).not.toBe(hmacBase32(Buffer.from('k'), 'a', 'bc'));
  });

  it('depends on the key', () => {
    expect(hmacBase32(Buffer.from('k1'), 'v')).not.toBe(hmacBase32(Buffer.from('k2'), 'v'));
  });
});

describe('canonicalJson', () => {
  it('ignores key order and undefined members, at any depth', () => {
    expect(canonicalJson({ b: [{ y: 1, x: undefined }], a: 2 })).toBe(canonicalJson({ a: 2, b: [{ y: 1 }] }));
  });

  it('keeps the order of lists', () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  });
});
