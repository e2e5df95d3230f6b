/** What was refused is tried again after 10 minutes, doubling to 6 hours, unless what was refused changes. */
const FIRST_MS = 10 * 60_000;
const LONGEST_MS = 6 * 3_600_000;

/** Remembers one refusal: of what, when to try again, and what to say meanwhile. */
export class SlowRetry<T> {
  #refused: { fingerprint: string; count: number; retryAt: number; verdict: T } | undefined;

  /**
   * Notes that what `fingerprint` describes (generation, referenced contents, record state) was refused.
   * Returns the milliseconds until the next try.
   */
  refuse(fingerprint: string, verdict: T, now: number): number {
    const count = this.#refused?.fingerprint === fingerprint ? this.#refused.count + 1 : 1;
    const delay = Math.min(FIRST_MS * 2 ** (count - 1), LONGEST_MS);
    this.#refused = { fingerprint, count, retryAt: now + delay, verdict };
    return delay;
  }

  /** The refusal that still holds for `fingerprint`, or undefined when it may be tried. */
  holds(fingerprint: string, now: number): { verdict: T; retryAfterMs: number } | undefined {
    const refused = this.#refused;
    if (refused === undefined || refused.fingerprint !== fingerprint || now >= refused.retryAt)
      return undefined;
    return { verdict: refused.verdict, retryAfterMs: refused.retryAt - now };
  }

  /** Forgets the refusal: it went through. */
  clear(): void {
    this.#refused = undefined;
  }
}
