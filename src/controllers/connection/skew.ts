import { formatDuration } from '../../base/duration.ts';

/** Clocks that differ by more than this are told of, milliseconds. */
const TOLD_MS = 60_000;
/** What is told is taken back below this, and told anew when it has moved by so much, milliseconds. */
const SETTLED_MS = 45_000;
const MOVED_MS = 30_000;
const MINUTE_MS = 60_000;

/** The difference that status tells: what it told before, unless that has become wrong; undefined for none. */
export function tellableSkew(skewMs: number | undefined, told: number | undefined): number | undefined {
  if (skewMs === undefined) return told;
  if (Math.abs(skewMs) <= (told === undefined ? TOLD_MS : SETTLED_MS)) return undefined;
  return told !== undefined && Math.abs(skewMs - told) <= MOVED_MS ? told : skewMs;
}

/** The difference in words. */
export function skewText(skewMs: number): string {
  const minutes = Math.max(1, Math.round(Math.abs(skewMs) / MINUTE_MS)) * MINUTE_MS;
  const [which, effect] = skewMs > 0 ? ['ahead of', 'early'] : ['behind', 'late'];
  return (
    `The service's clock is about ${formatDuration(minutes)} ${which} the operator's: leases end that much ${effect}. ` +
    'Set the clock that is wrong'
  );
}
