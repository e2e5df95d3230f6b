import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missing, rowsOf, testsIn } from './named-tests.ts';

const trials = rowsOf(readFileSync(join(import.meta.dirname, '../test/trials.md'), 'utf8'), 4).map(
  ([code = '', fault = '', tests = '', siblings = '']) => ({
    code,
    fault,
    tests: testsIn(tests),
    siblings: testsIn(siblings),
  }),
);

const numbered = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${letter}${at + 1}`);

describe('the table of what trials found', () => {
  test('has each of them once', () => {
    const codes = [...numbered('R', 17), ...numbered('H', 13), ...numbered('B', 12), 'M9', 'G3', 'G6'];
    const rows = trials.map(({ code }) => code).filter((code) => !code.startsWith('L'));
    expect(rows.toSorted()).toEqual(codes.toSorted());
  });

  test.each(trials)('names tests that there are: $code $fault', ({ tests, siblings }) => {
    expect(tests).not.toEqual([]);
    expect(siblings).not.toEqual([]);
    expect(missing([...tests, ...siblings])).toEqual([]);
  });
});
