import { backoffMs, PASSING } from '../../base/backoff.ts';
import type { Clock, Random } from '../../base/clock.ts';

export interface BreakerOptions {
  /** Consecutive failures that open it. */
  failures: number;
  clock: Clock;
  random: Random;
}

/** Given out with the right to call, handed back with the outcome. */
export interface Ticket {
  readonly probe: boolean;
  readonly epoch: number;
}

export type Entry<E> = { kind: 'go'; ticket: Ticket } | { kind: 'open'; retryAfterMs: number; cause: E };

/**
 * A circuit breaker: after some failures in a row nothing is sent for 1 s, doubling to 5 min (with jitter);
 * then one call goes as a probe, and its outcome closes or opens it again. `E` is what a failure is told by.
 */
export class Breaker<E> {
  readonly #options: BreakerOptions;
  #failed = 0;
  #openings = 0;
  #epoch = 0;
  #open: { until: number; cause: E; probing: boolean } | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  state(): 'closed' | 'open' | 'halfOpen' {
    if (this.#open === undefined) return 'closed';
    return this.#open.until > this.#options.clock.monotonic() ? 'open' : 'halfOpen';
  }

  /** Why a call would be turned away now, without taking the probe. */
  refusal(): { retryAfterMs: number; cause: E } | undefined {
    const open = this.#open;
    if (open === undefined) return undefined;
    const wait = open.until - this.#options.clock.monotonic();
    if (wait > 0) return { retryAfterMs: wait, cause: open.cause };
    // Whoever comes while the probe is out looks again soon.
    return open.probing ? { retryAfterMs: PASSING.firstMs, cause: open.cause } : undefined;
  }

  enter(): Entry<E> {
    const refusal = this.refusal();
    if (refusal !== undefined) return { kind: 'open', ...refusal };
    if (this.#open !== undefined) this.#open.probing = true;
    return { kind: 'go', ticket: { probe: this.#open !== undefined, epoch: this.#epoch } };
  }

  /** The service answered, whatever it said but 5xx. */
  succeeded(ticket: Ticket): void {
    if (ticket.epoch !== this.#epoch) return;
    this.#failed = 0;
    if (!ticket.probe) return;
    this.#open = undefined;
    this.#openings = 0;
    this.#epoch += 1;
  }

  failed(ticket: Ticket, cause: E): void {
    // Calls from before the breaker moved tell nothing new.
    if (ticket.epoch !== this.#epoch) return;
    this.#failed += 1;
    if (!ticket.probe && this.#failed < this.#options.failures) return;
    this.#openings += 1;
    const delay = backoffMs(this.#openings, PASSING, this.#options.random);
    this.#open = { until: this.#options.clock.monotonic() + delay, cause, probing: false };
    this.#failed = 0;
    this.#epoch += 1;
  }

  /** The call tells nothing: aborted by the caller, or never meant for the service. */
  undecided(ticket: Ticket): void {
    if (ticket.probe && ticket.epoch === this.#epoch && this.#open !== undefined) this.#open.probing = false;
  }
}
