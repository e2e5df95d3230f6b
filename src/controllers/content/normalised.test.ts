import { describe, expect, it, test } from 'vitest';
import { keepsAnotherForm, normalisationOf, sameNumber } from './normalised.ts';

// B12
test.each<[string, string, string | undefined]>([
  ['text\n', 'text', 'changes white space at the ends of the value'],
  ['a\r\nb', 'a\nb', 'changes line breaks'],
  ['0.50', '0.5', 'writes the number in another way'],
  ['Front', 'front', 'changes upper and lower case'],
  ['é', 'e\u0301', 'composes accents in another way'],
  ['one', 'two', undefined],
  ['same', 'same', undefined],
])('%j kept as %j', (want, have, does) => {
  expect(normalisationOf({ want, have })).toBe(does);
});

describe('numbers as text', () => {
  // S5: what the service keeps may be of any length, and nothing else happens while it is compared.
  it.each(['0', '0.0', '1', '1.'])('are compared in a moment where one is %j and 200,000 zeros', (head) => {
    const long = `${head}${'0'.repeat(200_000)}`;
    const begun = performance.now();
    expect(sameNumber(`${long}x`, long)).toBe(false);
    expect(sameNumber(long, long)).toBe(true);
    expect(performance.now() - begun).toBeLessThan(200);
  });

  it('are compared by what they are, of whatever size', () => {
    for (const [a, b] of [
      ['0.50', '0.5'],
      ['4', '4.000'],
      ['007', '7'],
      ['-0', '0'],
      ['9007199254740993.10', '9007199254740993.1'],
    ] as const) {
      expect(sameNumber(a, b)).toBe(true);
    }
    for (const [a, b] of [
      ['9007199254740993', '9007199254740992'],
      ['1', '-1'],
      ['1.5', '15'],
      ['', ''],
      ['a', 'a'],
    ] as const) {
      expect(sameNumber(a, b)).toBe(false);
    }
  });
});

describe('a difference that keeps coming back', () => {
  it('is told as what the service does to the value, where that is all', () => {
    const differences = [{ field: 'variables.MOTD.value', want: 'hello\n', have: 'hello' }];
    expect(keepsAnotherForm(differences)).toBe(
      'The service keeps another form of variables.MOTD.value (changes white space at the ends of the value): ' +
        'declare the value as the service shows it, or set driftPolicy to Ignore',
    );
  });

  it('is somebody else’s writing where one is another value', () => {
    const differences = [
      { field: 'b', want: 'x\n', have: 'x' },
      { field: 'a', want: '1', have: '2' },
    ];
    expect(keepsAnotherForm(differences)).toBeUndefined();
  });
});
