/**
 * Time as an argument. Everything that waits or stamps takes a {@link Clock}, so that tests run on
 * {@link VirtualClock} and nothing ever sleeps for real in a unit test.
 */
export interface Clock {
  /** Wall-clock time, milliseconds since the epoch. May jump; only for stamps and for comparing with dates. */
  now(): number;
  /** Milliseconds that only ever grow. For every interval, deadline and lease. */
  monotonic(): number;
  /** Calls `fn` once, `ms` milliseconds from now (at once when not positive). */
  setTimer(ms: number, fn: () => void): Timer;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A pending call of {@link Clock.setTimer}. Cancelling twice, or after the call, does nothing. */
export interface Timer {
  cancel(): void;
}

/** A source of numbers in [0, 1), for jitter. `Math.random` in production, a constant or a seed in tests. */
export type Random = () => number;

/** The real clock. Its timers keep the process alive, like Node's own. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(ms, fn) {
    // Node turns delays above 2^31-1 into 1 ms; no timer here needs more than a day to be looked at again.
    const handle = setTimeout(fn, Math.min(Math.max(ms, 0), 86_400_000));
    return { cancel: () => clearTimeout(handle) };
  },
  sleep(ms, signal) {
    return sleepOn(systemClock, ms, signal);
  },
};

/** {@link Clock.sleep} in terms of {@link Clock.setTimer}, the same for every clock. */
export function sleepOn(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.setTimer(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
