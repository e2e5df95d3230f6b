import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { settle } from './generated.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'boxwright-generated-'));
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const files = new Map([['a.yaml', 'a: 1\n']]);

test('writes what is new and takes away what is no longer generated', async () => {
  writeFileSync(join(folder, 'old.yaml'), 'old: 1\n');
  writeFileSync(join(folder, 'kept.txt'), 'by hand');
  expect(await settle(folder, '.yaml', files, false)).toBe(0);
  expect(readdirSync(folder).toSorted()).toEqual(['a.yaml', 'kept.txt']);
  expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe('a: 1\n');
});

test('checking names each stale file and writes nothing', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  writeFileSync(join(folder, 'a.yaml'), 'a: 0\n');
  writeFileSync(join(folder, 'old.yaml'), 'old: 1\n');
  expect(await settle(folder, '.yaml', files, true)).toBe(1);
  expect(said.mock.calls.join()).toMatch(/old\.yaml is stale.*a\.yaml is stale/s);
  expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe('a: 0\n');
});

test('checking says nothing of files that are current', async () => {
  await settle(folder, '.yaml', files, false);
  expect(await settle(folder, '.yaml', files, true)).toBe(0);
});
