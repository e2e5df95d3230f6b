import { sleepOn, type Clock, type Timer } from './clock.ts';

interface Pending {
  at: number;
  order: number;
  fn: () => void;
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

  constructor(startWall = Date.UTC(2026, 0, 1)) {
    this.#wallOffset = startWall;
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

  /** Milliseconds until the earliest timer, or undefined when none waits. */
  untilNext(): number | undefined {
    const next = this.#next();
    return next === undefined ? undefined : Math.max(0, next.at - this.#mono);
  }

  /** Moves time by `ms`, firing timers in order, and lets promises settle after each one. */
  async advance(ms: number): Promise<void> {
    const end = this.#mono + ms;
    await settle();
    for (let next = this.#next(); next !== undefined && next.at <= end; next = this.#next()) {
      this.#mono = Math.max(this.#mono, next.at);
      this.#pending = this.#pending.filter((other) => other !== next);
      next.fn();
      await settle();
    }
    this.#mono = end;
    await settle();
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
export async function settle(rounds = 5): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
