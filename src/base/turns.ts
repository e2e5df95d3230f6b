/**
 * Takes turns at work that holds the event loop: parsing what came from outside, going through long lists. So much
 * is done in one turn of the loop; the rest waits for the next one, in order, and timers and sockets come between.
 */
export interface Turns {
  /** Resolves when it is the caller's turn. What is done next should take a few milliseconds at most. */
  take(): Promise<void>;
  /** The same for one owner, a namespace: owners have their turns one after the other, however much one has to do. */
  of(owner: string): Turns;
}

/** Everybody's turn at once, for what runs on a virtual clock: real time must not decide what happens first. */
export const noTurns: Turns = { take: () => Promise.resolve(), of: () => noTurns };

/** So long a turn of the event loop may take before others come, milliseconds. */
const SLICE_MS = 10;

/** {@link Turns} of the real event loop. */
export class EventLoopTurns implements Turns {
  readonly #now: () => number;
  /** Who waits, by owner, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** When the work of this turn of the loop began; undefined before there was any. */
  #began: number | undefined;
  /** Somebody has their turn, or will have the next. */
  #isServing = false;
  /** The rest waits for the next turn of the loop. */
  #isLate = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  take(): Promise<void> {
    return this.#take('');
  }

  of(owner: string): Turns {
    return { take: () => this.#take(owner), of: (other) => this.of(other) };
  }

  #take(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(owner);
      if (line === undefined) this.#waiting.set(owner, [resolve]);
      else line.push(resolve);
      if (!this.#isServing) this.#serve();
    });
  }

  /** The next of the owner whose turn it is; that owner comes last from then on. */
  #next(): (() => void) | undefined {
    for (const [owner, line] of this.#waiting) {
      this.#waiting.delete(owner);
      const next = line.shift();
      if (line.length > 0) this.#waiting.set(owner, line);
      return next;
    }
    return undefined;
  }

  /** Lets the next of those who wait go on; the next tick comes when all that follows from it has been done. */
  #serve(): void {
    this.#isServing = this.#waiting.size > 0;
    if (!this.#isServing) return;
    const now = this.#now();
    if (this.#began === undefined) {
      this.#began = now;
      setImmediate(() => {
        this.#began = undefined;
        if (this.#isLate) this.#serve();
      });
    }
    this.#isLate = now - this.#began >= SLICE_MS;
    if (this.#isLate) return;
    this.#next()?.();
    process.nextTick(() => this.#serve());
  }
}
