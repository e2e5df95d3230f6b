import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { installKinds, ROOT } from '../api/install.ts';
import { testCluster, type TestNamespace } from '../support/cluster.ts';
import { kubeconfigWith } from '../support/rights/identity.ts';
import { boxwright, type Running } from './boxwright.ts';

const cluster = testCluster();
let shop: TestNamespace;
let system: TestNamespace;
let service: Sandbox;
let running: Running | undefined;

beforeAll(async () => {
  await installKinds(cluster);
  shop = await cluster.namespace('cli-shop');
  system = await cluster.namespace('cli-system');
  service = createSandbox();
});
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
});
afterAll(async () => {
  await service.stop();
  await shop.cleanup();
  await system.cleanup();
});

/** The rights that the guide says to apply, for the namespaces of this test. */
async function applyRightsOfTheGuide(): Promise<void> {
  const guide = readFileSync(join(ROOT, 'docs/guides/running.md'), 'utf8');
  const commands = /## Rights[\s\S]*?```sh\n([\s\S]*?)```/.exec(guide)?.[1] ?? '';
  const paths = [...commands.matchAll(/-(f|k) (deploy\S+)/g)].map(([, how, path = '']) => ({ how, path }));
  expect(paths.map(({ how }) => how)).toEqual(['f', 'f', 'k']);
  for (const { how, path } of paths) {
    const text =
      how === 'k'
        ? (await cluster.kubectl(['kustomize', join(ROOT, path)])).stdout
        : readFileSync(join(ROOT, path), 'utf8');
    await cluster.apply(
      text
        .replaceAll('namespace: shop', `namespace: ${shop.name}`)
        .replaceAll('namespace: boxwright-system', `namespace: ${system.name}`),
    );
  }
}

const READY = ['wait', '--for=condition=Ready', '--timeout=90s'];
const KINDS = 'instances,instanceleases,boxes,policyboxes,connections';

describe('the rights that the guide has applied', () => {
  it('are enough to carry the examples from apply to deletion, and none is missed', async () => {
    const user = `system:serviceaccount:${system.name}:boxwright-operator`;
    await applyRightsOfTheGuide();
    const token = await cluster.kubectl(['create', 'token', 'boxwright-operator', '-n', system.name]);
    expect(token.stderr).toBe('');
    const { url } = await service.start();
    running = boxwright([
      'operator',
      `--kubeconfig=${kubeconfigWith(cluster, system.name, token.stdout.trim())}`,
      `--namespace=${system.name}`,
      `--namespaces=${shop.name}`,
      '--allowed-hosts=127.0.0.1:*',
      '--allow-insecure',
      '--allow-loopback',
      '--metrics-address=off',
      '--log-format=json',
    ]);
    await cluster.apply(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [
          {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: 'login' },
            stringData: { token: service.credentials.token },
          },
          {
            apiVersion: 'boxwright.dev/v1alpha1',
            kind: 'Connection',
            metadata: { name: 'main' },
            spec: { endpoint: url, credentialsRef: { name: 'login' } },
          },
        ],
      }),
      shop.name,
    );
    for (const name of ['runtime-box', 'web-box', 'docker-box', 'policy-box', 'instance', 'instance-lease']) {
      await cluster.applyFile(join(ROOT, 'deploy', 'examples', `${name}.yaml`), shop.name);
    }
    const ready = await cluster.kubectl([...READY, KINDS, '--all', '--namespace', shop.name], {
      timeoutMs: 120_000,
    });
    expect(ready.stderr).toBe('');
    const gone = await cluster.kubectl(
      ['delete', KINDS, '--all', '--namespace', shop.name, '--timeout=90s'],
      { timeoutMs: 120_000 },
    );
    expect(gone.stderr).toBe('');

    running.child.kill('SIGTERM');
    await running.endsWith(0);
    const refused = cluster
      .auditLog()
      .filter((event) => event.user?.username === user && event.responseStatus?.code === 403);
    expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
  }, 240_000);
});
