import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster, type TestNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { boxwright, type Running } from './boxwright.ts';

const cluster = testCluster();
let namespace: TestNamespace;
let running: Running[] = [];

beforeAll(async () => {
  await installKinds(cluster);
  namespace = await cluster.namespace('cli-operator');
});
afterAll(() => namespace.cleanup());
afterEach(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
  running = [];
  await cluster.kubectl(['delete', 'lease', '--all', '--namespace', namespace.name]);
});

function start(...argv: string[]): Running {
  const made = boxwright([
    'operator',
    `--kubeconfig=${cluster.kubeconfigPath}`,
    `--namespace=${namespace.name}`,
    `--namespaces=${namespace.name}`,
    '--metrics-address=127.0.0.1:0',
    '--log-format=json',
    ...argv,
  ]);
  running.push(made);
  return made;
}

async function get(url: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(url);
  return { status: answer.status, text: await answer.text() };
}

interface LeaseObject {
  spec: { holderIdentity?: string };
}

const holder = async (): Promise<string> => {
  const lease = await cluster.get<LeaseObject>('lease', 'boxwright-operator', '-n', namespace.name);
  return lease.spec.holderIdentity ?? '';
};

describe('boxwright operator', { timeout: 180_000 }, () => {
  it('becomes ready, leads, serves metrics, and drains on SIGTERM with 0', async () => {
    const { child, sees, ended, output } = start('--allowed-hosts=deploy.example.com');
    const url = await sees(/"url":"(http:[^"]+)"/);
    await eventually('it is ready', async () => (await get(`${url}/readyz`)).status === 200);
    const look = async (): Promise<string> => (await get(`${url}/metrics`)).text;
    const working = 'controller_runtime_max_concurrent_reconciles{controller="instance"} 256';
    await eventually('it works', async () => (await look()).includes(working));
    const text = await look();
    expect(text).toContain('leader_election_master_status{name="boxwright-operator"} 1');
    expect(text).toContain('boxwright_build_info{version=');
    expect(text).toContain('process_resident_memory_bytes');
    expect((await get(`${url}/healthz`)).status).toBe(200);
    expect(await holder()).not.toBe('');

    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(output.stderr).toContain('ended in good order');
    expect(await holder()).toBe('');
    for (const line of output.stderr.trim().split('\n'))
      expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  it('ends with 1 when somebody else has taken the lead', async () => {
    const { sees, ended, output } = start('--leader-retry-period=500ms');
    await sees(/caches are in sync/);
    await eventually('it leads', async () => (await holder()) !== '');
    await cluster.kubectl([
      'patch',
      'lease/boxwright-operator',
      '--namespace',
      namespace.name,
      '--type=merge',
      '--patch={"spec":{"holderIdentity":"somebody-else"}}',
    ]);
    expect(await ended).toBe(1);
    expect(output.stderr).toContain('the process has to end');
  });

  it('says which flag is wrong when its address is taken', async () => {
    const first = start('--leader-elect=false');
    const { port } = new URL(await first.sees(/"url":"(http:[^"]+)"/));
    const second = start('--leader-elect=false', `--metrics-address=127.0.0.1:${port}`, '--log-format=text');
    expect(await second.ended).toBe(1);
    expect(second.output.stderr).toContain(`--metrics-address 127.0.0.1:${port} cannot be listened on`);
  });

  it('warns that no host may be called when none is listed', async () => {
    const { sees } = start('--leader-elect=false', '--metrics-address=off');
    expect(await sees(/no host may be called/)).toBeTruthy();
  });

  it('drains when the second replica is only waiting', async () => {
    const first = start();
    await eventually('it leads', async () => (await holder()) !== '');
    const second = start();
    await second.sees(/caches are in sync/);
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);
  });
});
