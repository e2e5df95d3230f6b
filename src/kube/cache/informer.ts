import type { Clock, Random } from '../../base/clock.ts';
import { noTurns, type Turns } from '../../base/turns.ts';
import { IndexedCache, type Indexes } from './indexed-cache.ts';
import { keyOfObject, type KubeObject, type ObjectKey, type ResourceType } from '../object.ts';
import type { KubePort } from '../port.ts';
import { Reflector, type ReflectorNotice, type ReflectorSink } from './reflector.ts';
import { isOlder } from './version.ts';

/** What an {@link Informer} tells its handlers. */
export type Change<T> =
  { type: 'added'; object: T } | { type: 'updated'; object: T; old: T } | { type: 'deleted'; object: T };

/** Must not throw and must not take long: enqueue and return. */
export type ChangeHandler<T> = (change: Change<T>) => void;

/** Options of {@link Informer}. */
export interface InformerOptions<T extends KubeObject> {
  port: KubePort;
  type: ResourceType;
  clock: Clock;
  random: Random;
  /** Watch these namespaces only, each by a stream of its own; absent: all of the cluster, by one. */
  namespaces?: readonly string[] | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Ask for PartialObjectMetadata: name, labels, annotations and versions without the content. */
  metadataOnly?: boolean | undefined;
  /** When long lists may be gone through. @defaultValue at once */
  turns?: Turns | undefined;
  /**
   * Takes out of each object what nobody reads, as it arrives: before the rest of a long list is there. Keeps
   * name, namespace, uid and resourceVersion, and must not throw.
   */
  prune?: ((object: T) => T) | undefined;
  /** Named functions from an object to the values under which {@link Informer.byIndex} finds it. */
  indexes?: Indexes<T> | undefined;
  /**
   * Runs on each object before it is kept: parse, default, drop what nobody reads. Keeps metadata. When it
   * throws, the object is kept as it came and a notice says so.
   */
  transform?: ((object: T) => T) | undefined;
  /** Everything that goes wrong or is worth counting. */
  onNotice?: ((notice: ReflectorNotice) => void) | undefined;
}

/** So many objects are put into the cache, and told of, at a time. */
const OBJECTS_A_TURN = 50;

/** Not a name that an index of a caller can have by accident. */
const BY_NAMESPACE = '\u0000namespace';

/**
 * A cache of one kind that follows the cluster, with indexes and change handlers. What it hands out is shared
 * and must not be changed. Without managedFields, which are half of a cached object and which nobody here reads.
 */
export class Informer<T extends KubeObject> {
  readonly type: ResourceType;
  /** Resolves when the first list of every namespace is in. Never rejects; stays pending when stopped before. */
  readonly synced: Promise<void>;
  readonly #options: InformerOptions<T>;
  readonly #cache: IndexedCache<T>;
  readonly #streams: Stream<T>[];
  readonly #handlers = new Set<ChangeHandler<T>>();
  #resolveSynced: () => void = () => undefined;
  #started = false;

  /** @throws InvalidPathError for namespaces on a cluster-scoped kind */
  constructor(options: InformerOptions<T>) {
    this.type = options.type;
    this.#options = options;
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
    this.#cache = new IndexedCache<T>({
      ...this.#guarded(options.indexes ?? {}),
      [BY_NAMESPACE]: (object) => [object.metadata.namespace ?? ''],
    });
    const namespaces = options.namespaces === undefined ? [undefined] : [...new Set(options.namespaces)];
    this.#streams = namespaces.map((namespace) => this.#stream(namespace));
  }

  /**
   * Follows the cluster until the signal says so; whatever goes wrong is tried again. Resolves once stopped.
   * May be called once.
   */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error(`the informer of ${this.type.plural} was started before`);
    this.#started = true;
    if (this.#streams.length === 0) this.#resolveSynced();
    await Promise.all(this.#streams.map((stream) => stream.reflector.run(signal)));
  }

  get hasSynced(): boolean {
    return this.#streams.every((stream) => stream.listed);
  }

  /** Monotonic time of the last sign of life on the quietest stream, for liveness. */
  get lastActivity(): number {
    return Math.min(...this.#streams.map((stream) => stream.reflector.lastActivity));
  }

  /** The newest known version: of the cluster as followed and of what {@link Informer.remember} was given. */
  get(key: ObjectKey): T | undefined {
    return this.#cache.get(key);
  }

  /** All objects, or those of a namespace, in no order. */
  list(namespace?: string): T[] {
    return namespace === undefined ? this.#cache.list() : this.#cache.byIndex(BY_NAMESPACE, namespace);
  }

  /**
   * The objects that an index files under a value.
   * @throws UnknownIndexError
   */
  byIndex(index: string, value: string): T[] {
    return this.#cache.byIndex(index, value);
  }

  /** Adds a handler; it first hears of everything already there as added. Returns what takes it away. */
  onChange(handler: ChangeHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#cache.list()) this.#tell(handler, { type: 'added', object });
    return () => {
      this.#handlers.delete(handler);
    };
  }

  /**
   * Takes the answer of an own write, so that no later look at the cache sees an older version. Handlers hear
   * of it at once, and not again when the watch brings the same version. A namespace that is not followed is
   * left alone.
   */
  remember(answer: T): void {
    const stream = this.#streams.find(
      ({ namespace }) => namespace === undefined || namespace === answer.metadata.namespace,
    );
    if (stream === undefined) return;
    const key = keyOfObject(answer);
    const { uid, resourceVersion } = answer.metadata;
    const current = this.#cache.get(key);
    // The watch has already passed this version: the cache knows as much or more, a deletion included.
    const isKnown = stream.progress !== undefined && !isOlder(stream.progress, resourceVersion);
    if (isGone(answer)) {
      // The write took the last finalizer off, and the API server removed the object with it. Its answer still
      // has the version from before, so versions say nothing here.
      if (!isKnown) stream.gone.set(uid, stream.lists);
      if (current === undefined || current.metadata.uid !== uid) return;
      stream.gone.set(uid, stream.lists);
      stream.remembered.delete(key);
      this.#remove(key, this.#prepare(structuredClone(answer)));
      return;
    }
    if (isKnown || stream.gone.has(uid)) return;
    if (current !== undefined && !isOlder(current.metadata.resourceVersion, resourceVersion)) return;
    // The name is taken anew: what had it before is gone, whatever lines of it still come.
    if (current !== undefined && current.metadata.uid !== uid)
      stream.gone.set(current.metadata.uid, stream.lists);
    stream.remembered.set(key, stream.lists);
    // Own writes may share structure with the caller's objects; the cache must not.
    this.#put(this.#prepare(structuredClone(answer)), current);
  }

  #stream(namespace: string | undefined): Stream<T> {
    const { port, type, clock, random, labelSelector, fieldSelector, metadataOnly, turns, prune, onNotice } =
      this.#options;
    const stream: Omit<Stream<T>, 'reflector'> = {
      namespace,
      listed: false,
      lists: 0,
      progress: undefined,
      remembered: new Map(),
      gone: new Map(),
    };
    const sink: ReflectorSink<T> = {
      listBegins: () => {
        stream.lists++;
      },
      prepare: (object) => this.#known(object) ?? this.#prepare(object),
      replace: (objects, version) => this.#replace(stream, objects, version),
      observe: (line, object) => this.#observe(stream, line, object),
      progress: (version) => {
        stream.progress = version;
      },
    };
    const reflector = new Reflector<T>({
      port,
      type,
      clock,
      random,
      sink,
      namespace,
      labelSelector,
      fieldSelector,
      metadataOnly,
      turns,
      prune,
      onNotice,
    });
    return Object.assign(stream, { reflector });
  }

  /** The same version, as it is kept. */
  #known(object: T): T | undefined {
    const current = this.#cache.get(keyOfObject(object));
    return current !== undefined && isSame(current, object) ? current : undefined;
  }

  /** Goes through what a list has brought, in turns: own writes may be remembered meanwhile. */
  async #replace(
    stream: Omit<Stream<T>, 'reflector'>,
    objects: readonly T[],
    version: string,
  ): Promise<void> {
    const { turns = noTurns } = this.#options;
    // Lists are consistent reads, so they know every write answered before they began, even after the API
    // server's store went back in time. Only what was remembered since may be newer than the list.
    const isNewer = (key: ObjectKey, current: T): boolean =>
      stream.remembered.get(key) === stream.lists && isOlder(version, current.metadata.resourceVersion);
    const keys = new Set<ObjectKey>();
    for (const [i, raw] of objects.entries()) {
      if (i % OBJECTS_A_TURN === 0) await turns.take();
      const key = keyOfObject(raw);
      keys.add(key);
      const current = this.#cache.get(key);
      if (stream.gone.get(raw.metadata.uid) === stream.lists) continue;
      if (current !== undefined && isNewer(key, current)) continue;
      stream.remembered.delete(key);
      if (current !== undefined && isSame(current, raw)) continue;
      this.#put(raw, current);
    }
    for (const [i, current] of this.list(stream.namespace).entries()) {
      if (i % OBJECTS_A_TURN === 0) await turns.take();
      const key = keyOfObject(current);
      if (keys.has(key)) continue;
      const now = this.#cache.get(key);
      if (now === undefined || isNewer(key, now)) continue;
      stream.remembered.delete(key);
      this.#remove(key, now);
    }
    // Only now: until here, what a write was answered with is news though the list knows it.
    stream.progress = version;
    for (const [uid, lists] of stream.gone) if (lists !== stream.lists) stream.gone.delete(uid);
    stream.listed = true;
    if (this.hasSynced) this.#resolveSynced();
  }

  /** Takes a line as it travelled; what is known already, as most echoes of own writes are, is not prepared. */
  #observe(stream: Omit<Stream<T>, 'reflector'>, line: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    const key = keyOfObject(object);
    const current = this.#cache.get(key);
    if (stream.gone.has(object.metadata.uid)) {
      // Lines from before the removal that the watch has yet to reach.
      if (line === 'DELETED') stream.gone.delete(object.metadata.uid);
      return;
    }
    // An own write is remembered that the watch has yet to reach.
    if (current !== undefined && isOlder(object.metadata.resourceVersion, current.metadata.resourceVersion))
      return;
    stream.remembered.delete(key);
    if (line === 'DELETED') {
      if (current !== undefined) this.#remove(key, this.#prepare(object));
    } else if (current === undefined || !isSame(current, object)) {
      this.#put(this.#prepare(object), current);
    }
  }

  #put(object: T, current: T | undefined): void {
    if (current !== undefined && current.metadata.uid !== object.metadata.uid) {
      // Deleted and made again under one name: two things, of which nobody may see only one.
      this.#remove(keyOfObject(current), current);
      this.#put(object, undefined);
      return;
    }
    this.#cache.set(object);
    this.#tellAll(
      current === undefined ? { type: 'added', object } : { type: 'updated', object, old: current },
    );
  }

  #remove(key: ObjectKey, last: T): void {
    this.#cache.delete(key);
    this.#tellAll({ type: 'deleted', object: last });
  }

  #prepare(object: T): T {
    // Setting it to undefined keeps the object's hidden class; delete makes it slow and larger.
    if (object.metadata.managedFields !== undefined) object.metadata.managedFields = undefined;
    try {
      return this.#options.transform?.(object) ?? object;
    } catch (thrown) {
      this.#report('transform', thrown);
      return object;
    }
  }

  #guarded(indexes: Indexes<T>): Indexes<T> {
    const entries = Object.entries(indexes).map(([name, valuesOf]) => {
      const guarded = (object: T): readonly string[] => {
        try {
          return valuesOf(object);
        } catch (thrown) {
          // One odd object is found by key only; it must not stop the others.
          this.#report('transform', thrown);
          return [];
        }
      };
      return [name, guarded] as const;
    });
    return Object.fromEntries(entries);
  }

  #tellAll(change: Change<T>): void {
    for (const handler of this.#handlers) this.#tell(handler, change);
  }

  #tell(handler: ChangeHandler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (thrown) {
      this.#report('handler', thrown);
    }
  }

  #report(during: 'transform' | 'handler', thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.#options.onNotice?.({ kind: 'error', resource: this.type.plural, during, error, delayMs: 0 });
  }
}

/** One followed namespace, or the whole cluster. */
interface Stream<T extends KubeObject> {
  readonly namespace: string | undefined;
  readonly reflector: Reflector<T>;
  listed: boolean;
  /** Lists begun so far. */
  lists: number;
  /** The version up to which everything was seen. */
  progress: string | undefined;
  /** Own writes the watch has not reached, with the number of lists begun when they were answered. */
  readonly remembered: Map<ObjectKey, number>;
  /** Uids of objects that an own write removed, of which the watch has yet to tell; with the lists begun by then. */
  readonly gone: Map<string | undefined, number>;
}

function isSame(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}

function isGone({ metadata }: KubeObject): boolean {
  // With a grace period left, as pods have one, the object stays although nothing holds it.
  const grace = metadata.deletionGracePeriodSeconds ?? 0;
  return metadata.deletionTimestamp !== undefined && grace === 0 && (metadata.finalizers ?? []).length === 0;
}
