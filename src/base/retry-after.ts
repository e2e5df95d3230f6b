/** No server is left alone for longer than this because it asked for it, milliseconds. */
const LONGEST_MS = 600_000;

/**
 * Milliseconds that a Retry-After header asks for, at most 10 minutes: seconds, or an HTTP date against `now` (wall
 * clock, milliseconds; without it dates are not understood). Undefined when there is none or it makes no sense.
 */
export function parseRetryAfter(header: string | undefined, now?: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text) * 1_000, LONGEST_MS);
  // Dates only: Date.parse would also take "-1" or "2".
  if (now === undefined || !/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), LONGEST_MS);
}
