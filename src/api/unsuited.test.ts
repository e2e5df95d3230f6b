import { describe, expect, it } from 'vitest';
import { unsuitedInstance } from './unsuited.ts';

const HUNDRED = Array.from({ length: 100 }, (_, i) => i);
const word = (letter: string, i: number): string => `${letter}${i}`.padEnd(64, 'ab');
const words = (letter: string): string[] => Array.from({ length: 25_000 }, (_, i) => word(letter, i));

describe('what does not fit', () => {
  it('is found in no time, however many words there are, and the first few say what may be meant', () => {
    const given = HUNDRED.map((i) => ({ name: word('z', i), type: 'Text' }));
    const declared = HUNDRED.map((i) => ({ name: word('y', i), type: 'Text' }));
    const begun = performance.now();
    const box = { name: 'web', variables: declared, requirements: words('r') };
    const policyBox = { name: 'small', variables: declared, claims: words('c') };
    const overrides = given.map((one) => ({ ...one, scope: 'nobody' }));
    const found = unsuitedInstance(
      { variables: given, overrides, policyVariables: given },
      { box, policyBox },
      () => undefined,
    );
    expect(performance.now() - begun).toBeLessThan(200);
    expect(found).toHaveLength(25_300);
    expect(found.filter(({ message }) => message.includes('did you mean'))).toHaveLength(5);
  });
});
