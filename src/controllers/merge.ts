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
 * follow in the declared order. A record that shows a declared item twice keeps one of them.
 */
export function mergeList<T>(lists: ThreeWay<T>): T[] {
  const desired = new Map(lists.desired.map((item) => [lists.keyOf(item), item]));
  const managed = new Set(lists.managed);
  const merged: T[] = [];
  const done = new Set<string>();
  for (const item of lists.current) {
    const key = lists.keyOf(item);
    if (done.has(key)) continue;
    const declared = desired.get(key);
    if (desired.delete(key)) done.add(key);
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

/** JSON members by name, to any depth. */
export type JsonMap = Readonly<Record<string, unknown>>;

/** Whether a value has members of its own. */
export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Where a map says something, as JSON pointers (RFC 6901): members of its members, lists and empty maps as a whole.
 */
export function leavesOf(map: JsonMap): string[] {
  return Object.entries(map).flatMap(([name, member]) => {
    const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!isMap(member) || Object.keys(member).length === 0) return [pointer];
    return leavesOf(member).map((leaf) => `${pointer}${leaf}`);
  });
}

/**
 * Merges maps so that what others added stays, inside members of ours too, and what we removed goes.
 *
 * @param lists - `managed` holds the {@link leavesOf} what we put there.
 */
export function mergeMap(lists: {
  current: JsonMap;
  managed: readonly string[];
  desired: JsonMap;
}): Record<string, unknown> {
  const declared = new Set(leavesOf(lists.desired));
  const gone = branchOf(lists.managed.filter((leaf) => !declared.has(leaf)));
  return overlay(without(lists.current, gone), lists.desired);
}

/** Leaves by the names that lead to them. */
interface Branch {
  isLeaf: boolean;
  below: Map<string, Branch>;
}

/** Pointers are not put together for each member of a map that others have made: it may have many, of long names. */
function branchOf(pointers: Iterable<string>): Branch {
  const root: Branch = { isLeaf: false, below: new Map() };
  for (const pointer of pointers) {
    let at = root;
    for (const part of pointer.split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      const next: Branch = at.below.get(name) ?? { isLeaf: false, below: new Map() };
      at.below.set(name, next);
      at = next;
    }
    at.isLeaf = true;
  }
  return root;
}

/** The map without these leaves, and without the maps that are left empty by that. */
function without(map: JsonMap, gone: Branch): JsonMap {
  return Object.fromEntries(
    Object.entries(map).flatMap(([name, member]): [string, unknown][] => {
      const branch = gone.below.get(name);
      if (branch === undefined) return [[name, member]];
      if (branch.isLeaf) return [];
      if (!isMap(member) || Object.keys(member).length === 0) return [[name, member]];
      const rest = without(member, branch);
      return Object.keys(rest).length === 0 ? [] : [[name, rest]];
    }),
  );
}

function overlay(current: JsonMap, desired: JsonMap): Record<string, unknown> {
  const merged = new Map(Object.entries(current));
  for (const [name, member] of Object.entries(desired)) {
    const before = merged.get(name);
    merged.set(name, isMap(before) && isMap(member) ? overlay(before, member) : member);
  }
  return Object.fromEntries(merged);
}
