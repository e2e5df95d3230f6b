import type { Random } from '../../base/clock.ts';

/** How waits grow from one failure to the next. */
export interface BackoffOptions {
  /** Wait after the first failure, milliseconds. */
  baseMs: number;
  /** No wait is longer than this, milliseconds. */
  maxMs: number;
  /** Factor from one failure to the next. @default 2 */
  factor?: number;
  /** Share of the wait that is random, 0 to 1: a wait of `d` becomes anything from `d * (1 - jitter)` to `d`. @default 0.5 */
  jitter?: number;
}

/** 200 ms to 5 min, for keys whose reconcile failed. */
export const RECONCILE_BACKOFF: BackoffOptions = { baseMs: 200, maxMs: 300_000 };

/**
 * The wait before try number `failures + 1`, in whole milliseconds: `base * factor^(failures - 1)`, capped,
 * with the jitter taken off and never added, so that the cap holds.
 */
export function backoffDelay(failures: number, options: BackoffOptions, random: Random): number {
  const { baseMs, maxMs, factor = 2, jitter = 0.5 } = options;
  // Math.pow overflows to Infinity for a key that fails for days; min makes that the cap.
  const full = Math.min(maxMs, baseMs * Math.pow(factor, Math.max(0, failures - 1)));
  return Math.round(full * (1 - jitter * random()));
}

/** Counts failures per key and answers how long to wait before the next try. */
export class ItemBackoff {
  readonly #failures = new Map<string, number>();
  readonly #options: BackoffOptions;
  readonly #random: Random;

  constructor(options: BackoffOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** Counts one more failure of `key`; the wait before its next try, milliseconds. */
  next(key: string): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    return backoffDelay(failures, this.#options, this.#random);
  }

  /** Failures in a row so far. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The key succeeded or is gone: its next failure is a first one. */
  forget(key: string): void {
    this.#failures.delete(key);
  }
}
