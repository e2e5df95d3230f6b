import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Random } from '../../src/base/clock.ts';
import { silentLogger, type Logger } from '../../src/base/logger.ts';
import type { Tracer } from '../../src/base/tracer.ts';
import { settle, VirtualClock } from '../../src/base/virtual-clock.ts';
import { KIND_NAMES, kindOf, type KindName } from '../../src/api/kinds.ts';
import { wireOperator } from '../../src/cli/operator/wiring.ts';
import { INSTALLATION_CONFIG_MAP } from '../../src/controllers/installation.ts';
import {
  apiVersionOf,
  pathOf,
  CONFIG_MAPS,
  KubeClient,
  Metrics,
  SECRETS,
  type EventInput,
  type KubeObject,
  type KubePort,
  type ResourceType,
} from '../../src/kube/index.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import type { ServicePort } from '../../src/service/index.ts';
import { FakeKube, ownKinds, type FakeKind, type StoredObject } from './fake-kube.ts';
import { copy } from './fake-kube/objects.ts';
import { Bench } from '../judges/bench.ts';
import { Mortal } from './mortal.ts';
import { sandboxPort } from './sandbox-port.ts';

/** A whole world in one process on one virtual clock: API server, service, and operators that come and go. */
export interface WorldOptions {
  /** Puts something between the operator and the API server. */
  kubePort?: (port: KubePort) => KubePort;
  /** Puts something between the operator and the service. */
  servicePort?: (port: ServicePort) => ServicePort;
  /** Services at other endpoints than {@link ENDPOINT}. */
  others?: Readonly<Record<string, Sandbox>>;
  /** @default one of its own */
  clock?: VirtualClock;
  sandbox?: Partial<SandboxOptions>;
  tracer?: Tracer;
  log?: Logger;
  watchSecrets?: boolean;
  keepCredentials?: boolean;
  /** @default those of this project */
  kinds?: readonly FakeKind[];
}

/** What an operator process is started with. `isElected`: it waits for the leader Lease. */
interface StartFlags {
  installationId?: string;
  restore?: boolean;
  isElected?: boolean;
}

export const NAMESPACE = 'shop';
export const ENDPOINT = 'https://service.test';

export class World {
  readonly clock: VirtualClock;
  readonly kube: FakeKube;
  readonly sandbox: Sandbox;
  readonly events: EventInput[] = [];
  /** Those of the operator process that was started last. */
  metrics = new Metrics();
  readonly namespace = NAMESPACE;
  /** Manifests of the Connection and its Secret. */
  readonly connection = CONNECTION;
  /** Those who look while it runs. */
  readonly judges: Bench;
  readonly #options: WorldOptions;
  /** What {@link get} has answered for an object as stored: tests ask for it at each step. */
  readonly #read = new WeakMap<StoredObject, StoredObject>();
  /** The user's own client: nothing stands between it and the API server. */
  readonly user: KubeClient;
  #running: { stop: AbortController; ended: Promise<void>; process: Mortal } | undefined;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.clock = options.clock ?? new VirtualClock();
    this.kube = new FakeKube({
      clock: this.clock,
      kinds: options.kinds ?? ownKinds(),
      namespaces: ['default', NAMESPACE, 'boxwright-system'],
    });
    this.sandbox = createSandbox({
      clock: this.clock,
      random: seeded(7),
      data: ':memory:',
      account: { email: 'ops@example.com', password: 'secret-password', token: 'token-of-ops' },
      teams: ['shop'],
      durations: {
        deploy: 4_000,
        shutdown: 2_000,
        poweron: 2_000,
        reinstall: 2_000,
        reconfigure: 2_000,
        terminate: 2_000,
      },
      ...options.sandbox,
    });
    this.judges = new Bench({ clock: this.clock, sandbox: this.sandbox, others: options.others ?? {} });
    this.kube.store.listen(({ resource, object, before, type }) => {
      const [plural = ''] = resource.split('.');
      const now = type === 'DELETED' ? undefined : shown(object);
      this.judges.change(plural, now, before === undefined ? undefined : shown(before));
    });
    this.user = new KubeClient(this.kube, { clock: this.clock, random: () => 0.5, fieldManager: 'user' });
  }

  /** The id that the installation has given itself. */
  get installationId(): string {
    const ref = { namespace: 'boxwright-system', name: INSTALLATION_CONFIG_MAP };
    const { data } = (this.kube.get(CONFIG_MAPS, ref) ?? {}) as { data?: { id?: string } };
    return data?.id ?? '';
  }

  /** Starts an operator process; it runs until {@link kill} or the end. */
  start({ isElected = false, ...flags }: StartFlags = {}): void {
    const process = new Mortal(this.clock);
    const { clock } = process;
    const random = seeded(11);
    this.judges.started();
    const kubePort = this.judges.kube(process.kube(this.#options.kubePort?.(this.kube) ?? this.kube));
    const stop = new AbortController();
    this.metrics = new Metrics();
    const manager = wireOperator(
      {
        namespace: 'boxwright-system',
        endpoints: { allowedHosts: [] },
        watchSecrets: this.#options.watchSecrets === true,
        keepCredentials: this.#options.keepCredentials === true,
        ...(isElected ? { leader: { name: 'leader' } } : {}),
        ...flags,
      },
      {
        clock,
        random,
        log: this.#options.log ?? silentLogger,
        metrics: this.metrics,
        tracer: this.judges.tracer(this.#options.tracer),
        kubePort,
        recorder: { event: (input) => this.events.push(input) },
        portFor: ({ endpoint }) => {
          const port = sandboxPort(this.#options.others?.[endpoint] ?? this.sandbox);
          const judged = this.judges.service(
            process.service(this.#options.servicePort?.(port) ?? port),
            endpoint,
          );
          return { ...judged, close: () => Promise.resolve() };
        },
      },
    );
    const ended = manager.run(stop.signal);
    ended.catch(() => undefined);
    this.#running = { stop, ended, process };
  }

  /** Ends the operator at once, in the middle of whatever it does. What it has sent still takes effect. */
  kill(): void {
    this.#running?.process.kill();
    // Nothing comes of it in a process that is dead, but a signal that is never aborted keeps its listeners for ever.
    this.#running?.stop.abort(new Error('killed'));
    this.#running = undefined;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Ends the operator in good order. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    running.stop.abort(new Error('stopped'));
    const state = { ended: false };
    const done = running.ended.catch(() => undefined).then(() => (state.ended = true));
    while (!state.ended) await this.clock.advance(Math.max(this.clock.untilNext() ?? 0, 1));
    await done;
  }

  /** Lets `ms` pass. */
  advance(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }

  /** Lets time pass until `done`; throws with what the resources say when it takes longer than `limitMs`. */
  async until(done: () => boolean, limitMs = 600_000): Promise<void> {
    const end = this.clock.monotonic() + limitMs;
    await settle();
    while (!done()) {
      const left = end - this.clock.monotonic();
      if (left <= 0) throw new Error(`not within ${limitMs} ms:\n${this.describe()}`);
      await this.clock.advance(Math.min(Math.max(this.clock.untilNext() ?? 1_000, 1), left));
    }
  }

  /** Applies manifests as a user would. */
  async apply(manifests: string): Promise<void> {
    for (const document of parseAllDocuments(manifests)) {
      const object = document.toJS() as KubeObject | null;
      if (object === null) continue;
      object.metadata.namespace ??= NAMESPACE;
      await this.user.apply(typeOf(object), object, { force: true });
    }
  }

  async delete(kind: KindName | 'Secret' | 'ConfigMap', name: string): Promise<void> {
    await this.user.delete(typeOfKind(kind), { namespace: NAMESPACE, name });
  }

  async annotate(kind: KindName, name: string, annotations: Record<string, string | null>): Promise<void> {
    await this.user.mergePatch(
      typeOfKind(kind),
      { namespace: NAMESPACE, name },
      { metadata: { annotations } },
    );
  }

  async edit(kind: KindName, name: string, spec: object): Promise<void> {
    await this.user.mergePatch(typeOfKind(kind), { namespace: NAMESPACE, name }, { spec });
  }

  /** A resource as stored, for reading only; undefined when there is none. */
  get(kind: KindName, name: string): Shown | undefined {
    const stored = this.kube.store.get(typeOfKind(kind), `${NAMESPACE}/${name}`);
    if (stored === undefined) return undefined;
    let read = this.#read.get(stored);
    if (read === undefined) this.#read.set(stored, (read = copy(stored)));
    return shown(read);
  }

  /** All resources of a kind in {@link NAMESPACE}, as stored. */
  list(kind: KindName | 'Secret' | 'ConfigMap'): Shown[] {
    const path = pathOf(typeOfKind(kind), { namespace: NAMESPACE });
    const answer = this.kube.handle({ method: 'GET', path });
    return (answer.body as { items: Shown[] }).items;
  }

  ready(kind: KindName, name: string): string | undefined {
    return this.condition(kind, name, 'Ready')?.status;
  }

  condition(kind: KindName, name: string, type: string): ShownCondition | undefined {
    return this.get(kind, name)?.status?.conditions?.find((condition) => condition.type === type);
  }

  /** One line a resource, for failures. */
  describe(): string {
    const lines: string[] = [];
    for (const kind of KIND_NAMES) {
      for (const object of this.list(kind)) {
        const said = object.status?.conditions
          ?.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`)
          .join('; ');
        const gone = object.metadata.deletionTimestamp === undefined ? '' : ' (deleting)';
        lines.push(`${kind}/${object.metadata.name}${gone} ${said ?? 'no conditions'}`);
      }
    }
    return lines.join('\n');
  }
}

/** A stored object as tests read it. */
function shown(object: KubeObject): Shown {
  return object as unknown as Shown;
}

export interface ShownCondition {
  type: string;
  status: string;
  reason: string;
  message: string;
  observedGeneration?: number;
}

/** What tests read of a resource. */
export interface Shown {
  metadata: {
    name: string;
    uid: string;
    generation: number;
    resourceVersion: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    annotations?: Record<string, string>;
  };
  spec: Record<string, unknown>;
  status?: Record<string, unknown> & {
    conditions?: ShownCondition[];
    id?: string;
    observedGeneration?: number;
  };
}

export function typeOfKind(kind: KindName | 'Secret' | 'ConfigMap'): ResourceType {
  if (kind === 'Secret') return SECRETS;
  if (kind === 'ConfigMap') return CONFIG_MAPS;
  const { group, version, plural } = kindOf(kind);
  return { group, version, plural, kind, namespaced: true };
}

function typeOf(object: KubeObject): ResourceType {
  const type = typeOfKind(object.kind as KindName);
  if (apiVersionOf(type) !== object.apiVersion)
    throw new Error(`no such kind: ${object.apiVersion} ${object.kind}`);
  return type;
}

/** A small generator of numbers in [0, 1) that gives the same ones each time (mulberry32's construction). */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The Connection of a world, and its Secret. */
export const CONNECTION = `
apiVersion: v1
kind: Secret
metadata: {name: deploy-login}
stringData: {token: token-of-ops}
---
apiVersion: boxwright.dev/v1alpha1
kind: Connection
metadata: {name: main}
spec:
  endpoint: ${ENDPOINT}
  credentialsRef: {name: deploy-login}
`;

/** The example manifests, without the connection. */
export function examples(): string {
  const folder = join(import.meta.dirname, '../../deploy/examples');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml') && file !== 'connection.yaml')
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n---\n');
}
