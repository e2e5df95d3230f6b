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
