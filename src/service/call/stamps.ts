import type { Clock } from '../../base/clock.ts';

/** Below every clock's resolution, above the rounding of numbers up to decades of milliseconds. */
const step = 0.001;

/**
 * Moments on the monotonic clock that are strictly ordered: two calls in the same clock tick (always the case
 * on a virtual clock) still have a before and an after, on which sharing a read depends.
 */
export class Stamps {
  readonly #clock: Clock;
  #last = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  next(): number {
    this.#last = Math.max(this.#clock.monotonic(), this.#last + step);
    return this.#last;
  }
}
