import type { ResourceType } from '../../../src/kube/object.ts';
import { copy, type StoredObject } from './objects.ts';
import { qualified } from './refusals.ts';

/** One committed change. `object` as it is after it, or as it last was, with the change's version. */
export interface LogEntry {
  version: number;
  /** Of the kind; see {@link qualified}. */
  resource: string;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: StoredObject;
  /** As it was before; absent for ADDED. */
  before?: StoredObject;
}

/**
 * What etcd is to the API server: objects by key, one number that grows with each change of anything, and a
 * history that is cut off at the old end.
 */
export class Store {
  readonly #objects = new Map<string, Map<string, StoredObject>>();
  readonly #listeners = new Set<(entry: LogEntry) => void>();
  readonly #historyLimit: number;
  #log: LogEntry[] = [];
  #version: number;
  #compactedTo: number;

  constructor(options: { firstVersion: number; historyLimit: number }) {
    this.#version = options.firstVersion;
    this.#compactedTo = options.firstVersion;
    this.#historyLimit = options.historyLimit;
  }

  get version(): number {
    return this.#version;
  }

  /** Changes up to this version are forgotten: what wants to start before it is refused with 410. */
  get compactedTo(): number {
    return this.#compactedTo;
  }

  get(type: ResourceType, key: string): StoredObject | undefined {
    return this.#of(type).get(key);
  }

  /** All objects of a kind, in the order of their keys, as etcd answers them. */
  all(type: ResourceType): StoredObject[] {
    return [...this.#of(type).entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** Stores or, with undefined, removes an object; answers it with its new version. */
  commit(type: ResourceType, key: string, next: StoredObject | undefined): StoredObject {
    const objects = this.#of(type);
    const before = objects.get(key);
    const object = copy(next ?? before);
    if (object === undefined) throw new Error(`${key}: nothing to remove`);
    this.#version += 1;
    object.metadata.resourceVersion = String(this.#version);
    if (next === undefined) objects.delete(key);
    else objects.set(key, object);
    const entry: LogEntry = {
      version: this.#version,
      resource: qualified(type),
      type: next === undefined ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED',
      object,
      ...(before === undefined ? {} : { before }),
    };
    this.#log.push(entry);
    if (this.#log.length > this.#historyLimit) this.#cut(this.#log.length - this.#historyLimit);
    for (const listener of this.#listeners) listener(entry);
    return object;
  }

  /** Moves the version on without a change, as writes of others do. */
  skip(count = 1): void {
    this.#version += count;
  }

  /** Forgets all history. */
  compact(): void {
    this.#log = [];
    this.#compactedTo = this.#version;
  }

  /** Changes of a kind after `version`. */
  since(type: ResourceType, version: number): LogEntry[] {
    const resource = qualified(type);
    return this.#log.filter((entry) => entry.version > version && entry.resource === resource);
  }

  /** Calls `listener` with each change from now on; answers what ends that. */
  listen(listener: (entry: LogEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #of(type: ResourceType): Map<string, StoredObject> {
    const resource = qualified(type);
    let objects = this.#objects.get(resource);
    if (objects === undefined) {
      objects = new Map();
      this.#objects.set(resource, objects);
    }
    return objects;
  }

  #cut(count: number): void {
    const gone = this.#log.splice(0, count);
    this.#compactedTo = Math.max(this.#compactedTo, gone.at(-1)?.version ?? 0);
  }
}
