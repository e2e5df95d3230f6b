import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { KIND_NAMES, type KindName } from '../../src/api/kinds.ts';
import { ANNOTATIONS } from '../../src/api/names.ts';
import { wireOperator } from '../../src/cli/operator/wiring.ts';
import {
  CONFIG_MAPS,
  loadKubeConfig,
  Metrics,
  SECRETS,
  UndiciKubePort,
  type KubeRequest,
} from '../../src/kube/index.ts';
import { createUndiciPort } from '../../src/service/index.ts';
import { Bench } from '../judges/bench.ts';
import { Mortal } from '../support/mortal.ts';
import { RealWorld } from '../support/real-world.ts';
import type { Shown } from '../support/world.ts';
import { Faults, PLANNED, type Plan } from './faults.ts';
import { FAULTS_TOUCHED } from './own.ts';
import type { Run } from './run.ts';
import type { Stage } from './stage.ts';
import { seedStrangers } from './strangers.ts';
import { viewOf } from './view.ts';
import type { Step, Workload } from './workloads.ts';

const RESTART_MS = 200;
/** A create whose outcome is unknown is waited for 30 s and a lag window. */
const LIMIT_MS = 150_000;
/** The lag window is a second: after three without an effect a step counts as over. */
const QUIET_MS = 3_000;
const LOOK_MS = 250;

/** Runs a workload once on the real API server and the embedded service over HTTP. */
export async function runReal(workload: Workload, plan?: Plan): Promise<Run> {
  await using world = await RealWorld.start({
    idle: true,
    sandbox: { teams: ['shop'] },
    poll: { processing: '200ms', settled: '2s', lagWindow: '1s' },
  });
  const { source } = await loadKubeConfig({ file: world.cluster.kubeconfigPath });
  const port = new UndiciKubePort({ source, clock: systemClock });
  const run = new RealRun(world, port, plan);
  try {
    return await run.run(workload);
  } finally {
    run.kill();
    await port.close();
  }
}

/** The stage that a real world is. */
class RealStage implements Stage {
  readonly sandbox;
  readonly namespace: string;
  readonly connection: string;
  readonly #world: RealWorld;
  readonly #judges: Bench;
  readonly #lists = new Map<string, Shown[]>();

  constructor(world: RealWorld, judges: Bench) {
    this.#world = world;
    this.#judges = judges;
    this.sandbox = world.sandbox;
    this.namespace = world.namespace;
    this.connection = world.connection();
  }

  /** Looks at everything afresh. */
  async look(): Promise<void> {
    for (const kind of KIND_NAMES) this.#lists.set(kind, await this.#world.list(kind));
    for (const [kind, type] of [
      ['Secret', SECRETS],
      ['ConfigMap', CONFIG_MAPS],
    ] as const) {
      const found = (await this.#world.client.list(type, { namespace: this.namespace })) as object[];
      this.#lists.set(kind, found as Shown[]);
      // No watch of the operator tells of contents.
      for (const object of found as Shown[]) this.#judges.change(type.plural, object, undefined);
    }
  }

  apply = (manifests: string): Promise<void> => this.#world.put(manifests);
  edit = (kind: KindName, name: string, spec: object): Promise<void> => this.#world.edit(kind, name, spec);
  annotate = (kind: KindName, name: string, annotations: Record<string, string | null>): Promise<void> =>
    this.#world.annotate(kind, name, annotations);
  delete = (kind: KindName | 'Secret' | 'ConfigMap', name: string): Promise<void> =>
    this.#world.delete(kind, name);

  advance(ms: number): Promise<void> {
    throw new Error(`real time cannot be moved by ${ms} ms`);
  }

  list(kind: KindName | 'Secret'): Shown[] {
    return this.#lists.get(kind) ?? [];
  }

  get(kind: KindName, name: string): Shown | undefined {
    return this.list(kind).find(({ metadata }) => metadata.name === name);
  }

  describe(): string {
    return KIND_NAMES.flatMap((kind) =>
      this.list(kind).map(
        ({ metadata, status }) => `${kind}/${metadata.name} ${JSON.stringify(status?.conditions)}`,
      ),
    ).join('\n');
  }
}

class RealRun {
  readonly #world: RealWorld;
  readonly #port: UndiciKubePort;
  readonly #stage: RealStage;
  readonly #faults: Faults;
  readonly #judges: Bench;
  #installationId: string | undefined;
  readonly #asked = new Set<string>();
  #process: { mortal: Mortal; close: () => void } | undefined;
  readonly #failures: string[] = [];

  constructor(world: RealWorld, port: UndiciKubePort, plan: Plan | undefined) {
    this.#world = world;
    this.#port = port;
    this.#judges = new Bench({
      clock: systemClock,
      sandbox: world.sandbox,
      installation: () => this.#installationId,
    });
    // Real time passes while a busy machine does something else.
    this.#judges.excuse('generations');
    this.#stage = new RealStage(world, this.#judges);
    this.#faults = new Faults(plan, {
      crash: () => this.#crash(),
      touch: (request) => this.#touch(request),
      later: (ms, action) => void systemClock.setTimer(ms, action),
    });
  }

  async run({ setup, steps }: Workload): Promise<Run> {
    const { sandbox } = this.#world;
    const views: { step: string; lines: string[]; ms: number }[] = [];
    const { effects, reads } = this.#faults;
    let from = 0;
    try {
      this.#start();
      const installation = await this.#installation();
      this.#installationId = installation;
      const strangers = await seedStrangers(this.#stage, installation, () =>
        this.#wait('operations have ended', () =>
          Promise.resolve(
            sandbox.admin
              .records('instances')
              .every((instance) => (instance as { state?: string }).state !== 'processing'),
          ),
        ),
      );
      sandbox.admin.setListLag({ ms: 1_000 });
      for (const step of setup) await this.#step(step, 0);
      from = effects.length;
      for (const step of steps) {
        await this.#step(step, QUIET_MS);
        views.push({ step: step.name, lines: viewOf(this.#stage, strangers, installation), ms: 0 });
      }
      this.#judges.end();
      this.#failures.push(...strangers.touched(), ...this.#judges.said());
    } catch (error) {
      this.#failures.push(error instanceof Error ? error.message : String(error));
    }
    return {
      effects,
      from,
      reads,
      readsFrom: reads.length,
      views,
      stalled: [],
      failures: this.#failures,
      hit: this.#faults.hit,
    };
  }

  kill(): void {
    this.#process?.mortal.kill();
    this.#process?.close();
    this.#process = undefined;
  }

  #start(): void {
    const mortal = new Mortal(systemClock);
    this.#judges.started();
    const { clock } = mortal;
    const stop = new AbortController();
    const endpoints = { allowedHosts: ['127.0.0.1:*'], allowInsecure: true, allowLoopback: true };
    const { home, namespace } = this.#world;
    const manager = wireOperator(
      { namespace: home, namespaces: [namespace], endpoints },
      {
        clock,
        random: Math.random,
        log: silentLogger,
        metrics: new Metrics(),
        kubePort: this.#judges.kube(mortal.kube(this.#faults.kube(this.#port)), { follow: true }),
        tracer: this.#judges.tracer(undefined),
        recorder: { event: () => undefined },
        portFor: (options) => {
          const port = createUndiciPort({ ...options, ...endpoints, clock: systemClock });
          const judged = this.#judges.service(mortal.service(this.#faults.service(port)), options.endpoint);
          return { ...judged, close: () => port.close() };
        },
      },
    );
    manager.run(stop.signal).catch((error: unknown) => this.#failures.push(String(error)));
    this.#process = { mortal, close: () => stop.abort(new Error('killed')) };
  }

  #crash(): void {
    this.#process?.mortal.kill();
    this.#process = undefined;
    systemClock.setTimer(RESTART_MS, () => this.#start());
  }

  async #touch(request: KubeRequest): Promise<void> {
    if (request.method === 'POST') {
      await this.#port.request(request);
      return;
    }
    await this.#port.request({
      method: 'PATCH',
      path: request.path.replace(/\/status$/, ''),
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { [FAULTS_TOUCHED]: 'yes' } } },
    });
  }

  async #installation(): Promise<string> {
    let found: string | undefined;
    await this.#wait('the installation id', async () => {
      const ref = { namespace: this.#world.home, name: 'boxwright-installation' };
      const map = await this.#world.client.get<{
        metadata: { name: string };
        data?: Record<string, string>;
      }>(CONFIG_MAPS, ref);
      found = map?.data?.['uid'] === undefined ? undefined : map.data['id'];
      return found !== undefined;
    });
    return found ?? '';
  }

  async #step(step: Step, quietMs: number): Promise<void> {
    await step.act(this.#stage);
    await this.#stage.look();
    const { effects } = this.#faults;
    let count = effects.length;
    let since = systemClock.monotonic();
    await this.#wait(step.name, async () => {
      await this.#stage.look();
      await step.help?.(this.#stage);
      await this.#askAgain();
      const now = systemClock.monotonic();
      if (effects.length !== count || this.#process === undefined) {
        count = effects.length;
        since = now;
      }
      return now - since >= quietMs && step.done(this.#stage);
    });
  }

  /** What the service has refused is tried again after ten minutes, or once a person asks for it. */
  async #askAgain(): Promise<void> {
    for (const { metadata, status } of this.#stage.list('Instance')) {
      const refused = status?.conditions?.some(({ message }) => message.includes(PLANNED));
      if (!refused || this.#asked.has(metadata.name)) continue;
      this.#asked.add(metadata.name);
      await this.#stage.annotate('Instance', metadata.name, { [ANNOTATIONS.requestedAt]: 'again' });
    }
  }

  async #wait(what: string, done: () => Promise<boolean>): Promise<void> {
    const end = systemClock.monotonic() + LIMIT_MS;
    while (!(await done())) {
      if (systemClock.monotonic() > end)
        throw new Error(`"${what}" does not end:\n${this.#stage.describe()}`);
      await systemClock.sleep(LOOK_MS);
    }
  }
}
