import { backoffMs, type Curve } from '../../base/backoff.ts';
import type { Clock, Random, Timer } from '../../base/clock.ts';
import { Lanes } from '../../base/lanes.ts';
import type { Lane, Priority } from '../../base/priority.ts';
import { TokenBucket } from '../../base/token-bucket.ts';

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
  end(turn: Turn): void;
}

/** A pause up to this long (milliseconds) is waited for in the queue; callers of a longer one are sent away. */
const shortPause = 5_000;
/** Pauses after 429s that name no time. */
const throttled: Curve = { firstMs: 1_000, longestMs: 60_000 };

/**
 * The budget of one Connection: a token bucket and a cap of calls in flight, in front of which callers wait in
 * lanes. A 429 pauses it as a whole.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #lanes = new Lanes<Waiter>();
  /** Work that has had a turn: its next call takes turns with the first calls of others, so that what is begun ends. */
  readonly #begun = new WeakSet<Priority>();
  readonly #bucket: TokenBucket;
  #inFlight = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** 429s in a row without a Retry-After, for the growth of the pause. */
  #throttles = 0;
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: PaceOptions) {
    this.#options = options;
    const { clock, requestsPerSecond, burst } = options;
    this.#bucket = new TokenBucket(clock, { perSecond: requestsPerSecond, burst: Math.max(1, burst) });
  }

  /** Waits for a turn. Rejects with the signal's reason when it is aborted first. */
  acquire(priority: Priority, signal?: AbortSignal): Promise<Turn> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    if (this.#closed) return Promise.resolve({ kind: 'closed' });
    const pause = this.pausedFor();
    if (pause > shortPause) return Promise.resolve({ kind: 'paused', retryAfterMs: pause });
    const turn = new Promise<Turn>((resolve, reject) => {
      let lane: Lane = priority.lane;
      const group = this.#begun.has(priority) ? 'goes on' : 'begins';
      const leave = (): void => {
        this.#lanes.delete(waiter, lane, group);
        unfollow();
        signal?.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        leave();
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        end: (ended) => {
          leave();
          if (ended.kind === 'granted') this.#begun.add(priority);
          resolve(ended);
        },
      };
      const unfollow = priority.onChange(() => {
        if (priority.lane === lane) return;
        this.#lanes.delete(waiter, lane, group);
        lane = priority.lane;
        this.#lanes.add(waiter, lane, group);
      });
      this.#lanes.add(waiter, lane, group);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    this.#pump();
    return priority.inLine(turn);
  }

  /** Milliseconds for which nothing is sent because the service asked for it; 0 when it did not. */
  pausedFor(): number {
    return Math.max(0, this.#pausedUntil - this.#options.clock.monotonic());
  }

  state(): PaceState {
    return { waiting: this.#lanes.size, inFlight: this.#inFlight, pausedMs: this.pausedFor() };
  }

  /**
   * The service answered 429 (or named a wait with a 503). Pauses for what it asked for; without a number for 1 s,
   * doubling to 1 min. Answers how long the pause is now.
   */
  throttled(retryAfterMs: number | undefined): number {
    const { clock, random } = this.#options;
    const before = this.pausedFor();
    if (retryAfterMs === undefined && before > 0) return before;
    const wait = retryAfterMs ?? backoffMs(++this.#throttles, throttled, random);
    const pause = Math.max(before, wait);
    this.#pausedUntil = clock.monotonic() + pause;
    this.#bucket.pauseUntil(this.#pausedUntil);
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
    for (const waiter of this.#lanes) waiter.end(turn);
  }

  #pump(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#inFlight < this.#options.inFlight) {
      if (this.#lanes.size === 0) return;
      if (!this.#bucket.tryTake()) {
        this.#timer = this.#options.clock.setTimer(this.#bucket.untilNextMs(), () => this.#pump());
        return;
      }
      this.#inFlight += 1;
      this.#lanes.take()?.item.end({ kind: 'granted', permit: this.#permit() });
    }
  }

  #permit(): Permit {
    let held = true;
    const end = (isSent: boolean): void => {
      if (!held) return;
      held = false;
      this.#inFlight -= 1;
      if (!isSent) this.#bucket.giveBack();
      this.#pump();
    };
    return { release: () => end(true), refund: () => end(false) };
  }
}
