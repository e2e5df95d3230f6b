import { LANES, type Lane } from './priority.ts';

/** How many turns each lane has while all wait. */
const SHARES: Readonly<Record<Lane, number>> = { edit: 64, normal: 16, new: 4, periodic: 1 };

/**
 * Items that wait for a turn, by lane. Each lane has its share of the turns; one that was empty claims none that it
 * missed, and has its first at once where it is for edits. Within a lane each group (such as a namespace) has its turn,
 * and within a group it is first come, first served. An item is in one lane at a time.
 */
export class Lanes<T> {
  readonly #lines: Record<Lane, Map<string, Set<T>>> = {
    edit: new Map(),
    normal: new Map(),
    new: new Map(),
    periodic: new Map(),
  };
  readonly #sizes: Record<Lane, number> = { edit: 0, normal: 0, new: 0, periodic: 0 };
  /** When the next turn of each lane is due, in the time that all lanes share; the latest that was given. */
  readonly #due: Record<Lane, number> = { edit: 0, normal: 0, new: 0, periodic: 0 };
  #now = 0;

  get size(): number {
    return LANES.reduce((sum, lane) => sum + this.#sizes[lane], 0);
  }

  sizeOf(lane: Lane): number {
    return this.#sizes[lane];
  }

  add(item: T, lane: Lane, group = ''): void {
    const groups = this.#lines[lane];
    const line = groups.get(group) ?? new Set();
    if (line.has(item)) return;
    if (this.#sizes[lane] === 0) {
      const first = lane === 'edit' ? this.#now : this.#now + 1 / SHARES[lane];
      this.#due[lane] = Math.max(this.#due[lane], first);
    }
    groups.set(group, line.add(item));
    this.#sizes[lane] += 1;
  }

  delete(item: T, lane: Lane, group = ''): void {
    const line = this.#lines[lane].get(group);
    if (line?.delete(item) !== true) return;
    this.#sizes[lane] -= 1;
    if (line.size === 0) this.#lines[lane].delete(group);
  }

  /** Takes the item out whose turn it is, of the groups that are open in their lane. */
  take(isOpen: (lane: Lane, group: string) => boolean = () => true): { item: T; lane: Lane } | undefined {
    let next: { lane: Lane; group: string } | undefined;
    for (const lane of LANES) {
      if (next !== undefined && this.#due[lane] >= this.#due[next.lane]) continue;
      const group = this.#lines[lane].keys().find((one) => isOpen(lane, one));
      if (group !== undefined) next = { lane, group };
    }
    if (next === undefined) return undefined;
    const { lane, group } = next;
    // A lane that was closed may be due long since.
    this.#now = Math.max(this.#now, this.#due[lane]);
    this.#due[lane] = this.#now + 1 / SHARES[lane];
    return { item: this.#takeOf(lane, group), lane };
  }

  *[Symbol.iterator](): Generator<T> {
    for (const lane of LANES) for (const line of this.#lines[lane].values()) yield* line;
  }

  #takeOf(lane: Lane, group: string): T {
    const groups = this.#lines[lane];
    const line = groups.get(group) as Set<T>;
    const item = line.values().next().value as T;
    line.delete(item);
    this.#sizes[lane] -= 1;
    // The group goes to the end of the line.
    groups.delete(group);
    if (line.size > 0) groups.set(group, line);
    return item;
  }
}
