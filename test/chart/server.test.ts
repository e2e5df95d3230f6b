import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { installKinds } from '../api/install.ts';
import { testCluster, type TestCluster, type TestNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { CHART, EVERYTHING, Helm, objectsOf, only, type Rendered } from './chart.ts';

/** Kinds of the Prometheus operator, which the API server of the tests does not know. */
const FOREIGN = 'monitoring.coreos.com/';

let cluster: TestCluster;
let helm: Helm;
beforeAll(async () => {
  cluster = testCluster();
  helm = new Helm(cluster);
  await installKinds(cluster);
});

function manifest(objects: readonly Rendered[]): string {
  return objects.map((object) => stringify(object)).join('---\n');
}

describe('the chart on an API server', { timeout: 180_000 }, () => {
  it('is accepted as a whole, CRDs and everything that can be switched on included', async () => {
    await using namespace = await cluster.namespace('chart');
    const text = await helm.text(
      { ...EVERYTHING, namespaces: [namespace.name] },
      '-n',
      namespace.name,
      '--skip-tests',
    );
    const known = objectsOf(text).filter(({ apiVersion }) => !apiVersion.startsWith(FOREIGN));
    const args = ['apply', '--dry-run=server', '--namespace', namespace.name, '--filename', '-'];
    const { code, stdout, stderr } = await cluster.kubectl(args, { input: manifest(known) });
    expect(stderr.replaceAll(/^Warning: .*last-applied-configuration.*\n/gm, '')).toBe('');
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(known.length);
  });

  it('makes pods that a restricted namespace takes', async () => {
    await using namespace = await cluster.namespace('restricted');
    await cluster.kubectl([
      'label',
      'namespace',
      namespace.name,
      'pod-security.kubernetes.io/enforce=restricted',
    ]);
    const objects = await helm.objects(EVERYTHING, '-n', namespace.name);
    await cluster.apply(manifest([only(objects, 'ServiceAccount')]), namespace.name);
    const { template } = only(objects, 'Deployment').spec as { template: Rendered };
    const tests = objectsOf(await helm.text(EVERYTHING, '-n', namespace.name));
    const pods = [
      { ...template, apiVersion: 'v1', kind: 'Pod', metadata: { ...template.metadata, name: 'operator' } },
      only(tests, 'Pod'),
    ];
    const args = ['apply', '--dry-run=server', '--namespace', namespace.name, '--filename', '-'];
    const { code, stdout, stderr } = await cluster.kubectl(args, { input: manifest(pods) });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(2);
  });

  it('lets people with view look at the kinds and people with edit change them, but neither at Secrets', async () => {
    await using namespace = await cluster.namespace('people');
    await using _ = await applied(
      (await helm.objects({}, '-n', namespace.name)).filter(({ kind, metadata }) =>
        kind === 'ClusterRole' ? /-(view|edit)$/.test(metadata.name) : false,
      ),
    );
    const may = async (user: string, verb: string, what: string): Promise<boolean> =>
      (await cluster.kubectl(['auth', 'can-i', verb, what, '-n', namespace.name, '--as', user])).code === 0;
    for (const role of ['view', 'edit']) {
      const user = `${namespace.name}-${role}`;
      const grant = ['create', 'rolebinding', role, '--clusterrole', role, '--user', user];
      await cluster.kubectl([...grant, '-n', namespace.name]);
    }
    const [viewer, editor] = [`${namespace.name}-view`, `${namespace.name}-edit`];
    await eventually('the roles are added up', () => may(editor, 'patch', 'instances.boxwright.dev'));
    expect(await may(viewer, 'list', 'boxes.boxwright.dev')).toBe(true);
    expect(await may(viewer, 'patch', 'boxes.boxwright.dev')).toBe(false);
    expect(await may(viewer, 'get', 'secrets')).toBe(false);
  });

  it('warns who applies a Box with deprecated event names, and takes it', async () => {
    await using namespace = await cluster.namespace('warn');
    await using _ = await applied(
      (
        await helm.objects(
          { namespaces: [namespace.name], admissionPolicies: { protection: { enabled: false } } },
          '-n',
          namespace.name,
        )
      ).filter(({ apiVersion }) => apiVersion.startsWith('admissionregistration.k8s.io/')),
    );
    const args = ['apply', '--dry-run=server', '-n', namespace.name, '-f', '-'];
    const { stderr } = await eventually('the policy acts', async () => {
      const result = await cluster.kubectl(args, { input: box('postInstall') });
      return result.code === 0 && result.stderr !== '' && result;
    });
    expect(stderr).toContain('Warning');
    expect(stderr).toContain('spec.events.postInstall is deprecated: use preInstall');
    expect((await cluster.kubectl(args, { input: box('preInstall') })).stderr).toBe('');
  });

  it('installs, upgrades, rolls back and uninstalls without leaving anything', async () => {
    await using namespace = await cluster.namespace('release');
    const release = async (...args: string[]): Promise<void> => {
      const result = await cluster.helm([...args, '--namespace', namespace.name]);
      expect(result.stderr).not.toContain('Error');
      expect(result.code).toBe(0);
    };
    const values = ['--set', `crds.enabled=false,namespaces={${namespace.name}}`];
    await release('install', 'boxwright', CHART, ...values);
    expect(await replicas(namespace)).toBe(2);
    await release('upgrade', 'boxwright', CHART, ...values, '--set', 'replicas=3');
    expect(await replicas(namespace)).toBe(3);
    await release('rollback', 'boxwright', '1');
    expect(await replicas(namespace)).toBe(2);
    await release('uninstall', 'boxwright');
    const kinds = 'deployments,roles,rolebindings,services,networkpolicies,poddisruptionbudgets';
    const { items } = await cluster.get<{ items: Rendered[] }>(kinds, '-n', namespace.name);
    expect(items.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([]);
  });
});

async function replicas(namespace: TestNamespace): Promise<number> {
  const { spec } = await cluster.get<Rendered>('deployment', 'boxwright', '-n', namespace.name);
  return (spec as { replicas: number }).replicas;
}

/** Objects of the whole cluster, taken away at the end. */
async function applied(objects: readonly Rendered[]): Promise<AsyncDisposable> {
  const text = manifest(objects);
  expect(objects.length).toBeGreaterThan(0);
  await cluster.apply(text);
  return {
    async [Symbol.asyncDispose]() {
      await cluster.kubectl(['delete', '--wait=false', '--filename', '-'], { input: text });
    },
  };
}

function box(event: string): string {
  return `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: old-words}
spec:
  connectionRef: {name: main}
  requirements: [Linux]
  events: {${event}: {inline: "#!/bin/bash\\n"}}
`;
}
