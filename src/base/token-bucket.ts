import type { Clock } from './clock.ts';

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
    if (this.untilNextMs() > 0) return false;
    this.#tokens -= 1;
    return true;
  }

  /** A token that was taken is not needed after all. */
  giveBack(): void {
    this.#tokens += 1;
  }

  /** Nothing is earned before `at` (monotonic milliseconds), and no burst is left for then. */
  pauseUntil(at: number): void {
    this.#refill();
    this.#tokens = Math.min(this.#tokens, 1);
    this.#at = Math.max(this.#at, at);
  }

  /** Milliseconds until a token is there; 0 when one is. */
  untilNextMs(): number {
    this.#refill();
    const pause = this.#at - this.#clock.monotonic();
    if (pause > 0) return Math.ceil(pause);
    return this.#tokens >= ONE ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs);
  }

  /** Whether the bucket is full again, so that its owner may forget it. */
  isFull(): boolean {
    this.#refill();
    return this.#tokens >= this.#burst;
  }

  #refill(): void {
    const earned = (this.#clock.monotonic() - this.#at) * this.#perMs;
    if (earned <= 0) return;
    this.#tokens = Math.min(this.#burst, this.#tokens + earned);
    this.#at = this.#clock.monotonic();
  }
}
