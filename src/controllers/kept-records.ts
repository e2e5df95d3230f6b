import { Interned } from '../base/interned.ts';
import { weigh } from '../base/memory-budget.ts';
import { OWNER_SHARE, Tally } from '../base/tally.ts';

/** What remembers a record between passes. */
interface Holder {
  observed: { record: object } | undefined;
  /** What is kept of records that it names. */
  declared?: Map<string, object>;
}

interface Kept {
  namespace: string;
  holder: Holder;
  record: object | undefined;
  declared: readonly object[];
  weight: number;
}

/** A record has a few dozen texts, most of which stand in all records of one box. */
const KNOWN_TEXTS = 4_096;

/**
 * The records that are remembered between passes, and what they weigh together: a service may answer with as many of
 * ten megabytes as there are resources. Where they do not fit, those that were looked at longest ago are forgotten,
 * which costs a read; a namespace whose records come to more than its share loses its own first.
 */
export class KeptRecords {
  readonly #capacity: number;
  /** In the order in which they were looked at. */
  readonly #kept = new Map<string, Kept>();
  readonly #weights = new Tally();
  readonly #texts = new Interned(KNOWN_TEXTS);

  /** @param capacity - bytes of the heap */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Bytes of the heap. */
  get held(): number {
    return this.#weights.total;
  }

  /** A pass over the resource `key` has ended. */
  note(key: string, namespace: string, holder: Holder): void {
    const before = this.#kept.get(key);
    const { record } = holder.observed ?? {};
    const declared = [...(holder.declared?.values() ?? [])];
    const isKnown = before !== undefined && before.record === record && isSame(before.declared, declared);
    if (!isKnown) this.#texts.replaceIn(record);
    const weight = isKnown ? before.weight : weigh(declared) + (record === undefined ? 0 : weigh(record));
    this.#remove(key);
    if (record === undefined && declared.length === 0) return;
    this.#kept.set(key, { namespace, holder, record, declared, weight });
    this.#weights.add(namespace, weight);
    while (this.#weights.total > this.#capacity) this.#forget(namespace);
    while (this.#weights.of(namespace) > this.#capacity * OWNER_SHARE) this.#forget(namespace, true);
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
      kept.holder.declared?.clear();
      this.#remove(key);
      return;
    }
  }

  #remove(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#weights.add(kept.namespace, -kept.weight);
  }
}

function isSame(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((member, at) => member === other[at]);
}
