import { LANES, moreUrgent, type Lane } from './priority.ts';

/** After so many turns of more urgent lanes, edits aside, a waiting lane has its own, so that none starves. */
const PASSED_OVER: Readonly<Record<Exclude<Lane, 'edit'>, number>> = { user: 8, normal: 1, periodic: 8 };
/** Edits go before all else; after so many in a row one turn is somebody else's. */
const EDITS_IN_A_ROW = 8;

/**
 * Items that wait for a turn, by lane. Edits go first. Then come what people have made or deleted and ordinary work,
 * turn about, and every now and then a periodic look. Within a lane each group (such as a namespace) has its turn,
 * and within a group it is first come, first served. An item is in one lane at a time.
 */
export class Lanes<T> {
  readonly #lines: Record<Lane, Map<string, Set<T>>> = {
    edit: new Map(),
    user: new Map(),
    normal: new Map(),
    periodic: new Map(),
  };
  readonly #sizes: Record<Lane, number> = { edit: 0, user: 0, normal: 0, periodic: 0 };
  readonly #passedOver: Record<Lane, number> = { edit: 0, user: 0, normal: 0, periodic: 0 };
  #editsInARow = 0;

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
    groups.set(group, line.add(item));
    this.#sizes[lane] += 1;
  }

  delete(item: T, lane: Lane, group = ''): void {
    const line = this.#lines[lane].get(group);
    if (line?.delete(item) !== true) return;
    this.#sizes[lane] -= 1;
    if (line.size === 0) this.#lines[lane].delete(group);
  }

  /** Takes the item out whose turn it is, of the lanes that are open. */
  take(isOpen: (lane: Lane) => boolean = () => true): { item: T; lane: Lane } | undefined {
    const waiting = LANES.filter((lane) => this.#sizes[lane] > 0 && isOpen(lane));
    const lane = this.#choose(waiting);
    if (lane === undefined) return undefined;
    this.#editsInARow = lane === 'edit' ? this.#editsInARow + 1 : 0;
    if (lane !== 'edit') this.#passOver(lane, waiting);
    return { item: this.#takeOf(lane), lane };
  }

  *[Symbol.iterator](): Generator<T> {
    for (const lane of LANES) for (const line of this.#lines[lane].values()) yield* line;
  }

  #choose(waiting: readonly Lane[]): Lane | undefined {
    const [first, ...others] = waiting;
    if (first !== 'edit') return this.#starved(waiting) ?? first;
    if (this.#editsInARow < EDITS_IN_A_ROW) return first;
    return this.#starved(others) ?? others[0] ?? first;
  }

  #passOver(lane: Lane, waiting: readonly Lane[]): void {
    this.#passedOver[lane] = 0;
    for (const other of waiting) {
      if (other !== lane && moreUrgent(lane, other) === lane) this.#passedOver[other] += 1;
    }
  }

  #starved(waiting: readonly Lane[]): Lane | undefined {
    return waiting.findLast((lane) => lane !== 'edit' && this.#passedOver[lane] >= PASSED_OVER[lane]);
  }

  #takeOf(lane: Lane): T {
    const groups = this.#lines[lane];
    const [group, line] = groups.entries().next().value as [string, Set<T>];
    const item = line.values().next().value as T;
    line.delete(item);
    this.#sizes[lane] -= 1;
    // The group goes to the end of the line.
    groups.delete(group);
    if (line.size > 0) groups.set(group, line);
    return item;
  }
}
