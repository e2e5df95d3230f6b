import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { testCluster, type TestCluster, type TestNamespace } from '../support/cluster.ts';
import { installKinds } from './install.ts';

const folder = join(import.meta.dirname, 'invalid');

let cluster: TestCluster;
let namespace: TestNamespace;

beforeAll(async () => {
  cluster = testCluster();
  await installKinds(cluster);
  namespace = await cluster.namespace('invalid');
  return () => namespace.cleanup();
});

test.each(readdirSync(folder))('%s is refused with words that say what to do', async (file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  const expected = [...text.matchAll(/^# expect: (.*)$/gm)].map(([, words]) => words);
  expect(expected).not.toEqual([]);
  const result = await cluster.kubectl(['create', '-n', namespace.name, '--validate=strict', '-f', '-'], {
    input: text,
  });
  expect(result.code).not.toBe(0);
  for (const words of expected) expect(result.stderr).toContain(words);
});
