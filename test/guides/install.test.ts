import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ROOT } from '../api/install.ts';
import { CHART, objectsOf, only, podSpecOf, type Rendered } from '../chart/chart.ts';
import { eventually } from '../support/eventually.ts';
import { ownCluster, type OwnCluster } from '../support/own-cluster.ts';
import { BOX_AND_POLICY } from '../support/real-world.ts';
import { blocksOf, shell, withoutPods } from './guide.ts';

const INSTALL = 'docs/guides/install.md';
const RUNNING = 'docs/guides/running.md';
const RIGHTS = 'docs/reference/rights.md';

/** A cluster that has never heard of us, and a checkout that the commands may write into. */
let own: OwnCluster;
let checkout: string;
let type: ReturnType<typeof shell>;
beforeAll(async () => {
  own = await ownCluster();
  checkout = mkdtempSync(join(tmpdir(), 'boxwright-checkout-'));
  for (const folder of ['crds', 'deploy', 'helm'])
    cpSync(join(ROOT, folder), join(checkout, folder), { recursive: true });
  type = shell(own.cluster, checkout);
}, 360_000);
afterAll(async () => {
  await own[Symbol.asyncDispose]();
  rmSync(checkout, { recursive: true, force: true });
});

/** What there is of the cluster as a whole: a trace that is left would be there. */
async function everything(): Promise<string[]> {
  const kinds = [
    'namespaces',
    'customresourcedefinitions',
    'clusterroles',
    'clusterrolebindings',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'validatingwebhookconfigurations',
    'priorityclasses',
  ];
  const { stdout } = await own.cluster.kubectl(['get', kinds.join(','), '-o', 'name']);
  return stdout.trim().split('\n').toSorted();
}

async function deployment(name: string): Promise<Rendered> {
  return own.cluster.get<Rendered>('deployment', name, '--namespace', 'boxwright-system');
}

/** Waits until the API server says so of a ServiceAccount: it follows bindings by a watch. */
async function says(answer: 'yes' | 'no', account: string, verb: string, what: string): Promise<void> {
  const as = `system:serviceaccount:boxwright-system:${account}`;
  const look = async (): Promise<boolean> => {
    const { stdout } = await own.cluster.kubectl(['auth', 'can-i', verb, what, '--as', as]);
    return stdout.trim() === answer;
  };
  await eventually(`${answer}: ${account} may ${verb} ${what}`, look, { timeoutMs: 120_000 });
}

/** What is the same however it was installed: rights for metrics and in `shop`, and that nothing stays. */
async function tryRights(account: string, block: number): Promise<void> {
  await says('no', account, 'create', 'tokenreviews.authentication.k8s.io');
  await type(blocksOf(RUNNING, '### Secure metrics')[block]);
  await says('yes', account, 'create', 'tokenreviews.authentication.k8s.io');
  await type('kubectl delete clusterrolebinding boxwright-metrics-reviews');
  const { stdout } = await type(blocksOf(RIGHTS, '## How it is checked')[block]);
  expect(stdout).toMatch(/^instances\.boxwright\.dev +.*\[list watch patch\]/m);

  // The rescue of a namespace whose Role has gone: here it only has to give the rights, and to take them away.
  const [give = '', take = ''] = (blocksOf(RIGHTS, '## A namespace that is deleted')[1] ?? '').split(
    /^kubectl wait .*\n/m,
  );
  await type(give);
  await says('yes', account, 'patch', 'instances.boxwright.dev');
  await type(take);
  await says('no', account, 'patch', 'instances.boxwright.dev');
}

describe('the guide on a cluster where nothing is yet', { timeout: 900_000 }, () => {
  it('installs by Helm, changes a value and keeps the others, and leaves without a trace', async () => {
    const before = await everything();
    const [install = '', change] = blocksOf(INSTALL, '## Helm');
    await type(withoutPods(install));
    const readme = blocksOf('README.md', '## Install it')[0] ?? '';
    expect(install.startsWith(readme)).toBe(true);
    await type(change);
    await type(blocksOf(INSTALL, '## Upgrade')[0]);
    const { env } = podSpecOf(await deployment('boxwright')).containers[0] ?? { env: [] };
    expect(env).toContainEqual({
      name: 'BOXWRIGHT_ALLOWED_HOSTS',
      value: 'deploy.example.com,deploy2.example.com',
    });
    expect(env).toContainEqual({ name: 'BOXWRIGHT_NAMESPACES', value: 'shop' });
    await tryRights('boxwright', 0);

    await own.cluster.apply(BOX_AND_POLICY, 'shop');
    await type(blocksOf(INSTALL, '## Leave')[0]);
    const roles = await own.cluster.kubectl(['get', 'roles,rolebindings', '-n', 'shop', '-o', 'name']);
    expect(roles.stdout).toBe('');
    await type('kubectl delete namespace shop');
    expect(await everything()).toEqual(before);
  });

  it('installs by kustomize, and leaves without a trace', async () => {
    const before = await everything();
    await type(withoutPods(blocksOf(INSTALL, '## kustomize')[0] ?? ''));
    expect((await deployment('boxwright-operator')).spec).toMatchObject({ replicas: 2 });
    const settings = await own.cluster.get<{ items: Rendered[] }>('configmaps', '-n', 'boxwright-system');
    expect(settings.items.map(({ data }) => data)).toContainEqual({
      BOXWRIGHT_ALLOWED_HOSTS: 'deploy.example.com',
      BOXWRIGHT_NAMESPACES: 'shop',
    });
    await tryRights('boxwright-operator', 1);

    await own.cluster.apply(BOX_AND_POLICY, 'shop');
    await type(blocksOf(INSTALL, '## Leave')[1]);
    const roles = await own.cluster.kubectl(['get', 'roles,rolebindings', '-n', 'shop', '-o', 'name']);
    expect(roles.stdout).toBe('');
    await type('kubectl delete namespace shop');
    expect(await everything()).toEqual(before);
  });

  it('grants an operator outside of the cluster what it needs, and gives it a login', async () => {
    const [rights, login = ''] = blocksOf(RUNNING, '## Rights');
    await type(rights);
    await type(login.replace(/^npm run .*\n/m, ''));
    const as = ['--context', 'boxwright-operator', '--namespace'];
    const ask = async (...args: string[]): Promise<string> =>
      (await own.cluster.kubectl([...as, ...args])).stdout.trim();
    expect(await ask('shop', 'auth', 'can-i', 'patch', 'instances.boxwright.dev')).toBe('yes');
    expect(await ask('default', 'auth', 'can-i', 'patch', 'instances.boxwright.dev')).toBe('no');
    expect(await ask('boxwright-system', 'auth', 'can-i', 'create', 'leases')).toBe('yes');
  });
});

describe('the pieces of the guides', { timeout: 180_000 }, () => {
  it.each([
    ['a certificate, and a client certificate of Prometheus', INSTALL, '### Metrics', 2],
    ['a proxy with a password', RUNNING, '## Through a proxy', 1],
  ] as const)('are values that the chart takes: %s', async (_, guide, heading, count) => {
    const pieces = blocksOf(guide, heading, 'yaml');
    expect(pieces).toHaveLength(count);
    for (const piece of pieces) {
      const args = ['template', 'boxwright', CHART, '--values', '-'];
      expect(await own.cluster.helm(args, { input: piece })).toMatchObject({ code: 0, stderr: '' });
    }
  });

  it('let out another port by an overlay', async () => {
    const [piece = ''] = blocksOf(INSTALL, '## kustomize', 'yaml');
    const folder = join(checkout, 'deploy/kustomize/overlays/proxy');
    cpSync(join(checkout, 'deploy/kustomize/overlays/monitoring'), folder, { recursive: true });
    const head = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: ['../namespaced'],
      components: ['../../components/monitoring', '../../components/high-availability'],
    };
    writeFileSync(join(folder, 'kustomization.yaml'), `${stringify(head)}${piece}`);
    const built = await own.cluster.kubectl(['kustomize', folder]);
    expect(built.stderr).toBe('');
    const objects = objectsOf(built.stdout);
    expect((only(objects, 'NetworkPolicy').spec as { egress: unknown[] }).egress.at(-1)).toEqual({
      ports: [{ port: 3128, protocol: 'TCP' }],
    });
    expect(objects.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['ServiceMonitor', 'PodDisruptionBudget', 'PrometheusRule']),
    );
    expect(objects.filter(({ kind }) => kind === 'ClusterRole')).toEqual([]);
  });

  it('name the role for readers of metrics as the chart and kustomize do', async () => {
    const [command = ''] = blocksOf(INSTALL, '### Metrics');
    const named = /--clusterrole=(\S+)/.exec(command)?.[1];
    const args = ['template', 'boxwright', CHART, '--namespace', 'boxwright-system'];
    expect(clusterRolesOf((await own.cluster.helm(args)).stdout)).toContain(named);
    const base = await own.cluster.kubectl(['kustomize', join(ROOT, 'deploy/kustomize/base')]);
    expect(clusterRolesOf(base.stdout)).toContain('boxwright-operator-metrics-reader');
  });
});

function clusterRolesOf(text: string): string[] {
  return objectsOf(text)
    .filter(({ kind }) => kind === 'ClusterRole')
    .map(({ metadata }) => metadata.name);
}
