import { mergePatch } from '../support/fake-kube/objects.ts';
import type { Shown } from '../support/world.ts';
import type {
  Court,
  Judge,
  KubeWrite,
  RecordTable,
  ServiceCall,
  StoredOperation,
  StoredRecord,
} from './judge.ts';
import { keyOfShown } from './parts.ts';

export const INSTALLATION = 'installation-one';
export const ENDPOINT = 'https://service.test';
/** For whom calls of a trial are made, unless they say so. */
export const BY = 'instances shop/web';

/** An object as the API server stores it. */
export function stored(parts: {
  name?: string;
  metadata?: object;
  spec?: Record<string, unknown>;
  status?: object;
}): Shown {
  const { name = 'web', metadata = {}, spec = {}, status } = parts;
  const own = { namespace: 'shop', name, uid: `uid-of-${name}`, generation: 1, resourceVersion: '1' };
  return {
    metadata: { ...own, ...metadata },
    spec,
    ...(status === undefined ? {} : { status }),
  } as Shown;
}

/** One judge before a recording made by hand: what it objects to is in {@link said}. */
export class Trial {
  readonly said: string[] = [];
  readonly judge: Judge;
  /** What is true on the service. */
  readonly records: Record<RecordTable, StoredRecord[]> = { instances: [], boxes: [] };
  readonly operations: (StoredOperation & { instance: string })[] = [];
  /** Seconds since it began. */
  seconds = 0;
  readonly #objects = new Map<string, Map<string, Shown>>();
  #version = 1;

  constructor(make: (court: Court) => Judge) {
    const court: Court = {
      now: () => this.#ms,
      wall: () => Date.parse('2027-01-01T00:00:00Z') + this.#ms,
      installation: () => INSTALLATION,
      object: (what) => this.said.push(what),
      resources: (resource) => [...(this.#objects.get(resource)?.values() ?? [])],
      resource: (resource, key) => this.#objects.get(resource)?.get(key),
      record: (table, id) => this.records[table].find((record) => record.id === id),
      records: (table) => this.records[table],
      operations: (instance) => this.operations.filter((one) => one.instance === instance),
      blob: () => undefined,
    };
    this.judge = make(court);
  }

  get #ms(): number {
    return this.seconds * 1_000;
  }

  /** Somebody stores an object. */
  store(resource: string, object: Shown): void {
    const objects = this.#objects.get(resource) ?? new Map<string, Shown>();
    this.#objects.set(resource, objects);
    const key = keyOfShown(object);
    const before = objects.get(key);
    objects.set(key, object);
    this.judge.changed?.({ at: this.#ms, resource, key, now: object, before });
  }

  /** An object as it is stored. */
  stored(resource: string, name = 'web'): Shown {
    const found = this.#objects.get(resource)?.get(`shop/${name}`);
    if (found === undefined) throw new Error(`no ${resource} ${name}`);
    return found;
  }

  /** Somebody deletes an object, and nothing holds it. */
  drop(resource: string, name = 'web'): void {
    const objects = this.#objects.get(resource);
    const before = objects?.get(`shop/${name}`);
    objects?.delete(`shop/${name}`);
    this.judge.changed?.({ at: this.#ms, resource, key: `shop/${name}`, now: undefined, before });
  }

  /**
   * The operator patches an object, from the version that is stored unless the patch names another. A `status` above 299
   * leaves the object as it was.
   */
  patch(
    resource: string,
    patch: { metadata?: object; spec?: object; status?: object },
    {
      name = 'web',
      status = 200,
      method = 'PATCH',
    }: { name?: string; status?: number; method?: string } = {},
  ): void {
    const key = `shop/${name}`;
    const before = this.#objects.get(resource)?.get(key);
    const resourceVersion = before?.metadata.resourceVersion;
    const body = { ...patch, metadata: { resourceVersion, ...patch.metadata } };
    const write: KubeWrite = {
      at: this.#ms,
      request: { method: method as 'PATCH', path: `/${resource}/${name}`, body },
      resource,
      key,
      part: patch.status === undefined ? 'object' : 'status',
      before,
      after: undefined,
      status: undefined,
    };
    this.judge.writing?.(write);
    write.status = status;
    if (status < 300) {
      const after = mergePatch(before, patch) as Shown;
      this.#version += 1;
      after.metadata.resourceVersion = String(this.#version);
      write.after = after;
      this.store(resource, after);
    }
    this.judge.wrote?.(write);
  }

  /** The operator makes a call, which is answered at once. */
  call(method: string, path: string, parts: Partial<ServiceCall> = {}): void {
    this.ends(this.begins(method, path, parts), parts);
  }

  /** A call goes out. */
  begins(method: string, path: string, parts: Partial<ServiceCall> = {}): ServiceCall {
    const [, table, id] = /^\/services\/(instances|boxes)\/([^/?]+)/.exec(path) ?? [];
    const call: ServiceCall = {
      at: this.#ms,
      endpoint: ENDPOINT,
      method,
      path,
      body: undefined,
      record: id === undefined ? undefined : { table: table as RecordTable, id },
      by: BY,
      ...parts,
      status: undefined,
      answer: undefined,
      endedAt: undefined,
    };
    this.judge.calling?.(call);
    return call;
  }

  /** A call that went out is answered. @param answered - `status`: @default 200 */
  ends(call: ServiceCall, { status = 200, answer }: Partial<ServiceCall> = {}): void {
    Object.assign(call, { status, answer, endedAt: this.#ms });
    this.judge.called?.(call);
  }

  /** The world ends. Answers what was objected to. */
  end(): string[] {
    this.judge.ended?.();
    return this.said;
  }
}
