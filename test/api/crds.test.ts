import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '../../src/api/kinds.ts';
import { testCluster, type TestCluster } from '../support/cluster.ts';
import { installKinds, ROOT } from './install.ts';

const examples = join(ROOT, 'deploy', 'examples');

let cluster: TestCluster;

beforeAll(async () => {
  cluster = testCluster();
  await installKinds(cluster);
});

describe('the CRDs', () => {
  test.each(KINDS)(
    '$kind has names that no other kind has, and a sound schema',
    async ({ plural, group }) => {
      const crd = await cluster.get<{ status: { conditions: { type: string; status: string }[] } }>(
        'crd',
        `${plural}.${group}`,
      );
      const conditions = Object.fromEntries(crd.status.conditions.map(({ type, status }) => [type, status]));
      expect(conditions).toEqual({ NamesAccepted: 'True', Established: 'True' });
    },
  );

  test('are listed by one word', async () => {
    const { stdout } = await cluster.kubectl(['api-resources', '--categories=boxwright', '-o', 'name']);
    expect(stdout.trim().split('\n').toSorted()).toEqual(
      KINDS.map(({ plural, group }) => `${plural}.${group}`).toSorted(),
    );
  });

  // G47: `kubectl explain` prints what stands in this document.
  test.each(KINDS)('every field of $kind is explained', async ({ kind, plural, group, version }) => {
    const { stdout } = await cluster.kubectl(['get', '--raw', `/openapi/v3/apis/${group}/${version}`]);
    const { components } = JSON.parse(stdout) as { components: { schemas: Record<string, Node> } };
    const schema = components.schemas[`dev.boxwright.${version}.${kind}`];
    expect(silentFields(schema ?? {}, kind)).toEqual([]);
    const explained = await cluster.kubectl(['explain', `${plural}.spec`]);
    expect(explained.stdout).toContain('DESCRIPTION');
    expect(explained.stdout).not.toContain('<empty>');
  });
});

describe('the examples', () => {
  test.each(readdirSync(examples).filter((name) => name.endsWith('.yaml')))(
    '%s is taken as it is, and a second time changes nothing',
    async (file) => {
      await using namespace = await cluster.namespace('api');
      const apply = ['apply', '-n', namespace.name, '--validate=strict', '-f', join(examples, file)];
      expect(await cluster.kubectl(apply)).toMatchObject({ code: 0, stderr: '' });
      const generations = (): Promise<string> =>
        cluster
          .kubectl([
            'get',
            'boxwright',
            '-n',
            namespace.name,
            '-o',
            'jsonpath={.items[*].metadata.generation}',
          ])
          .then(({ stdout }) => stdout);
      const before = await generations();
      // kubectl calls a list whose items have defaults "configured"; that nothing changes is what counts.
      expect(await cluster.kubectl(apply)).toMatchObject({ code: 0, stderr: '' });
      expect(await generations()).toBe(before);
      // G45
      const diff = await cluster.kubectl(['diff', '-n', namespace.name, '-f', join(examples, file)]);
      expect(diff).toMatchObject({ code: 0, stdout: '' });
    },
  );
});

interface Node {
  description?: string;
  properties?: Record<string, Node>;
  items?: Node;
}

/** Fields without a description; metadata and its like are the API server's own. */
function silentFields(node: Node, path: string): string[] {
  const inner = [
    ...(node.items === undefined ? [] : silentFields(node.items, `${path}[]`)),
    ...Object.entries(node.properties ?? {})
      .filter(([name]) => path.includes('.') || !['metadata', 'apiVersion', 'kind'].includes(name))
      .flatMap(([name, field]) => silentFields(field, `${path}.${name}`)),
  ];
  return (node.description ?? '').trim() === '' ? [path, ...inner] : inner;
}
