import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '../../src/api/kinds.ts';
import { testCluster, type TestCluster } from '../support/cluster.ts';

const root = join(import.meta.dirname, '..', '..');
const examples = join(root, 'deploy', 'examples');

let cluster: TestCluster;

beforeAll(async () => {
  cluster = testCluster();
  await cluster.applyFile(join(root, 'crds'));
  const names = KINDS.map(({ plural, group }) => `crd/${plural}.${group}`);
  const wait = await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names]);
  if (wait.code !== 0) throw new Error(wait.stderr);
});

describe('the CRDs', () => {
  test('say of themselves that nothing is wrong with their schemas', async () => {
    for (const { plural, group } of KINDS) {
      const crd = await cluster.get<{ status: { conditions: { type: string; status: string }[] } }>(
        'crd',
        `${plural}.${group}`,
      );
      const trouble = crd.status.conditions.filter(({ type }) => type === 'NonStructuralSchema');
      expect(trouble).toEqual([]);
    }
  });
});

describe('the examples', () => {
  test.each(readdirSync(examples).filter((name) => name.endsWith('.yaml')))(
    '%s is taken as it is',
    async (file) => {
      await using namespace = await cluster.namespace('api');
      const result = await cluster.kubectl([
        'apply',
        '--namespace',
        namespace.name,
        '--validate=strict',
        '-f',
        join(examples, file),
      ]);
      expect(result).toMatchObject({ code: 0, stderr: '' });
    },
  );
});
