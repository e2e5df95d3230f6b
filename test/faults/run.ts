import type { KubeRequest } from '../../src/kube/index.ts';
import type { PortRequest } from '../../src/service/index.ts';
import { NAMESPACE, World, type Shown, type WorldOptions } from '../support/world.ts';
import { applied, type Effect } from './effects.ts';
import { Faults, type Plan } from './faults.ts';
import { Neighbour, NEIGHBOURS } from './neighbour.ts';
import { FAULTS_HOLD, FAULTS_TOUCHED, installationOf, seedOwn } from './own.ts';
import { seedStrangers } from './strangers.ts';
import { viewOf } from './view.ts';
import type { Step, Workload } from './workloads.ts';

/** A process that has died is there again after so long. */
const RESTART_MS = 1_000;
/** The longest that anything may take: a refusal is tried again after 10 minutes, and a lag window comes after. */
const LIMIT_MS = 45 * 60_000;
/** After so long without an effect a step counts as over: two lag windows and a bit. */
const QUIET_MS = 130_000;
/** For so long somebody else keeps a finalizer of theirs. */
const HOLD_MS = 20_000;
/** How long nothing may be written once all is settled. */
const STABLE_MS = 600_000;

/** Operations that are quick are over when they are answered. */
const QUICK = { deploy: 0, shutdown: 0, poweron: 0, reinstall: 0, reconfigure: 0, terminate: 0 };

/** What one run has shown. */
export interface Run {
  effects: readonly Effect[];
  /** The first effect after the set-up. */
  from: number;
  /** Reads of the service, and the first one after the set-up. */
  reads: readonly string[];
  readsFrom: number;
  /** What there was after each step, and how long it took until all was as it is then, milliseconds. */
  views: readonly { step: string; lines: readonly string[]; ms: number }[];
  /** What said Stalled on the way, as `instances/web-eu Refused`. */
  stalled: readonly string[];
  failures: readonly string[];
  /** Whether the planned effect came up. */
  hit: boolean;
}

export interface RunOptions {
  kinds: WorldOptions['kinds'];
  /** Lists trail the service's writes by so many polls. */
  listLag: number;
  /** Somebody in another namespace wants what is ours. @default false */
  neighbour?: boolean;
  plan?: Plan;
}

/** Runs a workload once, in a world of its own. */
export async function runOnce(workload: Workload, options: RunOptions): Promise<Run> {
  const failures: string[] = [];
  const rejected = (reason: unknown): void => {
    failures.push(`unhandled rejection: ${reason instanceof Error ? (reason.stack ?? '') : String(reason)}`);
  };
  process.on('unhandledRejection', rejected);
  try {
    return await new Runner(workload, options, failures).run();
  } finally {
    process.off('unhandledRejection', rejected);
  }
}

class Runner {
  readonly #workload: Workload;
  readonly #options: RunOptions;
  readonly #failures: string[];
  readonly #world: World;
  readonly #faults: Faults;
  #touched: string | undefined;
  #neighbour: Neighbour | undefined;

  constructor(workload: Workload, options: RunOptions, failures: string[]) {
    this.#workload = workload;
    this.#options = options;
    this.#failures = failures;
    this.#faults = new Faults(options.plan, {
      crash: () => this.#crash(),
      touch: (request) => this.#touch(request),
      later: (ms, action) => void this.#world.clock.setTimer(ms, action),
      isOthers: (request) => this.#isOthers(request),
    });
    this.#world = new World({
      ...(options.kinds === undefined ? {} : { kinds: options.kinds }),
      kubePort: (port) => this.#faults.kube(port),
      servicePort: (port) => {
        const planned = this.#faults.service(port);
        return {
          send: async (request) => {
            const answer = await planned.send(request);
            if (this.#neighbour?.isCall(request) === true) this.#neighbour.heard(request, answer);
            return answer;
          },
        };
      },
      // Builds of the service differ in what they answer for a record that is gone.
      sandbox: {
        readings: { gone: options.listLag === 0 ? '404' : '403' },
        ...(workload.quick === true ? { durations: QUICK } : {}),
      },
    });
  }

  async run(): Promise<Run> {
    const world = this.#world;
    const { setup, steps, first } = this.#workload;
    if (first !== true) seedOwn(world);
    const views: { step: string; lines: string[]; ms: number }[] = [];
    const stalled = noteStalled(world);
    let from = 0;
    let readsFrom = 0;
    try {
      world.start();
      if (first === true) await world.until(() => installationOf(world) !== undefined);
      const installation = installationOf(world) ?? '';
      const strangers = await seedStrangers(world, installation, () => world.advance(6_000));
      if (this.#options.neighbour === true) this.#neighbour = await Neighbour.moveIn(world);
      if (this.#options.listLag > 0) world.sandbox.admin.setListLag({ polls: this.#options.listLag });
      for (const step of setup) await this.#step(step, 1_000);
      from = first === true ? 0 : this.#faults.effects.length;
      readsFrom = first === true ? 0 : this.#faults.reads.length;
      for (const step of steps) {
        const ms = await this.#step(step, QUIET_MS);
        if (step === steps.at(-2) || steps.length === 1) await this.#staysStill();
        const others = { has: (id: string) => strangers.has(id) || this.#neighbour?.has(id) === true };
        views.push({ step: step.name, lines: viewOf(world, others, installation), ms });
      }
      this.#failures.push(...strangers.touched());
      this.#checkTouched();
    } catch (error) {
      this.#failures.push(error instanceof Error ? error.message : String(error));
    } finally {
      world.kill();
      world.judges.end();
      // The judges believe what his resources say.
      const said = world.judges.said();
      this.#failures.push(
        ...said.filter((line) => this.#neighbour === undefined || !line.includes(` ${NEIGHBOURS}/`)),
      );
      await world.sandbox.stop();
    }
    const { effects, reads, hit } = this.#faults;
    if (this.#options.plan !== undefined && !hit) this.#failures.push('the planned effect did not come up');
    if (this.#neighbour?.attacks === 0) this.#failures.push('the neighbour has not attacked');
    return { effects, from, reads, readsFrom, views, stalled: [...stalled], failures: this.#failures, hit };
  }

  /** Answers how long it took until what the step wants was so, and stayed so, milliseconds. */
  async #step(step: Step, quietMs: number): Promise<number> {
    const world = this.#world;
    await step.act(world);
    const { effects } = this.#faults;
    let count = effects.length;
    let since = world.clock.monotonic();
    const begin = since;
    const end = since + LIMIT_MS;
    let doneAt: number | undefined;
    for (;;) {
      await world.advance(Math.min(world.clock.untilNext() ?? 1_000, 5_000));
      await step.help?.(world);
      const now = world.clock.monotonic();
      if (effects.length !== count || !world.isRunning) {
        count = effects.length;
        since = now;
      }
      doneAt = step.done(world) ? (doneAt ?? now) : undefined;
      if (now - since >= quietMs && doneAt !== undefined) return doneAt - begin;
      if (now > end) throw new Error(`"${step.name}" does not end:\n${world.describe()}`);
    }
  }

  async #staysStill(): Promise<void> {
    const { effects, hit } = this.#faults;
    // A PUT that lands late brings what was declared before: a periodic look finds that and puts it right.
    if (this.#options.plan?.mishap === 'late') await this.#world.advance(STABLE_MS);
    let before = effects.length;
    await this.#world.advance(STABLE_MS);
    if (this.#faults.hit !== hit) {
      // The mishap came now, at a periodic look: what follows from it may be said, and then it is still again.
      await this.#world.advance(STABLE_MS);
      before = effects.length;
      await this.#world.advance(STABLE_MS);
    }
    if (effects.length > before) {
      const labels = effects.slice(before, before + 5).map(({ label }) => label);
      this.#failures.push(`written although all was settled: ${labels.join('; ')}`);
    }
  }

  #isOthers(request: KubeRequest | PortRequest): boolean {
    const neighbour = this.#neighbour;
    if (neighbour === undefined) return false;
    return 'headers' in request
      ? neighbour.isCall(request)
      : request.path.includes(`/namespaces/${NEIGHBOURS}/`);
  }

  #crash(): void {
    const world = this.#world;
    world.kill();
    world.clock.setTimer(RESTART_MS, () => world.start());
  }

  #touch(request: KubeRequest): void {
    const { kube } = this.#world;
    if (request.method === 'POST') {
      const { body } = request;
      kube.handle({ ...request, query: { fieldManager: 'somebody' }, body });
      return;
    }
    const path = request.path.replace(/\/status$/, '');
    const patch = (metadata: object): void => {
      kube.handle({
        method: 'PATCH',
        path,
        query: { fieldManager: 'somebody' },
        contentType: 'application/merge-patch+json',
        body: { metadata },
      });
    };
    patch({ annotations: { [FAULTS_TOUCHED]: 'yes' } });
    this.#touched = path;
    const { finalizers } = (request.body as { metadata?: { finalizers?: string[] } }).metadata ?? {};
    if (finalizers === undefined) return;
    // A list is written as a whole: what somebody else has put into it in between must not get lost.
    const before = this.#metadataAt(path)?.finalizers ?? [];
    patch({ finalizers: [...before, FAULTS_HOLD] });
    this.#world.clock.setTimer(HOLD_MS, () => {
      const now = this.#metadataAt(path);
      if (now === undefined) return;
      if (!(now.finalizers ?? []).includes(FAULTS_HOLD) && now.deletionTimestamp === undefined) {
        this.#failures.push(`the finalizer that somebody else put on ${path} is gone`);
      }
      patch({ finalizers: (now.finalizers ?? []).filter((name) => name !== FAULTS_HOLD) });
    });
  }

  /** What somebody else wrote is there for as long as the object is. */
  #checkTouched(): void {
    if (this.#touched === undefined) return;
    const metadata = this.#metadataAt(this.#touched);
    if (metadata !== undefined && metadata.annotations?.[FAULTS_TOUCHED] !== 'yes') {
      this.#failures.push(`what somebody else wrote into ${this.#touched} is gone`);
    }
  }

  #metadataAt(path: string): Partial<Shown['metadata']> | undefined {
    const answer = this.#world.kube.handle({ method: 'GET', path });
    return answer.status === 200 ? (answer.body as Shown).metadata : undefined;
  }
}

/** What says Stalled from now on. */
function noteStalled(world: World): ReadonlySet<string> {
  const stalled = new Set<string>();
  world.kube.store.listen(({ resource, object }) => {
    const { metadata, status } = object as unknown as Shown;
    if (object.metadata.namespace !== NAMESPACE) return;
    for (const { type, reason } of status?.conditions ?? [])
      if (type === 'Stalled') stalled.add(`${resource.split('.')[0]}/${metadata.name} ${reason}`);
  });
  return stalled;
}

/** How a disturbed run differs from the undisturbed one; nothing when it is as good. */
export function differences(workload: Pick<Workload, 'race'>, undisturbed: Run, disturbed: Run): string[] {
  const out: string[] = [...disturbed.failures];
  if (disturbed.failures.length > 0) return out;
  for (const [i, { step, lines }] of undisturbed.views.entries()) {
    const other = disturbed.views[i]?.lines ?? [];
    const missing = lines.filter((line) => !other.includes(line));
    const extra = other.filter((line) => !lines.includes(line));
    if (missing.length + extra.length > 0) {
      out.push(
        `after "${step}":\n${[...missing.map((line) => `- ${line}`), ...extra.map((line) => `+ ${line}`)].join('\n')}`,
      );
    }
  }
  out.push(...countDifferences(workload, undisturbed, disturbed));
  return out;
}

/** Calls that must have had their effect exactly as often as in the undisturbed run. */
const EXACT = /^service (POST \/services\/(boxes|instances)\b|DELETE |PUT \/services\/instances\/\{id\}\/)/;
function countDifferences(workload: Pick<Workload, 'race'>, undisturbed: Run, disturbed: Run): string[] {
  const [before, now] = [countOf(undisturbed), countOf(disturbed)];
  const out: string[] = [];
  for (const label of new Set([...before.keys(), ...now.keys()])) {
    const [was, is] = [before.get(label) ?? 0, now.get(label) ?? 0];
    if (EXACT.test(label) && workload.race !== true && was !== is) {
      out.push(`${label}: took effect ${is} times, not ${was}`);
    }
  }
  return out;
}

function countOf(run: Run): Map<string, number> {
  const counts = new Map<string, number>();
  for (const effect of run.effects) {
    if (applied(effect)) counts.set(effect.label, (counts.get(effect.label) ?? 0) + 1);
  }
  return counts;
}
