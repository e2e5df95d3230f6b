import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyIdOf, Seals } from './seal.ts';

const KEY = Buffer.alloc(32, 1);
const SEALS = new Seals(KEY);
const ME = { installationId: 'inst', kind: 'Box', namespace: 'shop', name: 'web', uid: 'uid-1' };
const PLACE = { endpoint: 'https://service.test/deploy', owner: 'a/b' };

describe('a seal', () => {
  it('has four parts, whatever the endpoint and the owner hold, and gives the key not away', () => {
    const seal = SEALS.claim(ME, 'r1', PLACE);
    expect(seal).toMatch(/^[a-z2-7]{8}\/https%3A%2F%2Fservice\.test%2Fdeploy\/a%2Fb\/[a-z2-7]{32}$/);
    expect(seal.startsWith(`${keyIdOf(KEY)}/`)).toBe(true);
  });

  it('holds for what it was made for, and for nothing else', () => {
    const texts = fc.record({
      installationId: fc.string(),
      kind: fc.string(),
      namespace: fc.string(),
      name: fc.string(),
      uid: fc.string(),
    });
    const place = fc.record({ endpoint: fc.string(), owner: fc.string() });
    fc.assert(
      fc.property(texts, fc.string(), place, texts, fc.string(), (of, id, where, other, otherId) => {
        const seal = SEALS.claim(of, id, where);
        expect(SEALS.readClaim(seal, of, id)).toEqual({ kind: 'holds', isCurrent: true, ...where });
        const isSame = JSON.stringify([of, id]) === JSON.stringify([other, otherId]);
        expect(SEALS.readClaim(seal, other, otherId).kind).toBe(isSame ? 'holds' : 'false');
      }),
    );
  });

  it('with any part changed does not hold', () => {
    const parts = SEALS.claim(ME, 'r1', PLACE).split('/');
    for (const at of [1, 2, 3]) {
      const changed = parts.with(at, (parts[at] ?? '').replace(/[a-y]$/, 'z')).join('/');
      expect(SEALS.readClaim(changed, ME, 'r1')).toEqual({ kind: 'false' });
    }
    for (const text of [undefined, '', '/', parts.slice(0, 3).join('/'), `${parts.join('/')}/`, '%/%/%/%']) {
      expect(SEALS.readClaim(text, ME, 'r1')).toEqual({ kind: 'false' });
    }
  });

  it('of a key that is not in hand cannot be read, and of an earlier one that is can', () => {
    const seal = SEALS.claim(ME, 'r1', PLACE);
    const next = Buffer.alloc(32, 2);
    expect(new Seals(next).readClaim(seal, ME, 'r1')).toEqual({ kind: 'unreadable' });
    expect(new Seals(next, [KEY]).readClaim(seal, ME, 'r1')).toEqual({
      kind: 'holds',
      isCurrent: false,
      ...PLACE,
    });
  });

  it('of a note holds for its text and its kind of note', () => {
    const seal = SEALS.note('intent', ME, '{"at":1}');
    expect(SEALS.holdsNote(seal, 'intent', ME, '{"at":1}')).toBe(true);
    expect(SEALS.holdsNote(seal, 'intent', ME, '{"at":2}')).toBe(false);
    expect(SEALS.holdsNote(seal, 'lease', ME, '{"at":1}')).toBe(false);
    expect(SEALS.holdsNote(seal, 'intent', { ...ME, uid: 'uid-2' }, '{"at":1}')).toBe(false);
    expect(SEALS.holdsNote('nothing', 'intent', ME, '{"at":1}')).toBe(false);
  });
});
