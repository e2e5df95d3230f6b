import { backoffMs, type Curve } from '../../base/backoff.ts';
import type { Clock, Random, Timer } from '../../base/clock.ts';
import type { Priority } from '../results.ts';

export interface PaceOptions {
  requestsPerSecond: number;
  burst: number;
  inFlight: number;
  clock: Clock;
  random: Random;
}

/** The right to send one call. Exactly one of the two is called, once. */
export interface Permit {
  /** The call is over. */
  release(): void;
  /** The call was not sent after all: its token goes back. */
  refund(): void;
}

export type Turn =
  | { kind: 'granted'; permit: Permit }
  /** The service asked for a longer wait than is worth holding a caller for. */
  | { kind: 'paused'; retryAfterMs: number }
  | { kind: 'closed' };

/** How busy a budget is. */
export interface PaceState {
  /** Callers that wait for their turn. */
  waiting: number;
  /** Calls under way. */
  inFlight: number;
  /** Milliseconds for which nothing is sent because the service asked for it. */
  pausedMs: number;
}

interface Waiter {
  since: number;
  end(turn: Turn): void;
}

/** A head start (milliseconds of waiting) of each class over the next, so that nothing starves for ever. */
const handicap: Readonly<Record<Priority, number>> = { user: 0, normal: 60_000, periodic: 300_000 };
const priorities: readonly Priority[] = ['user', 'normal', 'periodic'];

/** A pause up to this long (milliseconds) is waited for in the queue; callers of a longer one are sent away. */
const shortPause = 5_000;
const longestPause = 600_000;
/** Pauses after 429s that name no time. */
const throttled: Curve = { firstMs: 1_000, longestMs: 60_000 };

/**
 * The budget of one Connection: a token bucket and a cap of calls in flight, in front of which callers queue
 * by priority, first come first served within each. A 429 pauses it as a whole.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #lanes: Record<Priority, Set<Waiter>> = {
    user: new Set(),
    normal: new Set(),
    periodic: new Set(),
  };
  #tokens: number;
  #refilledAt: number;
  #inFlight = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** 429s in a row without a Retry-After, for the growth of the pause. */
  #throttles = 0;
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#tokens = Math.max(1, options.burst);
    this.#refilledAt = options.clock.monotonic();
  }

  /** Waits for a turn. Rejects with the signal's reason when it is aborted first. */
  acquire(priority: Priority, signal?: AbortSignal): Promise<Turn> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    if (this.#closed) return Promise.resolve({ kind: 'closed' });
    const pause = this.pausedFor();
    if (pause > shortPause) return Promise.resolve({ kind: 'paused', retryAfterMs: pause });
    return new Promise((resolve, reject) => {
      const lane = this.#lanes[priority];
      const onAbort = (): void => {
        lane.delete(waiter);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        since: this.#options.clock.monotonic(),
        end: (turn) => {
          lane.delete(waiter);
          signal?.removeEventListener('abort', onAbort);
          resolve(turn);
        },
      };
      lane.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pump();
    });
  }

  /** Milliseconds for which nothing is sent because the service asked for it; 0 when it did not. */
  pausedFor(): number {
    return Math.max(0, this.#pausedUntil - this.#options.clock.monotonic());
  }

  state(): PaceState {
    const waiting = priorities.reduce((sum, priority) => sum + this.#lanes[priority].size, 0);
    return { waiting, inFlight: this.#inFlight, pausedMs: this.pausedFor() };
  }

  /**
   * The service answered 429 (or named a wait with a 503). Pauses for what it asked for, at most 10 minutes;
   * without a number for 1 s, doubling to 1 min. Answers how long the pause is now.
   */
  throttled(retryAfterMs: number | undefined): number {
    const { clock, random } = this.#options;
    const before = this.pausedFor();
    if (retryAfterMs === undefined && before > 0) return before;
    const wait = retryAfterMs ?? backoffMs(++this.#throttles, throttled, random);
    const pause = Math.max(before, Math.min(wait, longestPause));
    this.#pausedUntil = clock.monotonic() + pause;
    // No burst after the pause, and nothing earned during it.
    this.#tokens = Math.min(this.#tokens, 1);
    this.#refilledAt = this.#pausedUntil;
    if (pause > shortPause) this.#endAll({ kind: 'paused', retryAfterMs: pause });
    return pause;
  }

  /** The service took a call: the next 429 without a number starts at the short pause again. */
  accepted(): void {
    this.#throttles = 0;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#endAll({ kind: 'closed' });
  }

  #endAll(turn: Turn): void {
    for (const priority of priorities) {
      for (const waiter of this.#lanes[priority]) waiter.end(turn);
    }
  }

  #pump(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#inFlight < this.#options.inFlight) {
      const waiter = this.#next();
      if (waiter === undefined) return;
      const wait = this.#waitForToken();
      if (wait > 0) {
        this.#timer = this.#options.clock.setTimer(Math.ceil(wait), () => this.#pump());
        return;
      }
      this.#tokens -= 1;
      this.#inFlight += 1;
      waiter.end({ kind: 'granted', permit: this.#permit() });
    }
  }

  #waitForToken(): number {
    const { clock, requestsPerSecond, burst } = this.#options;
    const now = clock.monotonic();
    if (now < this.#pausedUntil) return this.#pausedUntil - now;
    const earned = ((now - this.#refilledAt) / 1_000) * requestsPerSecond;
    this.#tokens = Math.min(Math.max(1, burst), this.#tokens + earned);
    this.#refilledAt = now;
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / requestsPerSecond) * 1_000;
  }

  #next(): Waiter | undefined {
    let best: Waiter | undefined;
    let bestAt = Number.POSITIVE_INFINITY;
    for (const priority of priorities) {
      const head = this.#lanes[priority].values().next().value;
      if (head !== undefined && head.since + handicap[priority] < bestAt) {
        best = head;
        bestAt = head.since + handicap[priority];
      }
    }
    return best;
  }

  #permit(): Permit {
    let held = true;
    const end = (token: number): void => {
      if (!held) return;
      held = false;
      this.#inFlight -= 1;
      this.#tokens += token;
      this.#pump();
    };
    return { release: () => end(0), refund: () => end(1) };
  }
}
