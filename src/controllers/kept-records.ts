import { weigh } from '../base/memory-budget.ts';

/** What remembers a record between passes. */
interface Holder {
  observed: { record: object } | undefined;
}

interface Kept {
  namespace: string;
  holder: Holder;
  record: object;
  weight: number;
}

/** Whose records come to more than this share lose their own first. */
const NAMESPACE_SHARE = 1 / 3;

/**
 * The records that are remembered between passes, and what they weigh together: a service may answer with as many of
 * ten megabytes as there are resources. Where they do not fit, those that were looked at longest ago are forgotten,
 * which costs a read.
 */
export class KeptRecords {
  readonly #capacity: number;
  /** In the order in which they were looked at. */
  readonly #kept = new Map<string, Kept>();
  readonly #byNamespace = new Map<string, number>();
  #total = 0;

  /** @param capacity - bytes of the heap */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Bytes of the heap. */
  get held(): number {
    return this.#total;
  }

  /** A pass over the resource `key` has ended. */
  note(key: string, namespace: string, holder: Holder): void {
    const before = this.#kept.get(key);
    const { record } = holder.observed ?? {};
    const weight = before !== undefined && before.record === record ? before.weight : weigh(record);
    this.#remove(key);
    if (record === undefined) return;
    this.#kept.set(key, { namespace, holder, record, weight });
    this.#count(namespace, weight);
    while (this.#total > this.#capacity) this.#forget(namespace);
    while ((this.#byNamespace.get(namespace) ?? 0) > this.#capacity * NAMESPACE_SHARE)
      this.#forget(namespace, true);
  }

  /** The resource is gone. */
  drop(key: string): void {
    this.#remove(key);
  }

  /** The oldest of the namespace where it has more than its share, else the oldest of all. */
  #forget(namespace: string, isOver = false): void {
    for (const [key, kept] of this.#kept) {
      if (isOver && kept.namespace !== namespace) continue;
      if (kept.holder.observed?.record === kept.record) kept.holder.observed = undefined;
      this.#remove(key);
      return;
    }
  }

  #remove(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#count(kept.namespace, -kept.weight);
  }

  #count(namespace: string, by: number): void {
    this.#total += by;
    const own = (this.#byNamespace.get(namespace) ?? 0) + by;
    if (own === 0) this.#byNamespace.delete(namespace);
    else this.#byNamespace.set(namespace, own);
  }
}
