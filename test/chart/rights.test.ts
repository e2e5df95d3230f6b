import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { installKinds, ROOT } from '../api/install.ts';
import { RIGHTS } from '../../src/controllers/rights.ts';
import type { AuditEvent } from '../../src/devcluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { exampleText, RealWorld } from '../support/real-world.ts';
import { Helm, only, podSpecOf, type Rendered } from './chart.ts';

/** The operator as the chart runs it, in a process of its own, with the rights of the chart's ServiceAccount. */
class ChartOperator implements AsyncDisposable {
  readonly account: string;
  readonly #env: Record<string, string>;
  #running: { pid: number; ended: Promise<unknown>; output: string[] } | undefined;

  constructor(account: string, env: Record<string, string>) {
    this.account = account;
    this.#env = env;
  }

  static async install(world: RealWorld): Promise<ChartOperator> {
    const { cluster, home, namespace } = world;
    const objects = await new Helm(cluster).objects(
      {
        namespaces: [namespace],
        allowedHosts: ['127.0.0.1'],
        allowInsecure: true,
        allowLoopback: true,
        admissionPolicies: { enabled: false },
        leaderElection: { retryPeriod: '500ms' },
      },
      '--namespace',
      home,
    );
    await cluster.apply(objects.map((object) => stringify(object)).join('---\n'));
    const pod = podSpecOf(only(objects, 'Deployment'));
    const name = pod.serviceAccountName;
    const token = await cluster.kubectl(['create', 'token', name, '--namespace', home]);
    const env = Object.fromEntries(
      (pod.containers[0]?.env ?? []).flatMap((entry) =>
        entry.value === undefined ? [] : [[entry.name, entry.value]],
      ),
    );
    delete env['BOXWRIGHT_IN_CLUSTER'];
    return new ChartOperator(`system:serviceaccount:${home}:${name}`, {
      ...env,
      POD_NAMESPACE: home,
      BOXWRIGHT_METRICS_ADDRESS: 'off',
      BOXWRIGHT_KUBECONFIG: kubeconfig(world, token.stdout.trim()),
    });
  }

  start(): void {
    const child = spawn(process.execPath, ['src/cli/main.ts', 'operator'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], ...this.#env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const output: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => output.push(text));
    this.#running = { pid: child.pid ?? 0, ended: once(child, 'exit'), output };
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    process.kill(running.pid, 'SIGTERM');
    await running.ended;
  }

  get log(): string {
    return this.#running?.output.join('') ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

function kubeconfig({ cluster, home }: RealWorld, token: string): string {
  const path = join(cluster.kubeconfigPath, '..', `${home}.kubeconfig`);
  const ca = Buffer.from(cluster.ca).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: cluster.server, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(path, stringify(config), { mode: 0o600 });
  return path;
}

/** `scope apiGroup/resource verb` of a request. */
function usedBy({ verb, objectRef = {} }: AuditEvent, home: string): string {
  const { apiGroup = '', resource = '', subresource, namespace } = objectRef;
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${namespace === home ? 'own' : 'watched'} ${apiGroup}/${full} ${verb}`;
}

describe('the operator as the ServiceAccount of the chart', () => {
  let world: RealWorld;
  let requests: AuditEvent[] = [];

  beforeAll(async () => {
    world = await RealWorld.start({ idle: true });
    await installKinds(world.cluster);
  });

  it('takes the examples to Ready and away again with the Roles of one namespace', async () => {
    await using operator = await ChartOperator.install(world);
    await using _ = { [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
    try {
      operator.start();
      await world.put(world.connection());
      await world.put(exampleText());
      await world.ready('Instance', 'web-eu', 60_000);
      await world.ready('InstanceLease', 'evening');
      // A key that somebody emptied is filled again by the next process.
      await operator.stop();
      await emptyKey(world);
      operator.start();
      // Twice, so that an event repeats.
      for (const [powerState, reason] of [
        ['Stopped', 'ShutDown'],
        ['Running', 'Settled'],
        ['Stopped', 'ShutDown'],
      ] as const) {
        await world.edit('Instance', 'web-eu', { powerState });
        await world.condition('Instance', 'web-eu', { status: 'True', reason }, 60_000);
      }
      for (const [kind, name] of [
        ['InstanceLease', 'evening'],
        ['Instance', 'web-eu'],
        ['Box', 'web'],
        ['Box', 'runtime'],
        ['PolicyBox', 'small'],
        ['Connection', 'main'],
      ] as const) {
        await world.delete(kind, name);
        await world.gone(kind, name, 60_000);
      }
      expect(world.sandbox.admin.calls().some(({ method }) => method === 'DELETE')).toBe(true);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${operator.log.slice(-4_000)}`, { cause: error });
    }
    await operator.stop();
    requests = await eventually('the watches are in the audit log', () => {
      const all = world.cluster.auditLog().filter(({ user }) => user.username === operator.account);
      return all.some(({ verb }) => verb === 'watch') && all;
    });
  }, 240_000);

  it('is denied nothing', () => {
    expect(requests.length).toBeGreaterThan(20);
    const denied = requests.filter(({ responseStatus }) => responseStatus?.code === 403);
    expect([...new Set(denied.map((event) => usedBy(event, world.home)))]).toEqual([]);
  });

  it('uses every verb that it is granted', () => {
    const used = new Set(requests.map((event) => usedBy(event, world.home)));
    const granted = RIGHTS.filter(({ when }) => when === undefined).flatMap(
      ({ scope, apiGroup, resource, verbs }) =>
        verbs.map((verb) => `${scope} ${apiGroup}/${resource} ${verb}`),
    );
    expect(granted.filter((right) => !used.has(right))).toEqual([]);
  });
});

async function emptyKey({ cluster, home }: RealWorld): Promise<void> {
  const secret = await cluster.get<Rendered>('secret', 'boxwright-digest-key', '--namespace', home);
  expect(Object.keys(secret.data ?? {})).toEqual(['key']);
  const namespaced = ['--namespace', home, '--type=merge'];
  const args = ['patch', 'secret', 'boxwright-digest-key', ...namespaced, '--patch', '{"data":null}'];
  expect((await cluster.kubectl(args)).stderr).toBe('');
}
