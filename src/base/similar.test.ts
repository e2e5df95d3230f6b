import { describe, expect, it } from 'vitest';
import { mostSimilar } from './similar.ts';

describe('the word that is meant', () => {
  it.each([
    ['PORTT', ['PORT', 'CONF', 'runtime'], 'PORT'],
    ['prot', ['port', 'plot'], 'port'],
    ['Conf', ['PORT', 'CONF'], 'CONF'],
    ['managmentPolicy', ['managementPolicy', 'deletionPolicy'], 'managementPolicy'],
    ['a', ['b'], 'b'],
    ['nothing', ['PORT', 'CONF'], undefined],
    ['x', [], undefined],
  ])('by %s among %j is %s', (word, words, meant) => {
    expect(mostSimilar(word, words)).toBe(meant);
  });
});

it('is looked for in no time among whatever words there are', () => {
  const begun = performance.now();
  const many = Array.from({ length: 50_000 }, (_, i) => `${i}`.padEnd(64, 'ab'));
  expect(mostSimilar('PORTT', ['x'.repeat(9_000_000), 'PORT'])).toBe('PORT');
  expect(mostSimilar('x'.repeat(1_000_000), many)).toBeUndefined();
  expect(mostSimilar(`z${many[0]}`.slice(0, 64), many)).toBeDefined();
  expect(performance.now() - begun).toBeLessThan(200);
});
