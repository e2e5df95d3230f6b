import { OWNER_SHARE, Tally } from '../base/tally.ts';

/** What is no larger is kept whatever else there is, bytes of the heap. */
const LARGE = 32_768;

/**
 * The room that the caches have for large resources: an author may store as many of a megabyte and a half as the API
 * server takes, and all of them would be kept in memory. Counted in bytes of the heap.
 */
export class CacheRoom {
  readonly #capacity: number;
  readonly #weights = new Map<string, number>();
  readonly #taken = new Tally();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** What a namespace may have of it, bytes. */
  get most(): number {
    return Math.floor(this.#capacity * OWNER_SHARE);
  }

  /** Counts a resource, in place of its version before; false where there is no room for it. */
  take(kind: string, namespace: string, name: string, weight: number): boolean {
    const key = `${kind}/${namespace}/${name}`;
    this.#set(key, namespace, 0);
    if (weight <= LARGE) return true;
    if (this.#taken.of(namespace) + weight > this.most) return false;
    if (this.#taken.total + weight > this.#capacity) return false;
    this.#set(key, namespace, weight);
    return true;
  }

  /** The resource is gone. */
  drop(kind: string, namespace: string, name: string): void {
    this.#set(`${kind}/${namespace}/${name}`, namespace, 0);
  }

  #set(key: string, namespace: string, weight: number): void {
    const by = weight - (this.#weights.get(key) ?? 0);
    if (weight === 0) this.#weights.delete(key);
    else this.#weights.set(key, weight);
    this.#taken.add(namespace, by);
  }
}
