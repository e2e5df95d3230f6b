import { backoffMs, type Curve } from '../../base/backoff.ts';
import type { Random } from '../../base/clock.ts';

/** 200 ms to 5 min, for keys whose reconcile failed. */
export const RECONCILE_BACKOFF: Curve = { firstMs: 200, longestMs: 300_000, jitter: 0.5 };

/** Counts failures per key and answers how long to wait before the next try. */
export class ItemBackoff {
  readonly #failures = new Map<string, number>();
  readonly #curve: Curve;
  readonly #random: Random;

  constructor(curve: Curve, random: Random) {
    this.#curve = curve;
    this.#random = random;
  }

  /** Counts one more failure of `key`; the wait before its next try, milliseconds. */
  next(key: string): number {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    return backoffMs(failures, this.#curve, this.#random);
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
