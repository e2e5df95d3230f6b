import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHECKLIST } from '../test/gitops-checklist.ts';

const ROOT = join(import.meta.dirname, '..');

test('has every line once, each with a test or the reason why there is none', () => {
  const ids = Array.from({ length: 64 }, (_, at) => `G${String(at + 1).padStart(2, '0')}`);
  expect(CHECKLIST.map(({ id }) => id)).toEqual(ids);
  expect(CHECKLIST.filter(({ tests, note }) => tests.length === 0 && note === undefined)).toEqual([]);
  expect(CHECKLIST.filter(({ tests }) => tests.length > 0).length).toBeGreaterThanOrEqual(50);
});

test('names tests that there are', () => {
  const missing = CHECKLIST.flatMap(({ id, tests }) =>
    tests
      .filter(([file, name]) => {
        const path = join(ROOT, file);
        return !existsSync(path) || !readFileSync(path, 'utf8').includes(name);
      })
      .map(([file, name]) => `${id}: ${file}: ${name}`),
  );
  expect(missing).toEqual([]);
});
