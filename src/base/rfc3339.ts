/**
 * A moment (milliseconds since the epoch) as Kubernetes writes it: RFC 3339, UTC, whole seconds
 * (metav1.Time). What is compared with it has to be cut to seconds too: see {@link wholeSecond}.
 */
export function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Cuts a moment (milliseconds) to the second. */
export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}
