import type { Clock } from './clock.ts';
import { OWNER_SHARE, Tally } from './tally.ts';

/** What memory is held for. */
export const HELD_FOR = ['answers', 'lists', 'contents'] as const;
export type HeldFor = (typeof HELD_FOR)[number];

/** So long something waits until it fits, milliseconds: less than a call or a pass may take. */
const WAIT_MS = 20_000;

/** What is no larger waits in no line: it has room where larger ones have not, bytes. */
export const SMALL_HOLD = 262_144;
/** What is larger may fill so much of the whole. */
const LARGE_SHARE = 3 / 4;

/** Thrown where something does not fit beside what is held already; its message says what to do. */
export class MemoryBudgetError extends Error {
  readonly code = 'MemoryBudget';
  constructor(message: string) {
    super(message);
    this.name = 'MemoryBudgetError';
  }
}

/** Room that is held. It may grow and shrink until it is released. */
export interface Hold {
  readonly size: number;
  /** Sets the size where that fits now; false where it does not. */
  trySet(size: number): boolean;
  /**
   * Sets the size, once that fits.
   * @throws MemoryBudgetError where it does not fit in time, or never will; the signal's reason when aborted
   */
  set(size: number, signal?: AbortSignal): Promise<void>;
  release(): void;
}

/** One owner's part of the budget. */
export interface MemoryShare {
  /**
   * Nothing at first.
   * @param giveUp - where what is held can be had again: called when the room is wanted for something else, and
   * releases it at once
   */
  open(what: HeldFor, giveUp?: () => void): Hold;
}

interface Waiter {
  owner: string;
  /** What it holds and what it wants. */
  from: number;
  to: number;
  go(): void;
}

type Want = Pick<Waiter, 'owner' | 'from' | 'to'>;

const TAKEN =
  'the memory that the operator has for answers and contents is taken by others: it is tried again. Where this stays so, ' +
  'spread the work over more time';

/**
 * The memory that everything from outside may take: answers while they arrive and are read, records and lists that
 * are kept, contents in hand. Counted in bytes of the heap, as {@link weightOf} estimates them. What does not fit
 * waits in order, for a while; one owner (a namespace) holds a third at most. What an owner keeps only to have it at
 * hand makes room first: for the owner itself, and for whoever holds less.
 */
export class MemoryBudget {
  readonly capacity: number;
  readonly #clock: Clock;
  readonly #held = new Tally();
  readonly #byUse = new Map<HeldFor, number>();
  #waiting: Waiter[] = [];
  /** What can be given up, the oldest first. */
  readonly #spare = new Set<{ owner: string; giveUp: () => void }>();
  #onRefusal: () => void = () => undefined;

  /** @param capacity - bytes */
  constructor({ capacity, clock }: { capacity: number; clock: Clock }) {
    this.capacity = capacity;
    this.#clock = clock;
  }

  /** Bytes held for a use. */
  heldFor(what: HeldFor): number {
    return this.#byUse.get(what) ?? 0;
  }

  /** How many wait until they fit. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Hears of each refusal; one listener. */
  onRefusal(listener: () => void): void {
    this.#onRefusal = listener;
  }

  /** The most that one owner may hold, bytes. */
  get most(): number {
    return Math.floor(this.capacity * OWNER_SHARE);
  }

  share(owner: string): MemoryShare {
    return { open: (what, giveUp) => this.#open(owner, what, giveUp) };
  }

  #open(owner: string, what: HeldFor, giveUp: (() => void) | undefined): Hold {
    let size = 0;
    let isReleased = false;
    const spare = giveUp === undefined ? undefined : { owner, giveUp };
    const change = (to: number): void => {
      this.#add(owner, what, to - size);
      size = to;
    };
    return {
      get size() {
        return size;
      },
      trySet: (to) => {
        const fits = !isReleased && (to <= size || this.#makesRoom({ owner, from: size, to }));
        if (fits) change(to);
        if (fits && spare !== undefined) this.#spare.add(spare);
        return fits;
      },
      set: async (to, signal) => {
        if (isReleased) return;
        const wanted: Waiter = { owner, from: size, to, go: () => isReleased || change(to) };
        if (to <= size || this.#makesRoom(wanted)) change(to);
        else await this.#wait(wanted, signal);
      },
      release: () => {
        if (spare !== undefined) this.#spare.delete(spare);
        change(0);
        isReleased = true;
      },
    };
  }

  /** Whether it fits now, without getting ahead of anybody who waits for room of all. */
  #fits(wanted: Want): boolean {
    if (!this.#fitsAll(wanted) || !this.#fitsOwner(wanted)) return false;
    return wanted.to <= SMALL_HOLD || !this.#waiting.some((other) => this.#fitsOwner(other));
  }

  /** Whether it fits now, or does once what can be had again is given up. */
  #makesRoom(wanted: Want): boolean {
    if (this.#fits(wanted)) return true;
    if (wanted.to > this.most) return false;
    for (const { giveUp } of [...this.#spare].filter(({ owner }) => owner === wanted.owner)) {
      giveUp();
      if (this.#fits(wanted)) return true;
    }
    if (!this.#fitsOwner(wanted)) return false;
    const [own, of] = [this.#held.of(wanted.owner), (owner: string): number => this.#held.of(owner)];
    for (const { owner, giveUp } of [...this.#spare].toSorted((a, b) => of(b.owner) - of(a.owner))) {
      if (of(owner) <= own) continue;
      giveUp();
      if (this.#fits(wanted)) return true;
    }
    return false;
  }

  #fitsAll({ from, to }: Want): boolean {
    return this.#held.total + to - from <= (to <= SMALL_HOLD ? this.capacity : this.capacity * LARGE_SHARE);
  }

  #fitsOwner({ owner, from, to }: Want): boolean {
    return this.#held.of(owner) + to - from <= this.most;
  }

  #refusal(why: string): MemoryBudgetError {
    this.#onRefusal();
    return new MemoryBudgetError(`${why}, or have the administrator raise the operator's memory limit`);
  }

  /** Two that hold much and want more would wait for each other: the second is refused at once. */
  #wouldBlock(wanted: Want): boolean {
    if (wanted.from <= SMALL_HOLD) return false;
    const forOwn = !this.#fitsOwner(wanted);
    return this.#waiting.some(
      (other) => other.from > SMALL_HOLD && (forOwn ? other.owner === wanted.owner : this.#fitsOwner(other)),
    );
  }

  async #wait(wanted: Waiter, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (wanted.to > this.most) {
      throw this.#refusal(
        `it takes more memory than the operator gives one namespace (${megabytes(this.most)}): make it smaller`,
      );
    }
    if (this.#wouldBlock(wanted)) throw this.#refusal(TAKEN);
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const waiter: Waiter = {
      ...wanted,
      go: () => {
        wanted.go();
        resolve(undefined);
      },
    };
    const leave = (error: Error): void => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter);
      reject(error);
      this.#serve();
    };
    const timer = this.#clock.setTimer(WAIT_MS, () => {
      leave(this.#refusal(TAKEN));
    });
    const onAbort = (): void => leave(signal?.reason as Error);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#waiting.push(waiter);
    try {
      await promise;
    } finally {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #add(owner: string, what: HeldFor, by: number): void {
    this.#held.add(owner, by);
    this.#byUse.set(what, this.heldFor(what) + by);
    if (by < 0) this.#serve();
  }

  /** Lets in order go on who fits now. */
  #serve(): void {
    for (;;) {
      const next =
        this.#waiting.find(
          (waiter) => this.#fitsOwner(waiter) && waiter.to <= SMALL_HOLD && this.#fitsAll(waiter),
        ) ?? this.#waiting.find((waiter) => this.#fitsOwner(waiter));
      if (next === undefined || !this.#fitsAll(next)) return;
      this.#waiting = this.#waiting.filter((other) => other !== next);
      next.go();
    }
  }
}

/** For whoever has no budget: everything fits. */
export const unlimitedMemory: MemoryShare = {
  open: () => ({
    size: 0,
    trySet: () => true,
    set: () => Promise.resolve(),
    release: () => undefined,
  }),
};

/**
 * Bytes of the heap that JSON takes once it is parsed: its text, and so much for each value, as V8 was measured to
 * need (an empty object with its place in a list takes 64).
 *
 * @param values - as {@link JsonSize} counts them.
 */
export function weightOf(bytes: number, values: number): number {
  return bytes + values * VALUE_BYTES;
}

const VALUE_BYTES = 48;

/** The same for a value that was parsed. */
export function weigh(value: unknown): number {
  let weight = 0;
  const open: unknown[] = [value];
  for (let one = open.pop(); open.length > 0 || one !== undefined; one = open.pop()) {
    weight += VALUE_BYTES;
    if (typeof one === 'string') weight += one.length;
    if (typeof one !== 'object' || one === null) continue;
    weight += VALUE_BYTES;
    if (!Array.isArray(one)) weight += Object.keys(one).length * VALUE_BYTES;
    for (const member of Object.values(one)) open.push(member);
  }
  return weight;
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1_048_576)} MiB`;
}
