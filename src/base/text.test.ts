import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { characters, cutText, firstCharacters, isWithin, withoutEnding } from './text.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '漢'), maxLength: 40 });

describe('text that is cut', () => {
  it('fits, says that it was cut, and holds whole characters only', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 20 }), (whole, limit) => {
        const cut = cutText(whole, limit);
        expect(characters(cut)).toBeLessThanOrEqual(limit);
        expect(cut.isWellFormed()).toBe(true);
        const expected = `${Array.from(whole)
          .slice(0, limit - 1)
          .join('')}…`;
        expect([whole, expected]).toContain(cut);
        expect(isWithin(whole, limit)).toBe(cut === whole);
      }),
    );
  });

  it('stays as it is within the limit, characters that take two units included', () => {
    expect(cutText('😀😀😀', 3)).toBe('😀😀😀');
    expect(cutText('😀😀😀😀', 3)).toBe('😀😀…');
    expect(firstCharacters('😀😀😀😀', 3)).toBe('😀😀😀');
  });

  it('loses an ending of certain characters only', () => {
    expect(withoutEnding('/base//', '/')).toBe('/base');
    expect(withoutEnding('a.b-.-', '.-')).toBe('a.b');
    expect(withoutEnding('///', '/')).toBe('');
  });
});
