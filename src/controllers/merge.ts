/** One list of a record: as just read, what we put there earlier, and what is declared now. */
export interface ThreeWay<T> {
  current: readonly T[];
  /** Keys that we put there: only these are taken away again. */
  managed: readonly string[];
  desired: readonly T[];
  keyOf(item: T): string;
  /** What travels where both have the item: keeps what the service added. */
  combine(current: T, desired: T): T;
}

/**
 * Merges so that what others added stays and what we removed goes. Order is the record's own; new items
 * follow in the declared order.
 */
export function mergeList<T>(lists: ThreeWay<T>): T[] {
  const desired = new Map(lists.desired.map((item) => [lists.keyOf(item), item]));
  const managed = new Set(lists.managed);
  const merged: T[] = [];
  for (const item of lists.current) {
    const key = lists.keyOf(item);
    const declared = desired.get(key);
    desired.delete(key);
    if (declared !== undefined) merged.push(lists.combine(item, declared));
    else if (!managed.has(key)) merged.push(item);
  }
  merged.push(...desired.values());
  return merged;
}

/** Merges tags, where an item is its own key. */
export function mergeTags(lists: {
  current: readonly string[];
  managed: readonly string[];
  desired: readonly string[];
}): string[] {
  return mergeList({ ...lists, keyOf: (tag) => tag, combine: (tag) => tag });
}
