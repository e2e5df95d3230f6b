import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { createSandbox, type Address, type Sandbox } from '../../src/sandbox/index.ts';
import { startTestProxy, type TestProxy } from '../../src/base/proxy/test-proxy.ts';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { boxwright, type Running } from './boxwright.ts';

const cluster = testCluster();
const NAMESPACE = `cli-proxy-${process.pid}`;
const REFUSED = `${NAMESPACE}-refused`;
const BOX = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: { name: far-away }
spec: { connectionRef: { name: main } }
`;

let service: Sandbox;
let address: Address;
let folder = '';
beforeAll(async () => {
  await installKinds(cluster);
  service = createSandbox();
  address = await service.start();
  folder = mkdtempSync(join(tmpdir(), 'boxwright-proxy-'));
  writeFileSync(join(folder, 'box.yaml'), BOX);
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

/** The operator against a service at a name that only the proxy knows. */
function dev(proxy: TestProxy, namespace: string, ...flags: string[]): Running {
  const { email, password } = service.credentials;
  return boxwright(
    [
      'dev',
      `--kubeconfig=${cluster.kubeconfigPath}`,
      `--namespace=${namespace}`,
      `--system-namespace=${namespace}-system`,
      `--examples=${folder}`,
      `--endpoint=http://deploy.invalid:${new URL(address.url).port}`,
      ...flags,
    ],
    {
      TMPDIR: folder,
      BOXWRIGHT_EMAIL: email,
      BOXWRIGHT_PASSWORD: password ?? '',
      HTTP_PROXY: '',
      http_proxy: `http://me:CANARY@127.0.0.1:${proxy.port}`,
      NO_PROXY: '',
      no_proxy: '',
    },
  );
}

it('an operator behind a proxy makes records through it, and says why when the proxy refuses', async () => {
  const refusing = await startTestProxy(407);
  const refused = dev(refusing, REFUSED);
  await refused.sees(
    /Connection\/main +Ready=False ServiceUnavailable: .*the proxy 127\.0\.0\.1:\d+ asks for other credentials \(407\): put user and password into http_proxy/,
  );
  refused.child.kill('SIGINT');
  await refused.ended;
  await refusing.stop();
  expect(refused.output.stderr + refused.output.stdout).not.toContain('CANARY');

  const proxy = await startTestProxy();
  const { endsWith, output } = dev(proxy, NAMESPACE, '--exit');
  await endsWith(0);
  await proxy.stop();
  expect(output.stdout).toContain('All 2 resources are Ready');
  expect(proxy.asked.map(({ line }) => line)).toContainEqual(
    expect.stringMatching(/^POST http:\/\/deploy\.invalid:\d+\/services\/boxes/),
  );
  const made = [`${NAMESPACE}-system`, `${REFUSED}-system`];
  await cluster.kubectl(['delete', 'namespace', ...made, '--wait=false']);
}, 240_000);

it('an operator reaches the API server through the proxy-url of its kubeconfig, whatever HTTPS_PROXY says', async () => {
  const proxy = await startTestProxy();
  const { port } = new URL(cluster.server);
  const kubeconfig = join(folder, 'kubeconfig');
  const text = readFileSync(cluster.kubeconfigPath, 'utf8');
  const config = parse(text) as { clusters: { cluster: Record<string, string> }[] };
  for (const { cluster: each } of config.clusters) {
    // A name that only the proxy knows.
    each['server'] = `https://kubernetes.invalid:${port}`;
    each['tls-server-name'] = 'localhost';
    each['proxy-url'] = `http://me:CANARY@127.0.0.1:${proxy.port}`;
  }
  writeFileSync(kubeconfig, stringify(config));
  const namespace = await cluster.namespace('cli-proxy-url');
  const { child, sees, ended, output } = boxwright(
    [
      'operator',
      `--kubeconfig=${kubeconfig}`,
      `--namespace=${namespace.name}`,
      `--namespaces=${namespace.name}`,
      '--metrics-address=off',
      '--log-format=json',
    ],
    { HTTPS_PROXY: 'http://nobody.invalid:1' },
  );
  await sees(/caches are in sync/);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  await proxy.stop();
  await namespace.cleanup();
  expect(new Set(proxy.asked.map(({ line }) => line))).toEqual(
    new Set([`CONNECT kubernetes.invalid:${port}`]),
  );
  expect(proxy.asked[0]?.authorization).toBe(`Basic ${btoa('me:CANARY')}`);
  expect(output.stderr).toContain(`"proxy":"127.0.0.1:${proxy.port}"`);
  expect(output.stderr).not.toContain('CANARY');
}, 120_000);
