import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { KINDS, referencesOf, type AnyResource } from '../../src/api/kinds.ts';
import { installKinds, ROOT } from '../api/install.ts';
import { testCluster, type TestCluster } from '../support/cluster.ts';
import { boxwright } from '../cli/boxwright.ts';
import { Helm, objectsOf, only, podSpecOf, type Rendered } from './chart.ts';

const FOLDER = join(ROOT, 'deploy/kustomize');
const NAMESPACE = 'boxwright-system';

let cluster: TestCluster;
beforeAll(() => {
  cluster = testCluster();
});

async function build(folder: string): Promise<Rendered[]> {
  const { code, stdout, stderr } = await cluster.kubectl(['kustomize', join(FOLDER, folder)]);
  if (code !== 0) throw new Error(stderr);
  return objectsOf(stdout);
}

describe('the kustomize base', () => {
  it('is what the chart renders: the same pods, network policy, service, rights and policies', async () => {
    const chart = await new Helm(cluster).objects(
      { fullnameOverride: 'boxwright-operator' },
      '--namespace',
      NAMESPACE,
    );
    const base = await build('base');
    const { envFrom, ...container } = podSpecOf(only(base, 'Deployment')).containers[0] as unknown as {
      envFrom: { configMapRef: { name: string } }[];
    };
    expect({ ...podSpecOf(only(base, 'Deployment')), containers: [container] }).toEqual(
      podSpecOf(only(chart, 'Deployment')),
    );
    expect(envFrom[0]?.configMapRef.name).toBe(
      base.find(({ metadata }) => metadata.name.startsWith('boxwright-settings'))?.metadata.name,
    );
    for (const kind of ['NetworkPolicy', 'Service']) {
      expect(only(base, kind).spec).toEqual(only(chart, kind).spec);
    }
    for (const kind of ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']) {
      const specs = (objects: readonly Rendered[]): unknown[] =>
        objects.filter((object) => object.kind === kind).map(({ spec }) => withoutName(spec));
      expect(specs(base)).toEqual(specs(chart));
    }
    for (const kind of ['Role', 'ClusterRole']) {
      expect(rulesOf(base, kind)).toEqual(rulesOf(chart, kind));
    }
  });
});

/** A binding names its policy by the release. */
function withoutName(spec: unknown): unknown {
  return { ...(spec as object), policyName: undefined };
}

// B8
describe('the references of our kinds', () => {
  it('follow prefix, suffix and the names that generators make, in every sample, in another namespace', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'boxwright-kustomize-'));
    try {
      const samples = join(ROOT, 'deploy/examples');
      const files = readdirSync(samples).filter((file) => file.endsWith('.yaml'));
      for (const file of files) copyFileSync(join(samples, file), join(folder, file));
      cpSync(join(FOLDER, 'references'), join(folder, 'references'), { recursive: true });
      writeFileSync(
        join(folder, 'generated.yaml'),
        stringify({
          apiVersion: 'boxwright.dev/v1alpha1',
          kind: 'Box',
          metadata: { name: 'generated' },
          spec: {
            connectionRef: { name: 'main' },
            description: '-',
            variables: [
              { name: 'CONF', type: 'File', file: { configMapKeyRef: { name: 'conf', key: 'a.conf' } } },
              { name: 'PASS', type: 'Password', valueFrom: { secretKeyRef: { name: 'pass', key: 'p' } } },
              { name: 'runtime', type: 'Box', boxRef: { name: 'runtime' } },
            ],
            overrides: [
              {
                scope: 'runtime',
                name: 'KEY',
                type: 'Password',
                valueFrom: { secretKeyRef: { name: 'pass', key: 'p' } },
              },
            ],
          },
        }),
      );
      writeFileSync(
        join(folder, 'kustomization.yaml'),
        stringify({
          namePrefix: 'eu-',
          nameSuffix: '-blue',
          namespace: 'elsewhere',
          components: ['references'],
          replacements: [
            {
              source: { kind: 'PolicyBox', name: 'small', fieldPath: 'spec.providerId' },
              targets: [{ select: { kind: 'Box', name: 'generated' }, fieldPaths: ['spec.description'] }],
            },
          ],
          configMapGenerator: [{ name: 'conf', literals: ['a.conf=listen 80'] }],
          secretGenerator: [{ name: 'pass', literals: ['p=secret'] }],
          resources: [...files, 'generated.yaml'],
        }),
      );
      const { stdout, stderr } = await cluster.kubectl(['kustomize', folder]);
      expect(stderr).toBe('');
      const objects = parseAllDocuments(stdout).map((document) => document.toJS() as AnyResource);
      const names = new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
      const ours = objects.filter(({ kind }) => KINDS.some((definition) => definition.kind === kind));
      const named = ours.flatMap(referencesOf).map(({ kind, name }) => `${kind} ${name}`);
      expect(named.filter((one) => !names.has(one))).toEqual([]);
      expect(
        named.filter((one) => /^(ConfigMap eu-conf|Secret eu-pass)-blue-[a-z0-9]{10}$/.test(one)),
      ).toHaveLength(3);
      expect(named.length).toBeGreaterThan(12);
      expect(new Set(ours.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['elsewhere']));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('the settings that are shipped', () => {
  it.each(['base', 'overlays/namespaced', 'overlays/high-availability'])(
    'are taken by the operator: %s',
    async (folder) => {
      const { data = {} } =
        (await build(folder)).find(({ metadata }) => metadata.name.startsWith('boxwright-settings')) ?? {};
      const env = { ...data, BOXWRIGHT_KUBECONFIG: '/nowhere/kubeconfig' };
      const operator = boxwright(['operator'], env);
      await operator.endsWith(2);
      // Every flag is read by then.
      expect(operator.output.stderr).toContain('/nowhere/kubeconfig: there is no such file');
    },
  );
});

describe('the overlays', () => {
  it('namespaced has no ClusterRole, and a Role in the namespace that it looks after', async () => {
    const objects = await build('overlays/namespaced');
    expect(objects.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([]);
    const binding = objects.find(
      ({ kind, metadata }) => kind === 'RoleBinding' && metadata.namespace === 'shop',
    );
    expect(binding).toMatchObject({ subjects: [{ name: 'boxwright-operator', namespace: NAMESPACE }] });
    expect(objects.find(({ metadata }) => metadata.name.startsWith('boxwright-settings'))?.data).toEqual({
      BOXWRIGHT_ALLOWED_HOSTS: '',
      BOXWRIGHT_NAMESPACES: 'shop',
    });
  });

  it('high-availability has two pods, of which one stays', async () => {
    const objects = await build('overlays/high-availability');
    expect(only(objects, 'Deployment').spec).toMatchObject({
      replicas: 2,
      strategy: { rollingUpdate: { maxUnavailable: 1 } },
    });
    expect(only(objects, 'PodDisruptionBudget').spec).toMatchObject({ minAvailable: 1 });
  });

  it('monitoring has the alerts, the dashboard and the monitor', async () => {
    const objects = await build('overlays/monitoring');
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds).toContain('ServiceMonitor');
    expect(kinds).toContain('PrometheusRule');
    expect(objects.find(({ metadata }) => metadata.name === 'boxwright-dashboard')).toBeDefined();
  });

  it('are accepted by the API server', async () => {
    await installKinds(cluster);
    await using home = await cluster.namespace('kustomize');
    await using shop = await cluster.namespace('shop');
    for (const folder of ['base', 'overlays/namespaced', 'overlays/high-availability']) {
      const objects = await build(folder);
      const text = objects
        .map((object) => stringify(object))
        .join('---\n')
        .replaceAll(NAMESPACE, home.name)
        .replaceAll('namespace: shop', `namespace: ${shop.name}`);
      const args = ['apply', '--dry-run=server', '--filename', '-'];
      const { code, stderr } = await cluster.kubectl(args, { input: text });
      expect(stderr.replaceAll(/^Warning: .*last-applied-configuration.*\n/gm, '')).toBe('');
      expect(code).toBe(0);
    }
  }, 180_000);
});

function rulesOf(objects: readonly Rendered[], kind: string): unknown[] {
  return objects
    .filter((object) => object.kind === kind)
    .flatMap(({ rules }) => rules ?? [])
    .map((rule) => JSON.stringify(rule, ['apiGroups', 'resources', 'resourceNames', 'verbs']))
    .toSorted();
}
