/** More starts than {@link LOOP_STARTS} within this time are a loop, milliseconds. */
const LOOP_MS = 600_000;
const LOOP_STARTS = 3;
const HOUR_MS = 3_600_000;

/**
 * When this process and those before it started, milliseconds of wall time. What a process measures begins anew with the
 * next one: one that never lives long would try everything again each time.
 */
export class Restarts {
  readonly #starts: readonly number[];

  constructor(starts: readonly number[]) {
    this.#starts = starts;
  }

  /** Whether it starts over and over. */
  isLoop(now: number): boolean {
    return this.#within(LOOP_MS, now) > LOOP_STARTS;
  }

  /** How often it was started before within the last hour. */
  before(now: number): number {
    return Math.max(0, this.#within(HOUR_MS, now) - 1);
  }

  #within(ms: number, now: number): number {
    return this.#starts.filter((at) => at > now - ms && at <= now).length;
  }
}
