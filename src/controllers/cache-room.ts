import { OWNER_SHARE, Tally } from '../base/tally.ts';

/** What is no larger is counted with those that are small, bytes of the heap. */
const LARGE = 32_768;
/** What is kept of a resource besides itself: its places in indexes and lines, and what is remembered of it. */
const BESIDE = 4_096;
/** One namespace has so much of the room for small ones: most clusters have one that has nearly all of them. */
const SMALL_SHARE = 2 / 3;

/** Why there is no room: it is large, or there are so many. */
export type NoRoom = 'large' | 'many';

/**
 * The room that the caches have for resources: an author may store as many of a megabyte and a half as the API server
 * takes, or ten thousands of a few kilobytes, and all of them would be kept in memory. Counted in bytes of the heap.
 */
export class CacheRoom {
  readonly #large: Part;
  readonly #small: Part;

  /** @param capacity - bytes, for those that are large and for the others */
  constructor({ large, small }: { large: number; small: number }) {
    this.#large = new Part(large, OWNER_SHARE);
    this.#small = new Part(small, SMALL_SHARE);
  }

  /** What a namespace may have, bytes. */
  most(why: NoRoom): number {
    return (why === 'large' ? this.#large : this.#small).most;
  }

  /** Counts a resource, in place of its version before; says why there is no room for it. */
  take(kind: string, namespace: string, name: string, weight: number): NoRoom | undefined {
    this.drop(kind, namespace, name);
    const key = `${kind}/${namespace}/${name}`;
    if (weight > LARGE) return this.#large.take(key, namespace, weight) ? undefined : 'large';
    return this.#small.take(key, namespace, weight + BESIDE) ? undefined : 'many';
  }

  /** The resource is gone. */
  drop(kind: string, namespace: string, name: string): void {
    const key = `${kind}/${namespace}/${name}`;
    for (const part of [this.#large, this.#small]) part.drop(key, namespace);
  }
}

/** One of the two. */
class Part {
  readonly most: number;
  readonly #capacity: number;
  readonly #weights = new Map<string, number>();
  readonly #taken = new Tally();

  constructor(capacity: number, share: number) {
    this.#capacity = capacity;
    this.most = Math.floor(capacity * share);
  }

  take(key: string, namespace: string, weight: number): boolean {
    if (this.#taken.of(namespace) + weight > this.most) return false;
    if (this.#taken.total + weight > this.#capacity) return false;
    this.#weights.set(key, weight);
    this.#taken.add(namespace, weight);
    return true;
  }

  drop(key: string, namespace: string): void {
    this.#taken.add(namespace, -(this.#weights.get(key) ?? 0));
    this.#weights.delete(key);
  }
}
