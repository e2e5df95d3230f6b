import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { FINALIZER } from '../../src/api/names.ts';
import { installKinds, ROOT } from '../api/install.ts';
import { testCluster, type TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { run, type RunResult } from '../support/run.ts';
import { BOX_AND_POLICY } from '../support/real-world.ts';
import { CHART } from './chart.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = testCluster();
  await installKinds(cluster);
});

/** The shell commands of the guide's section on leaving, for one namespace instead of all. */
function commands(namespace: string): string[] {
  const guide = readFileSync(join(ROOT, 'docs/guides/install.md'), 'utf8');
  const section = guide.slice(guide.indexOf('## Leave'));
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) =>
    text.replaceAll('--all-namespaces', `--namespace ${namespace}`),
  );
}

function shell(script: string): Promise<RunResult> {
  const path = `${dirname(inject('controlPlane').kubectl)}:${process.env['PATH']}`;
  return run('sh', ['-ec', script], { env: { KUBECONFIG: cluster.kubeconfigPath, PATH: path } });
}

describe('leaving', { timeout: 120_000 }, () => {
  it('keeps the kinds and what is left, and lets go of it by the command of the guide', async () => {
    await using namespace = await cluster.namespace('leaving');
    const inNamespace = ['--namespace', namespace.name];
    const values = ['--set', `crds.enabled=false,namespaces={${namespace.name}}`];
    await cluster.helm(['install', 'boxwright', CHART, ...inNamespace, ...values]);
    const left = BOX_AND_POLICY.replaceAll(
      /^metadata: \{(.*)\}$/gm,
      `metadata: {$1, finalizers: [${FINALIZER}]}`,
    );
    await cluster.apply(left, namespace.name);
    expect((await cluster.helm(['uninstall', 'boxwright', ...inNamespace])).code).toBe(0);

    await cluster.kubectl(['delete', 'boxwright', '--all', '--wait=false', ...inNamespace]);
    const held = await cluster.get<{ items: { kind: string }[] }>('boxwright', ...inNamespace);
    expect(held.items.map(({ kind }) => kind).toSorted()).toEqual(['Box', 'PolicyBox']);

    const { code, stderr } = await shell(commands(namespace.name)[2] ?? '');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    await namespace.cleanup();
    await eventually(
      'the namespace has ended',
      async () => {
        const found = await cluster.kubectl(['get', 'namespace', namespace.name]);
        return found.stderr.includes('NotFound');
      },
      { timeoutMs: 90_000 },
    );
  });

  it('is told in the order in which it works: resources, operator, kinds', () => {
    const words = commands('shop').map((block) =>
      block.split('\n').map((line) => line.split(' ').slice(0, 3).join(' ')),
    );
    const resources = ['kubectl delete boxwright', 'kubectl get boxwright'];
    expect(words.slice(0, 2)).toEqual([
      [
        ...resources,
        'helm uninstall boxwright',
        'kubectl delete --kustomize',
        'kubectl delete namespace',
        '',
      ],
      [...resources, 'kubectl delete --kustomize', ''],
    ]);
  });
});
