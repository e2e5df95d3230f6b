import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../support/run.ts';
import { PLANTED } from './planted.ts';

const ROOT = join(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'boxwright-planted-'));
const references = join(copy, 'references.json');

/** What the judge in the copy says. */
async function judge(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(
    process.execPath,
    ['test/faults/judge.ts', references, ...args],
    {
      cwd: copy,
      timeoutMs: 1_200_000,
    },
  );
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

describe('Faults: the enumerated mishaps find mistakes that are planted', () => {
  const rows: string[] = [];
  let found = 0;

  beforeAll(async () => {
    for (const part of [
      'src',
      'test/support',
      'test/judges',
      'test/faults',
      'deploy/examples',
      'crds',
      'package.json',
    ]) {
      cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    await judge();
  }, 600_000);

  afterAll(() => {
    rmSync(copy, { recursive: true, force: true });
    process.stdout.write(`\nPlanted mistakes: ${PLANTED.length}, found: ${found}\n${rows.join('\n')}\n`);
  });

  for (const planted of PLANTED) {
    it(`finds: ${planted.name}`, async () => {
      const path = join(copy, 'src', planted.file);
      const text = readFileSync(path, 'utf8');
      expect(text.split(planted.find), `${planted.file} holds the text once`).toHaveLength(2);
      writeFileSync(
        path,
        text.replace(planted.find, () => planted.replace),
      );
      try {
        const { plans, caught } = JSON.parse(await judge(JSON.stringify(planted))) as {
          plans: number;
          caught?: string;
        };
        rows.push(
          `  ${caught === undefined ? 'MISSED' : 'found '}  ${planted.name}: ${caught ?? `${plans} plans`}`,
        );
        if (caught !== undefined) found += 1;
        expect(caught).toBeDefined();
      } finally {
        writeFileSync(path, text);
      }
    });
  }
});
