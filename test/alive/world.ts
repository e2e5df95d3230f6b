import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { systemClock } from '../../src/base/clock.ts';
import { KubeClient, loadKubeConfig, UndiciKubePort, type KubeObject } from '../../src/kube/index.ts';
import { NAMESPACES } from '../bench/bench.ts';
import { metricOf, metricsUrlOf, startOperatorProgram, type Program } from '../support/programs.ts';
import { typeOfKind, type Shown } from '../support/world.ts';
import type { Held } from './held.ts';
import { HostileService } from './service.ts';
import { Victim, type Edit } from './victim.ts';

const VALUES = join(import.meta.dirname, '../../helm/boxwright/values.yaml');
/** Objects that are made at the same time. */
const MAKERS = 32;
const SCRAPE_MS = 1_000;

/** What the chart gives the operator, bytes and MiB. */
export function chartLimits(): { memory: number; heap: number } {
  const { resources, heapPercent } = parse(readFileSync(VALUES, 'utf8')) as {
    resources: { limits: { memory: string } };
    heapPercent: number;
  };
  const mebibytes = /^(\d+)Mi$/.exec(resources.limits.memory)?.[1];
  if (mebibytes === undefined) throw new Error(`resources.limits.memory is ${resources.limits.memory}`);
  return { memory: Number(mebibytes) * 1_048_576, heap: Math.floor((Number(mebibytes) * heapPercent) / 100) };
}

/** What was seen of an operator under one shape. */
export interface Seen {
  restarts: number;
  leadershipLost: boolean;
  /** Bytes. */
  peakRss: number;
  /** Of the event loop, milliseconds, by the clock. */
  longestDelay: number;
  /** The longest that the event loop was held, in time that its thread had a processor: others have the machine as well. */
  longestHold: number;
  /** The longest that a change of somebody else's, in another namespace, took to be Ready, milliseconds. */
  victim: number;
  /** The most that the operator's main thread worked while such a change waited, milliseconds. */
  victimWork: number;
  /** How many such changes came to be Ready. */
  edits: number;
  seconds: number;
  /** Reasons of Ready in the namespace, with how many. */
  reasons: string;
}

/** A namespace of a hostile author, with a hostile service, one operator, and a namespace of somebody else. */
export class AliveWorld implements AsyncDisposable {
  readonly namespace: string;
  readonly service: HostileService;
  readonly #victims: string;
  readonly #victim: Victim;
  readonly #edits: Edit[];
  readonly #client: KubeClient;
  readonly #port: UndiciKubePort;
  readonly #options: WorldOptions;
  readonly #scratch = mkdtempSync(join(tmpdir(), 'boxwright-held-'));
  #operator: Program | undefined;

  private constructor(
    options: WorldOptions,
    port: UndiciKubePort,
    service: HostileService,
    { victims, victim, edits }: { victims: string; victim: Victim; edits: Edit[] },
  ) {
    this.#options = options;
    this.#port = port;
    this.#client = new KubeClient(port, { clock: systemClock, random: Math.random, fieldManager: 'author' });
    this.service = service;
    this.#victim = victim;
    this.#edits = edits;
    this.namespace = `hostile-${options.name}`;
    this.#victims = victims;
  }

  static async open(options: WorldOptions): Promise<AliveWorld> {
    const { source } = await loadKubeConfig({ file: options.kubeconfigPath });
    const port = new UndiciKubePort({ source, clock: systemClock });
    const [victims, edits] = [`victim-${options.name}`, [] as Edit[]];
    const victim = await Victim.open({ kubeconfigPath: options.kubeconfigPath, namespace: victims }, (edit) =>
      edits.push(edit),
    );
    const world = new AliveWorld(options, port, await HostileService.open(), { victims, victim, edits });
    for (const name of [world.namespace, world.#victims]) {
      await world.#client.create(NAMESPACES, { metadata: { name } });
    }
    await world.#makeVictim();
    return world;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#operator?.stop();
    await this.#port.close();
    await this.service[Symbol.asyncDispose]();
    await this.#victim[Symbol.asyncDispose]();
    const { keepHeld } = this.#options;
    if (keepHeld !== undefined) copyFileSync(this.#heldFile, keepHeld);
    rmSync(this.#scratch, { recursive: true, force: true });
  }

  get #heldFile(): string {
    return join(this.#scratch, 'held.json');
  }

  /** How long the event loop was held at the most so far, milliseconds. */
  #held(): number {
    try {
      return (JSON.parse(readFileSync(this.#heldFile, 'utf8')) as Held).longest;
    } catch {
      // Nothing has been written yet, or it is being written.
      return 0;
    }
  }

  /** A Connection to the hostile service, and its Secret. */
  async connection(name = 'main', spec: object = {}): Promise<void> {
    if (name === 'main') await this.#make([secret(this.namespace)]);
    await this.make([connection(name, this.service.url, spec)]);
  }

  /** Makes objects in the hostile namespace. */
  async make(objects: Iterable<KubeObject>): Promise<void> {
    await this.#make(objects);
  }

  /** Changes an object of the hostile namespace, as a merge patch. */
  async patch(kind: Parameters<typeof typeOfKind>[0], name: string, patch: object): Promise<void> {
    await this.#client.mergePatch(typeOfKind(kind), { namespace: this.namespace, name }, patch);
  }

  /**
   * Runs the operator over what there is, and what `meanwhile` does, for so long; sees what becomes of it. One that
   * ends is started again, as a kubelet would.
   */
  async run(seconds: number, meanwhile: () => Promise<unknown> = () => Promise.resolve()): Promise<Seen> {
    const begun = systemClock.monotonic();
    const seen: Seen = {
      restarts: 0,
      leadershipLost: false,
      peakRss: 0,
      longestDelay: 0,
      longestHold: 0,
      victim: 0,
      victimWork: 0,
      edits: 0,
      seconds,
      reasons: '',
    };
    let program = this.#start();
    let url = await metricsUrlOf(program);
    const more = meanwhile();
    while (systemClock.monotonic() - begun < seconds * 1_000) {
      await systemClock.sleep(SCRAPE_MS);
      if (program.child.exitCode !== null || program.child.signalCode !== null) {
        seen.restarts += 1;
        seen.leadershipLost ||= /leader/i.test(program.said());
        this.#options.say?.(program.said().slice(-600));
        program = this.#start();
        url = await metricsUrlOf(program).catch(() => '');
        continue;
      }
      seen.peakRss = Math.max(seen.peakRss, peakRssOf(program.pid));
      const metrics = await scrape(url);
      if (metrics === undefined) continue;
      const delay = (metricOf(metrics, LAG) ?? 0) * 1_000;
      seen.longestDelay = Math.max(seen.longestDelay, delay);
      seen.longestHold = Math.max(seen.longestHold, this.#held());
      const leads = metricOf(metrics, 'leader_election_master_status');
      if (leads === 0 && systemClock.monotonic() - begun > 30_000) seen.leadershipLost = true;
    }
    await more;
    seen.victim = Math.max(0, ...this.#edits.map(({ ms }) => ms));
    seen.victimWork = Math.max(0, ...this.#edits.map(({ work }) => work));
    seen.edits = this.#edits.length;
    seen.reasons = await this.#reasons().catch((error: unknown) => String(error).slice(0, 200));
    return seen;
  }

  #start(): Program {
    const { kubeconfigFile, main, heap } = this.#options;
    const held = pathToFileURL(join(import.meta.dirname, 'held.ts'));
    held.searchParams.set('to', this.#heldFile);
    this.#operator = startOperatorProgram({
      kubeconfigFile,
      home: this.#victims,
      namespaces: [this.namespace, this.#victims],
      nodeArgs: [`--max-old-space-size=${heap}`, '--import', held.href, ...(this.#options.nodeArgs ?? [])],
      ...(main === undefined ? {} : { main }),
    });
    this.#victim.goOn(this.#operator.pid);
    return this.#operator;
  }

  async #make(objects: Iterable<KubeObject>, namespace = this.namespace): Promise<void> {
    const each = objects[Symbol.iterator]();
    const maker = async (): Promise<void> => {
      for (let next = each.next(); next.done !== true; next = each.next()) {
        const object = next.value;
        object.metadata.namespace = namespace;
        await this.#client.create(typeOfKind(object.kind as 'Box'), object);
      }
    };
    await Promise.all(Array.from({ length: MAKERS }, maker));
  }

  async #makeVictim(): Promise<void> {
    await this.#make(
      [secret(this.#victims), connection('main', this.#victim.url), box('victim', { description: 'first' })],
      this.#victims,
    );
  }

  async #reasons(): Promise<string> {
    const counts = new Map<string, number>();
    for (const kind of ['Connection', 'Box', 'PolicyBox', 'Instance'] as const) {
      const items = await this.#client.list<Shown & KubeObject>(typeOfKind(kind), {
        namespace: this.namespace,
        pageSize: 50,
      });
      for (const { status } of items) {
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        const said = `${kind} ${ready?.reason ?? 'untouched'}`;
        if (!counts.has(said)) this.#options.say?.(`${said}: ${ready?.message ?? ''}`);
        counts.set(said, (counts.get(said) ?? 0) + 1);
      }
    }
    return [...counts].map(([said, count]) => `${count} ${said}`).join(', ');
  }
}

export interface WorldOptions {
  /** Of the shape, as part of a namespace's name. */
  name: string;
  /** The author's, who may do everything. */
  kubeconfigPath: string;
  /** The operator's. */
  kubeconfigFile: string;
  /** The bundle; absent: from source. */
  main?: string;
  /** MiB. */
  heap: number;
  /** For Node, such as `--cpu-prof`. */
  nodeArgs?: readonly string[];
  /** Where what {@link Held} says is kept. */
  keepHeld?: string;
  say?: (text: string) => void;
}

/** A Box over the Connection `main`. */
export function box(name: string, spec: object = {}): KubeObject {
  return ours('Box', name, { connectionRef: { name: 'main' }, type: 'Script', ...spec });
}

export function ours(kind: string, name: string, spec: object): KubeObject {
  return { apiVersion: 'boxwright.dev/v1alpha1', kind, metadata: { name }, spec } as KubeObject;
}

function connection(name: string, endpoint: string, spec: object = {}): KubeObject {
  return ours('Connection', name, { endpoint, credentialsRef: { name: 'login' }, ...spec });
}

function secret(namespace: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'login', namespace },
    stringData: { token: 'token-of-ops' },
  } as unknown as KubeObject;
}

const LAG = 'nodejs_eventloop_lag_max_seconds';

/** proc_pid_status(5): VmHWM. */
function peakRssOf(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024;
  } catch {
    // It has just ended.
    return 0;
  }
}

async function scrape(url: string): Promise<string | undefined> {
  try {
    return await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(30_000) })).text();
  } catch {
    return undefined;
  }
}
