import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../src/base/clock.ts';
import type { PastSpan, SpanAttributes, Tracer } from '../../src/base/tracer.ts';
import type { KubeAnswer, KubePort, KubeRequest, KubeWatch, WatchLine } from '../../src/kube/index.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import type { PortAnswer, PortRequest, ServicePort } from '../../src/service/index.ts';
import type { Shown } from '../support/world.ts';
import { JUDGES } from './index.ts';
import {
  describeObjection,
  type Change,
  type Court,
  type Judge,
  type KubeWrite,
  type Objection,
  type RecordTable,
  type ServiceCall,
  type StoredOperation,
  type StoredRecord,
} from './judge.ts';
import { keyOfShown, OUR_KINDS } from './parts.ts';

/** So many objections are kept of one judge: what loops would fill the memory with them. */
const KEPT = 5;
const PATH =
  /^\/apis\/boxwright\.dev\/v1alpha1(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?(\/status)?$/;
const PLURALS: Readonly<Record<string, string>> = {
  Box: 'boxes',
  PolicyBox: 'policyboxes',
  Instance: 'instances',
  InstanceLease: 'instanceleases',
  Connection: 'connections',
  ClusterConnection: 'clusterconnections',
};

export interface BenchParts {
  clock: Clock;
  sandbox: Sandbox;
  /** Services at other endpoints, by endpoint. Every other one is `sandbox`. */
  others?: Readonly<Record<string, Sandbox>>;
  /** The installation id of the operator. @default what its ConfigMap says, where that is shown to the bench */
  installation?: () => string | undefined;
  /** Who sits here, by name. @default {@link JUDGES} */
  judges?: Readonly<Record<string, (court: Court) => Judge>>;
}

/**
 * Where the judges of one world sit: between the operator and all that it talks to. They see what it sends
 * and what it is answered, every change in the API server, and what is true on the service.
 */
export class Bench {
  readonly #clock: Clock;
  readonly #sandbox: Sandbox;
  readonly #others: Readonly<Record<string, Sandbox>>;
  #judges: readonly (readonly [string, Judge])[];
  readonly #objections: Objection[] = [];
  readonly #counts = new Map<string, number>();
  readonly #objects = new Map<string, Map<string, Shown>>();
  /** The last version of each that is gone. */
  readonly #gone = new Map<string, number>();
  /** Since when paths could not be listed or watched, on the world's monotonic clock. */
  readonly #unreached = new Map<string, number>();
  readonly #pass = new AsyncLocalStorage<string>();
  readonly #installation: () => string | undefined;
  #over = false;

  constructor(parts: BenchParts) {
    this.#clock = parts.clock;
    this.#sandbox = parts.sandbox;
    this.#others = parts.others ?? {};
    this.#installation = parts.installation ?? (() => this.#shownInstallation());
    this.#judges = Object.entries(parts.judges ?? JUDGES).map(([name, make]) => [
      name,
      make(this.court(name)),
    ]);
  }

  /** What was found so far. */
  get objections(): readonly Objection[] {
    return this.#objections;
  }

  /** What was found, in words. */
  said(): string[] {
    return this.#objections.map(describeObjection);
  }

  /** Leaves a judge out of this world, where a test makes up answers that he cannot see through. */
  excuse(judge: string): void {
    this.#judges = this.#judges.filter(([name]) => name !== judge);
  }

  /** Tells the judges that an operator process starts. */
  started(): void {
    this.#tell((judge) => judge.started?.());
  }

  /** Tells the judges that for so many milliseconds no watch brought what changed. */
  heard(silenceMs: number): void {
    this.#tell((judge) => judge.reached?.(silenceMs));
  }

  /** Tells the judges that somebody is about to change the service by hand. */
  byHand(): void {
    this.#tell((judge) => judge.byHand?.());
  }

  /** Tells the judges that the world is over. */
  end(): void {
    if (this.#over) return;
    this.#tell((judge) => judge.ended?.());
    this.#over = true;
  }

  /** Shows a change of an object in the API server. Unknown kinds are shown too: Secrets and ConfigMaps count. */
  change(resource: string, now: Shown | undefined, before: Shown | undefined): void {
    const object = now ?? before;
    if (object === undefined || this.#over) return;
    const key = keyOfShown(object);
    let objects = this.#objects.get(resource);
    if (objects === undefined) this.#objects.set(resource, (objects = new Map()));
    if (now === undefined) objects.delete(key);
    else objects.set(key, now);
    const change: Change = { at: this.#clock.monotonic(), resource, key, now, before };
    this.#tell((judge) => judge.changed?.(change));
  }

  /** Notes on whose behalf calls are made; passes all on to `tracer`. */
  tracer(tracer: Tracer | undefined): Tracer {
    return {
      within: <T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> => {
        const kind = String(attributes['boxwright.kind']);
        const key = `${attributes['k8s.namespace.name']}/${attributes['boxwright.name']}`;
        const inside = (): Promise<T> =>
          tracer === undefined ? work() : tracer.within(name, attributes, work);
        return this.#pass.run(`${PLURALS[kind] ?? kind} ${key}`, inside);
      },
      note: (span: PastSpan) => tracer?.note(span),
    };
  }

  /**
   * The operator's way to the API server.
   *
   * @param follow - also take what passes by for the state of the objects: where nobody calls {@link change}.
   */
  kube(port: KubePort, { follow = false }: { follow?: boolean } = {}): KubePort {
    return {
      request: (request) => this.#write(port, request, follow),
      watch: async (request) => {
        const watch = await this.#watch(port, request);
        return follow ? { ...watch, events: this.#followed(watch) } : watch;
      },
    };
  }

  /** The operator's way to the service at an endpoint. */
  service(port: ServicePort, endpoint: string): ServicePort {
    return { ...port, send: (request) => this.#call(port, endpoint, request) };
  }

  async #write(port: KubePort, request: KubeRequest, follow: boolean): Promise<KubeAnswer> {
    const [, namespace = '', resource = '', name, status] = PATH.exec(request.path) ?? [];
    if (request.method === 'GET' || !OUR_KINDS.has(resource) || this.#over) return this.#read(port, request);
    const key = `${namespace}/${name ?? ''}`;
    const write: KubeWrite = {
      at: this.#clock.monotonic(),
      request,
      resource,
      key,
      part: status === undefined ? 'object' : 'status',
      before: this.#objects.get(resource)?.get(key),
      after: undefined,
      status: undefined,
    };
    this.#tell((judge) => judge.writing?.(write));
    try {
      const answer = await port.request(request);
      write.status = answer.status;
      if (answer.status < 300) write.after = answer.body as Shown;
      if (follow && write.after?.metadata?.uid !== undefined) this.#follow(resource, write.after);
      return answer;
    } finally {
      this.#tell((judge) => judge.wrote?.(write));
    }
  }

  async #call(port: ServicePort, endpoint: string, request: PortRequest): Promise<PortAnswer> {
    if (this.#over) return port.send(request);
    const found = /^\/services\/(instances|boxes)\/([^/?]+)/.exec(request.path);
    const call: ServiceCall = {
      at: this.#clock.monotonic(),
      endpoint,
      method: request.method,
      path: request.path,
      body: parsed(request.body),
      record: found === null ? undefined : { table: found[1] as RecordTable, id: found[2] ?? '' },
      by: this.#pass.getStore(),
      status: undefined,
      answer: undefined,
      endedAt: undefined,
    };
    this.#tell((judge) => judge.calling?.(call));
    try {
      const answer = await port.send(request);
      call.status = answer.status;
      call.answer = parsed(answer.body);
      return answer;
    } finally {
      call.endedAt = this.#clock.monotonic();
      this.#tell((judge) => judge.called?.(call));
    }
  }

  async #read(port: KubePort, request: KubeRequest): Promise<KubeAnswer> {
    try {
      return await port.request(request);
    } catch (error) {
      this.#noteUnreached(request.path);
      throw error;
    }
  }

  /** Tells the judges when a kind can be watched again. */
  async #watch(port: KubePort, request: KubeRequest): Promise<KubeWatch> {
    try {
      const watch = await port.watch(request);
      const since = this.#unreached.get(request.path);
      this.#unreached.delete(request.path);
      if (since !== undefined) this.#tell((judge) => judge.reached?.(this.#clock.monotonic() - since));
      return watch;
    } catch (error) {
      this.#noteUnreached(request.path);
      throw error;
    }
  }

  #noteUnreached(path: string): void {
    this.#unreached.set(path, this.#unreached.get(path) ?? this.#clock.monotonic());
  }

  async *#followed(watch: KubeWatch): AsyncGenerator<WatchLine, void, undefined> {
    for await (const line of watch.events) {
      const object = line.object as Shown & { kind?: string };
      const plural = PLURALS[object.kind ?? ''];
      if (plural !== undefined && line.type !== 'BOOKMARK' && line.type !== 'ERROR') {
        this.#follow(plural, object, line.type === 'DELETED');
      }
      yield line;
    }
  }

  /** Takes an object over, unless a newer version of it has passed by already. */
  #follow(resource: string, object: Shown, isDeleted = false): void {
    const key = keyOfShown(object);
    const known = this.#objects.get(resource)?.get(key);
    const version = Number(object.metadata.resourceVersion);
    const passed = Number(known?.metadata.resourceVersion ?? this.#gone.get(`${resource} ${key}`) ?? 0);
    if (isDeleted ? known === undefined : passed >= version) return;
    // The API server removes an object with the write that takes the last finalizer off, and a watch says so later.
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (isDeleted || (deletionTimestamp !== undefined && finalizers.length === 0)) {
      this.#gone.set(`${resource} ${key}`, version);
      this.change(resource, undefined, object);
    } else {
      this.change(resource, object, known);
    }
  }

  #shownInstallation(): string | undefined {
    const maps = [...(this.#objects.get('configmaps')?.values() ?? [])];
    const map = maps.find(({ metadata }) => metadata.name === 'boxwright-installation');
    return (map as { data?: { id?: string } } | undefined)?.data?.id;
  }

  #tell(what: (judge: Judge) => void): void {
    if (this.#over) return;
    for (const [, judge] of this.#judges) what(judge);
  }

  /** What is before a judge of that name. */
  court(name: string): Court {
    const services = (at: string | undefined): readonly Sandbox[] =>
      at === undefined
        ? [this.#sandbox, ...Object.values(this.#others)]
        : [this.#others[at] ?? this.#sandbox];
    const records = (table: RecordTable, at?: string): readonly StoredRecord[] =>
      services(at).flatMap(({ admin }) => admin.records(table) as unknown as readonly StoredRecord[]);
    return {
      now: () => this.#clock.monotonic(),
      wall: () => this.#clock.now(),
      installation: this.#installation,
      object: (said) => {
        const count = (this.#counts.get(name) ?? 0) + 1;
        this.#counts.set(name, count);
        if (count <= KEPT) this.#objections.push({ judge: name, at: this.#clock.monotonic() / 1_000, said });
      },
      resources: (resource) => [...(this.#objects.get(resource)?.values() ?? [])],
      resource: (resource, key) => this.#objects.get(resource)?.get(key),
      records,
      record: (table, id, at) => records(table, at).find((record) => record.id === id),
      operations: (instance) =>
        services(undefined)
          .flatMap(
            ({ admin }) =>
              admin.records('operations') as unknown as readonly (StoredOperation & { instance: string })[],
          )
          .filter((operation) => operation.instance === instance),
      blob: (url) => {
        const id = /\/blobs\/download\/([^/]+)/.exec(url)?.[1];
        const found = services(undefined)
          .flatMap(({ admin }) => admin.snapshot().content)
          .find((blob) => blob.id === id);
        return found === undefined ? undefined : Buffer.from(found.content).toString();
      },
    };
  }
}

function parsed(body: unknown): unknown {
  if (body === undefined) return undefined;
  try {
    return JSON.parse(
      typeof body === 'string' ? body : Buffer.from(body as Uint8Array).toString(),
    ) as unknown;
  } catch {
    return undefined;
  }
}
