import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { installKinds, ROOT } from '../api/install.ts';
import { eventually } from '../support/eventually.ts';
import { ownCluster, type OwnCluster } from '../support/own-cluster.ts';
import { exampleText, RealWorld } from '../support/real-world.ts';
import { Comparison, unusedOf, type Identity, type Tally } from '../support/rights/comparison.ts';
import { rightsAmong } from '../support/rights/grants.ts';
import { kubeconfigWith } from '../support/rights/identity.ts';
import { registerIdentity, type Mode } from '../support/rights/registry.ts';
import { Helm, only, podSpecOf, type Rendered } from './chart.ts';

/** The operator as the chart runs it, in a process of its own, with the rights of the chart's ServiceAccount. */
class ChartOperator implements AsyncDisposable {
  readonly identity: Identity;
  readonly #env: Record<string, string>;
  #running: { pid: number; ended: Promise<unknown>; output: string[] } | undefined;

  constructor(identity: Identity, env: Record<string, string>) {
    this.identity = identity;
    this.#env = env;
  }

  static async install(world: RealWorld, mode: Mode, values: object): Promise<ChartOperator> {
    const { cluster, home, namespace } = world;
    const objects = await new Helm(cluster).objects(
      {
        namespaces: mode === 'scoped' ? [namespace] : [],
        allowedHosts: ['127.0.0.1:*'],
        allowInsecure: true,
        allowLoopback: true,
        admissionPolicies: { enabled: false },
        // A busy machine may not get to a renewal within ten seconds.
        leaderElection: { leaseDuration: '120s', renewDeadline: '90s', retryPeriod: '500ms' },
        ...values,
      },
      '--namespace',
      home,
    );
    await cluster.apply(objects.map((object) => stringify(object)).join('---\n'));
    const pod = podSpecOf(only(objects, 'Deployment'));
    const rights = rightsAmong(objects, home);
    if (pod.serviceAccountName !== rights.account) throw new Error('the rights are not those of the pod');
    const env = Object.fromEntries(
      (pod.containers[0]?.env ?? []).flatMap((entry) =>
        entry.value === undefined ? [] : [[entry.name, entry.value]],
      ),
    );
    delete env['BOXWRIGHT_IN_CLUSTER'];
    return new ChartOperator(registerIdentity(rights, home, mode), {
      ...env,
      POD_NAMESPACE: home,
      BOXWRIGHT_HEALTH_ADDRESS: 'off',
      BOXWRIGHT_METRICS_ADDRESS: '127.0.0.1:0',
      BOXWRIGHT_KUBECONFIG: kubeconfigWith(cluster, home, await token(world, rights.account)),
    });
  }

  start(more: Readonly<Record<string, string>> = {}): void {
    const child = spawn(process.execPath, ['src/cli/main.ts', 'operator'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], ...this.#env, ...more },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const output: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => output.push(text));
    this.#running = { pid: child.pid ?? 0, ended: once(child, 'exit'), output };
  }

  /** Where it serves its metrics, once it does. */
  metricsUrl(): Promise<string> {
    return eventually('it says where its metrics are', () => /"url":"(https:[^"]+)"/.exec(this.log)?.[1]);
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

/** Each switch by which the chart grants more is on in one of the two. */
const INSTALLATIONS: { mode: Mode; title: string; values: object }[] = [
  { mode: 'scoped', title: 'the Roles of one namespace', values: {} },
  {
    mode: 'cluster-wide',
    title: 'a ClusterRole, Secrets followed, metrics secure',
    values: { secrets: { watch: true }, metrics: { secure: true } },
  },
];

describe.each(INSTALLATIONS)(
  'the operator as the ServiceAccount of the chart, with $title',
  (installation) => {
    const { mode, values } = installation;
    let own: OwnCluster | undefined;
    let world: RealWorld;
    let tally: Tally | undefined;

    beforeAll(async () => {
      // Who looks after the whole cluster would take up what other tests have in it.
      own = mode === 'cluster-wide' ? await ownCluster() : undefined;
      world = await RealWorld.start({
        idle: true,
        mode,
        ...(own === undefined ? {} : { cluster: own.cluster }),
      });
      await installKinds(world.cluster);
    });
    afterAll(() => own?.[Symbol.asyncDispose]());

    it('takes the examples to Ready and away again', async () => {
      await using operator = await ChartOperator.install(world, mode, values);
      await using _ = { [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
      try {
        operator.start();
        await world.put(world.connection());
        await world.put(exampleText());
        await world.ready('Instance', 'web-eu', 120_000);
        await world.ready('InstanceLease', 'evening', 120_000);
        // A key that somebody emptied is made anew once an administrator has confirmed it.
        await operator.stop();
        await emptyKey(world);
        operator.start({ BOXWRIGHT_INSTALLATION_ID: await installationId(world) });
        if (mode === 'cluster-wide') await scrape(world, await operator.metricsUrl());
        // Twice, so that an event repeats.
        for (const [powerState, reason] of [
          ['Stopped', 'ShutDown'],
          ['Running', 'Settled'],
          ['Stopped', 'ShutDown'],
        ] as const) {
          await world.edit('Instance', 'web-eu', { powerState });
          await world.condition('Instance', 'web-eu', { status: 'True', reason }, 120_000);
        }
        for (const [kind, name] of [
          ['Instance', 'web-eu'],
          ['InstanceLease', 'evening'],
          ['Box', 'image'],
          ['Box', 'web'],
          ['Box', 'runtime'],
          ['PolicyBox', 'small'],
          ['Connection', 'main'],
        ] as const) {
          await world.delete(kind, name);
          await world.gone(kind, name, 120_000);
        }
        expect(world.sandbox.admin.calls().some(({ method }) => method === 'DELETE')).toBe(true);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${operator.log.slice(-4_000)}`, { cause: error });
      }
      await operator.stop();
      tally = await eventually('the watches are in the audit log', () => {
        const comparison = new Comparison([operator.identity]);
        for (const event of world.cluster.auditLog()) comparison.add(event);
        const found = comparison.result().get(mode);
        return found?.used.some((grant) => grant.endsWith(' watch')) === true && found;
      });
    }, 480_000);

    it('is denied nothing', () => {
      expect(tally?.requests).toBeGreaterThan(20);
      expect(tally?.denied).toEqual([]);
    });

    it('uses every verb that it is granted', () => {
      expect(tally?.granted.length).toBeGreaterThan(30);
      expect(tally && unusedOf(tally)).toEqual([]);
    });
  },
);

async function token({ cluster, home }: RealWorld, account: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(['create', 'token', account, '--namespace', home]);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

/** Reads the metrics as somebody who may. */
async function scrape(world: RealWorld, url: string): Promise<void> {
  const { cluster, home } = world;
  await cluster.kubectl(['create', 'serviceaccount', 'reader', '--namespace', home]);
  const role = `--clusterrole=${home}:boxwright-metrics-reader`;
  const bound = ['create', 'clusterrolebinding', `${home}-reader`, role, `--serviceaccount=${home}:reader`];
  expect((await cluster.kubectl(bound)).stderr).toBe('');
  const headers = { authorization: `Bearer ${await token(world, 'reader')}` };
  // Its certificate is self-signed, made at start.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    await eventually('the metrics are read', async () => {
      const { statusCode, body } = await request(`${url}/metrics`, { headers, dispatcher });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${statusCode} ${text}`);
      return text.includes('boxwright_build_info{');
    });
  } finally {
    await dispatcher.close();
  }
}

async function installationId({ cluster, home }: RealWorld): Promise<string> {
  const args = ['--namespace', home];
  const map = await cluster.get<Rendered>('configmap', 'boxwright-installation', ...args);
  return map.data?.['id'] ?? '';
}

async function emptyKey({ cluster, home }: RealWorld): Promise<void> {
  const secret = await cluster.get<Rendered>('secret', 'boxwright-digest-key', '--namespace', home);
  expect(Object.keys(secret.data ?? {})).toEqual(['key']);
  const namespaced = ['--namespace', home, '--type=merge'];
  const args = ['patch', 'secret', 'boxwright-digest-key', ...namespaced, '--patch', '{"data":null}'];
  expect((await cluster.kubectl(args)).stderr).toBe('');
}
