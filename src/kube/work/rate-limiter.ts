import type { Clock } from '../../base/clock.ts';

/** One token, less what adding up fractions may have lost. */
const ONE = 1 - 1e-9;

/**
 * A bucket of tokens on monotonic time: `burst` at once, then `perSecond`. Nobody waits in it: who gets no
 * token drops what it had, or asks {@link TokenBucket.untilNextMs} and comes back.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  constructor(clock: Clock, options: { perSecond: number; burst: number }) {
    this.#clock = clock;
    this.#perMs = options.perSecond / 1_000;
    this.#burst = options.burst;
    this.#tokens = options.burst;
    this.#at = clock.monotonic();
  }

  /** Takes one token if there is one. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < ONE) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until a token is there; 0 when one is. */
  untilNextMs(): number {
    this.#refill();
    return this.#tokens >= ONE ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs);
  }

  /** Whether the bucket is full again, so that its owner may forget it. */
  isFull(): boolean {
    this.#refill();
    return this.#tokens >= this.#burst;
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
  }
}
