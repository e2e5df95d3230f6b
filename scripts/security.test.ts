import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missing, rowsOf, testsIn } from './named-tests.ts';

const SECURITY = readFileSync(join(import.meta.dirname, '../SECURITY.md'), 'utf8');
const [, section = ''] = SECURITY.split(/^## Threats.*$/m);

/** The rows of the threat table. */
const threats = rowsOf(section.split(/^## /m, 1).join(''), 3).map(([threat = '', , tests = '']) => ({
  threat,
  tests: testsIn(tests),
}));

/** What trials have found, and the row that speaks of it. */
const FINDINGS: Readonly<Record<string, RegExp>> = {
  S1: /forges the annotations of a claim/,
  S2: /secret on one side only/,
  S3: /ConfigMaps or Secrets fill the memory/,
  S4: /answers with so many values/,
  S5: /long chain of boxes/,
  S6: /compares the hashes/,
  S7: /Two installations/,
  S8: /names the id of a box/,
  S9: /metric series behind/,
  'S10 ports': /another port of an allowed host/,
  'S10 Secrets': /sends a Secret that was made for something else/,
  'S10 headers': /names a header/,
  'S11 addresses': /cloud metadata/,
  'S11 names': /search domains/,
  S12: /entry that never matches/,
  S13: /secret appears where people can read it/,
  S14: /before the operator starts for the first time/,
};

describe('the threat table of SECURITY.md', () => {
  test('has rows', () => {
    expect(threats.length).toBeGreaterThan(25);
  });

  test.each(threats)('names tests that there are: $threat', ({ tests }) => {
    expect(tests).not.toEqual([]);
    expect(missing(tests)).toEqual([]);
  });

  test.each(Object.entries(FINDINGS))('has one row for %s', (_, words) => {
    expect(threats.filter(({ threat }) => words.test(threat))).toHaveLength(1);
  });
});
