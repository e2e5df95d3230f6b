import { sleepOn, type Clock, type Timer } from './clock.ts';

interface Pending {
  at: number;
  order: number;
  fn: () => void;
}

/** So much may happen at one instant before it counts as a loop that never lets time pass. */
const TURNS_AT_ONE_INSTANT = 50_000;
/** So much of what looped last is told. */
const TOLD = 6;

/** Thrown by {@link VirtualClock.advance} when something goes round without letting time pass. */
export class TimeStandsStill extends Error {
  readonly code = 'TimeStandsStill';

  constructor(turns: number, monotonic: number, last: readonly string[]) {
    super(`${turns} turns at ${monotonic} ms without time moving on; the last were: ${last.join('; ')}`);
    this.name = 'TimeStandsStill';
  }
}

/**
 * A clock that stands still until a test moves it. Wall and monotonic time move together; `jumpWall` moves
 * the wall clock alone, as an operator's machine does when NTP corrects it.
 */
export class VirtualClock implements Clock {
  #mono = 0;
  #wallOffset: number;
  #order = 0;
  #pending: Pending[] = [];
  readonly #turnsAtMost: number;
  #turns = 0;
  #turnsAt = 0;
  #last: string[] = [];

  constructor(startWall = Date.UTC(2026, 0, 1), turnsAtMost = TURNS_AT_ONE_INSTANT) {
    this.#wallOffset = startWall;
    this.#turnsAtMost = turnsAtMost;
  }

  now(): number {
    return this.#wallOffset + this.#mono;
  }

  monotonic(): number {
    return this.#mono;
  }

  setTimer(ms: number, fn: () => void): Timer {
    const entry: Pending = { at: this.#mono + Math.max(ms, 0), order: this.#order++, fn };
    this.#pending.push(entry);
    return {
      cancel: () => {
        this.#pending = this.#pending.filter((other) => other !== entry);
      },
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Moves the wall clock by `ms` without moving monotonic time: no timer fires. */
  jumpWall(ms: number): void {
    this.#wallOffset += ms;
  }

  /**
   * Counts something that happens now: what goes round in promises alone fires no timer. False once too much has
   * happened at one instant; whoever is told so must not go on, and {@link advance} throws.
   */
  turn(what: string): boolean {
    if (this.#turnsAt !== this.#mono) {
      this.#turnsAt = this.#mono;
      this.#turns = 0;
      this.#last = [];
    }
    this.#turns += 1;
    const near = this.#turns > this.#turnsAtMost - 10 * TOLD;
    if (near && !this.#last.includes(what)) this.#last = [...this.#last, what].slice(-TOLD);
    return this.#turns <= this.#turnsAtMost;
  }

  /** Milliseconds until the earliest timer, or undefined when none waits. */
  untilNext(): number | undefined {
    const next = this.#next();
    return next === undefined ? undefined : Math.max(0, next.at - this.#mono);
  }

  /**
   * Moves time by `ms`, firing timers in order, and lets promises settle after each one. Throws
   * {@link TimeStandsStill} when something goes round at one instant.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#mono + ms;
    await calm();
    this.#mustMove();
    for (let next = this.#next(); next !== undefined && next.at <= end; next = this.#next()) {
      this.#mono = Math.max(this.#mono, next.at);
      this.#pending = this.#pending.filter((other) => other !== next);
      this.turn(`a timer: ${next.fn.toString().slice(0, 120)}`);
      next.fn();
      await calm();
      this.#mustMove();
    }
    this.#mono = end;
    await calm();
  }

  #mustMove(): void {
    if (this.#turnsAt === this.#mono && this.#turns > this.#turnsAtMost)
      throw new TimeStandsStill(this.#turns, this.#mono, this.#last);
  }

  #next(): Pending | undefined {
    let best: Pending | undefined;
    for (const entry of this.#pending) {
      if (best === undefined || entry.at < best.at || (entry.at === best.at && entry.order < best.order)) {
        best = entry;
      }
    }
    return best;
  }
}

/** Lets everything that only waits for promises and immediates run. */
export async function settle(rounds = ROUNDS): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

const ROUNDS = 5;
/** What is there in any process of tests, and moves nothing on: time-outs of the tests, and their way out. */
const IN_THE_BACKGROUND: ReadonlySet<string> = new Set(['MessagePort', 'PipeWrap', 'Timeout', 'TTYWrap']);

/**
 * The same for millions of steps: a turn of the event loop costs more than most of what happens in it, so it is
 * turned only for those who wait for it, and once for whoever is not known of.
 */
async function calm(): Promise<void> {
  for (let i = 0; i < ROUNDS; i++) {
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const waits = process.getActiveResourcesInfo().some((what) => !IN_THE_BACKGROUND.has(what));
    if (!waits) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
