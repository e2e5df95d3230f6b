import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { JUDGES } from './index.ts';

/** What judges nothing by itself: types, the list of all, and what the tests are written with. */
const NO_JUDGES = new Set(['judge.ts', 'index.ts', 'trial.ts']);
const files = readdirSync(import.meta.dirname).filter((name) => !name.endsWith('.test.ts'));

it('beside every judge, and every part of one, stands a test of what it objects to', () => {
  const untested = files.filter(
    (name) =>
      !NO_JUDGES.has(name) && !existsSync(join(import.meta.dirname, name.replace(/\.ts$/, '.test.ts'))),
  );
  expect(untested).toEqual([]);
});

it('every judge sits in every world', () => {
  for (const name of Object.keys(JUDGES))
    expect(files).toContain(`${name.replaceAll(' ', '-').replaceAll("'", '')}.ts`);
});
