/**
 * Durations as Kubernetes users write them: Go durations such as `90s`, `1h30m`, `250ms`.
 * Source of the syntax: Go's `time.ParseDuration`, without sign and without units below a millisecond,
 * which no field of ours needs.
 */
const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The pattern that the schemas carry for a duration; RE2-safe. */
export const DURATION_PATTERN = '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$';

const WHOLE = new RegExp(DURATION_PATTERN);
const PART = /([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/gy;

/** Thrown by {@link parseDuration} for text that is not a duration. */
export class InvalidDurationError extends Error {
  readonly code = 'InvalidDuration';
  constructor(text: string) {
    super(
      `"${text.slice(0, 40)}" is not a duration: write a number and a unit (ms, s, m, h), such as 90s or 8h`,
    );
    this.name = 'InvalidDurationError';
  }
}

/**
 * Milliseconds of a Go duration, to the nanosecond as the rules of the schemas compare it.
 * Throws {@link InvalidDurationError}.
 */
export function parseDuration(text: string): number {
  if (text.length > 40 || !WHOLE.test(text)) throw new InvalidDurationError(text);
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    total += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  }
  if (!Number.isFinite(total)) throw new InvalidDurationError(text);
  return Math.round(total * 1e6) / 1e6;
}

/** A duration for people: the two largest units, such as `1h30m`, `45s`, `250ms`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  const seconds = Math.round(ms / 1_000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([n]) => n > 0);
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n}${unit}`)
    .join('');
}
