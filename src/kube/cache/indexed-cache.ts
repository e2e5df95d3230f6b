import { keyOfObject, type KubeObject, type ObjectKey } from '../object.ts';

/** Functions from an object to the values under which it is found. */
export type Indexes<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** Objects by key, and by the values of named indexes. Holds what it is given; knows nothing of versions. */
export class IndexedCache<T extends KubeObject> {
  readonly #objects = new Map<ObjectKey, T>();
  readonly #indexes: Indexes<T>;
  /** A value that one object has is filed without a set: most are of that kind, and a set is larger than an object's key. */
  readonly #byValue = new Map<string, Map<string, ObjectKey | Set<ObjectKey>>>();
  /**
   * The values an object was filed under, so that it is taken out even if its index function changed its mind: index,
   * value, index, value.
   */
  readonly #filed = new Map<ObjectKey, readonly string[]>();

  constructor(indexes: Indexes<T>) {
    this.#indexes = indexes;
    for (const index of Object.keys(indexes)) this.#byValue.set(index, new Map());
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  /**
   * Objects filed under a value, in no order.
   * @throws {@link UnknownIndexError}
   */
  byIndex(index: string, value: string): T[] {
    const values = this.#byValue.get(index);
    if (values === undefined) throw new UnknownIndexError(index, [...this.#byValue.keys()]);
    const found: T[] = [];
    for (const key of keysIn(values.get(value))) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  set(object: T): void {
    const key = keyOfObject(object);
    this.#unfile(key);
    this.#objects.set(key, object);
    const filed: string[] = [];
    for (const [index, values] of this.#byValue) {
      for (const value of new Set(this.#indexes[index]?.(object))) {
        const keys = values.get(value);
        if (keys === undefined) values.set(value, key);
        else if (typeof keys === 'string') values.set(value, new Set([keys, key]));
        else keys.add(key);
        filed.push(index, value);
      }
    }
    // A copy has no room for more.
    if (filed.length > 0) this.#filed.set(key, filed.slice());
  }

  delete(key: ObjectKey): void {
    this.#unfile(key);
    this.#objects.delete(key);
  }

  #unfile(key: ObjectKey): void {
    const filed = this.#filed.get(key) ?? [];
    for (let i = 0; i < filed.length; i += 2) {
      const [index = '', value = ''] = filed.slice(i, i + 2);
      const values = this.#byValue.get(index);
      const keys = values?.get(value);
      if (typeof keys === 'object') keys.delete(key);
      if (keys === key || (typeof keys === 'object' && keys.size === 0)) values?.delete(value);
    }
    this.#filed.delete(key);
  }
}

function keysIn(filed: ObjectKey | Set<ObjectKey> | undefined): Iterable<ObjectKey> {
  if (filed === undefined) return [];
  return typeof filed === 'string' ? [filed] : filed;
}

/** Thrown by {@link IndexedCache.byIndex} for an index that was never declared: a mistake in the program. */
export class UnknownIndexError extends Error {
  readonly code = 'UnknownIndex';
  constructor(index: string, known: readonly string[]) {
    super(`no index "${index}": declared are ${known.join(', ') || 'none'}`);
    this.name = 'UnknownIndexError';
  }
}
