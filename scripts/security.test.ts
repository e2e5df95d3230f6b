import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const TEST = /`([^`]+\.test\.ts)`(?: “([^”]+)”)?/g;

interface Threat {
  threat: string;
  tests: { file: string; title: string | undefined }[];
}

const [, section = ''] = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').split(/^## Threats.*$/m);

/** The rows of the threat table; those in bold are headings. */
const threats = section
  .split(/^## /m, 1)
  .join('')
  .split('\n')
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .filter((cells) => cells.length === 5 && !/^(-+|threat|\*\*.*\*\*)$/.test(cells[1] ?? ''))
  .map(([, threat = '', , tests = '']): Threat => ({
    threat,
    tests: Array.from(tests.matchAll(TEST), ([, file = '', title]) => ({ file, title })),
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
    const missing = tests.filter(({ file, title }) => {
      const path = join(ROOT, file);
      if (!existsSync(path)) return true;
      return title !== undefined && !readFileSync(path, 'utf8').includes(title);
    });
    expect(missing).toEqual([]);
  });

  test.each(Object.entries(FINDINGS))('has one row for %s', (_, words) => {
    expect(threats.filter(({ threat }) => words.test(threat))).toHaveLength(1);
  });
});
