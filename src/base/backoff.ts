import type { Random } from './clock.ts';

/** How waits grow from one failure to the next, milliseconds. */
export interface Curve {
  /** Wait after the first failure. */
  firstMs: number;
  /** No wait grows longer than this, jitter aside. */
  longestMs: number;
  /** Largest share of the wait that is added at random. @default 0.2 */
  jitter?: number;
}

/** What may pass by itself: 5xx, the network, 429. At most 20 tries in an hour. */
export const PASSING: Curve = { firstMs: 1_000, longestMs: 5 * 60_000 };
/** What was refused, and stays so until somebody acts. At most nine tries in a day. */
export const REFUSED: Curve = { firstMs: 10 * 60_000, longestMs: 6 * 3_600_000 };
/** What may well never come, and is looked for ever more slowly. */
export const PATIENT: Curve = { firstMs: 1_000, longestMs: 6 * 3_600_000 };

const JITTER = 0.2;

/**
 * How long to wait after so many failures in a row, in whole milliseconds: doubling, up to the longest. Jitter and
 * `askedMs` (a Retry-After) only lengthen the wait, so that a bound on the number of tries holds.
 */
export function backoffMs(failures: number, curve: Curve, random: Random, askedMs = 0): number {
  const { firstMs, longestMs, jitter = JITTER } = curve;
  // The power overflows to Infinity for what fails for days; the minimum makes that the longest wait.
  const grown = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
  return Math.round(Math.max(grown, askedMs) * (1 + jitter * random()));
}

/** An interval with up to a tenth on top, so that looks that began together do not fall together for ever. */
export function jittered(ms: number, random: Random): number {
  return ms * (1 + 0.1 * random());
}

/**
 * When to look again at what has gone on for `ageMs`, milliseconds: soon at first, then less and less often, since it
 * may well go on for ever.
 */
export function lookAgainMs(ageMs: number, shortestMs: number, longestMs: number): number {
  return Math.min(Math.max(ageMs / 20, shortestMs), longestMs);
}
