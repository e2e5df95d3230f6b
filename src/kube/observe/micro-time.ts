/**
 * A `metav1.MicroTime` as it travels: RFC 3339 in UTC with exactly six fractional digits; the API server
 * refuses any other number of them. `ms` is milliseconds since the epoch.
 */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.(\d{3})Z$/, '.$1000Z');
}
