/** The first and the last moment that four digits of a year can write, milliseconds since the epoch. */
const FIRST = Date.parse('0000-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59Z');
const MINUTE_MS = 60_000;

/**
 * A moment (milliseconds since the epoch) as Kubernetes writes it: RFC 3339, UTC, whole seconds
 * (metav1.Time). What is compared with it has to be cut to seconds too: see {@link wholeSecond}. One that four
 * digits of a year cannot write is held at the edge.
 */
export function rfc3339(ms: number): string {
  return `${new Date(atEdge(ms, LAST)).toISOString().slice(0, 19)}Z`;
}

/** The moment that RFC 3339 text names, milliseconds; NaN for other text. A leap second is the second before it. */
export function parseRfc3339(text: string): number {
  return Date.parse(text.replace(/:60(?=[.Zz+-])/, ':59'));
}

/** Rounds a moment (milliseconds) up to the minute; one that cannot be written is held at the edge. */
export function wholeMinute(ms: number): number {
  const last = Math.floor(LAST / MINUTE_MS) * MINUTE_MS;
  return atEdge(Math.ceil(ms / MINUTE_MS) * MINUTE_MS, last);
}

function atEdge(ms: number, last: number): number {
  return Math.min(Math.max(ms, FIRST), last);
}

/** Cuts a moment (milliseconds) to the second. */
export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}
