import type { Clock, Random } from '../base/clock.ts';
import type { KubeObject, ObjectKey, ResourceType } from './object.ts';
import type { KubePort } from './port.ts';
import type { ReflectorNotice } from './reflector.ts';

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
  /** Named functions from an object to the values under which {@link Informer.byIndex} finds it. */
  indexes?: Readonly<Record<string, (object: T) => readonly string[]>> | undefined;
  /** Runs on each object before it is kept: parse, default, drop what nobody reads. Keeps metadata. */
  transform?: ((object: T) => T) | undefined;
  /** Everything that goes wrong or is worth counting. */
  onNotice?: ((notice: ReflectorNotice) => void) | undefined;
}

/** A cache of one kind that follows the cluster, with indexes and change handlers. */
export class Informer<T extends KubeObject> {
  readonly type: ResourceType;
  /** Resolves when the first list of every namespace is in; never rejects. */
  readonly synced: Promise<void>;

  constructor(options: InformerOptions<T>) {
    this.type = options.type;
    this.synced = Promise.resolve();
  }

  /** Follows the cluster until the signal says so; whatever goes wrong is tried again. Resolves once stopped. */
  start(_signal: AbortSignal): Promise<void> {
    return Promise.resolve();
  }

  get hasSynced(): boolean {
    return false;
  }

  /** Monotonic time of the last sign of life from the quietest stream, for liveness. */
  get lastActivity(): number {
    return 0;
  }

  /** The newest known version: of the cache and of what {@link Informer.remember} was given. */
  get(_key: ObjectKey): T | undefined {
    return undefined;
  }

  /** All objects, or those of a namespace. */
  list(_namespace?: string): T[] {
    return [];
  }

  byIndex(_index: string, _value: string): T[] {
    return [];
  }

  /** Adds a handler; it first hears of everything already there as added. Returns what takes it away. */
  onChange(_handler: ChangeHandler<T>): () => void {
    return () => undefined;
  }

  /**
   * Takes the answer of an own write, so that no later look at the cache sees an older version. Handlers hear
   * of it at once, and not again when the watch brings the same version.
   */
  remember(_object: T): void {
    // Follows.
  }
}
