const pattern = /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:Z|\+00:00)?$/;

/**
 * Milliseconds since the epoch of a service timestamp, `YYYY-MM-DD HH:MM:SS.ffffff` UTC (interface document
 * section 2); undefined for anything else, impossible dates included. Lenient in the fraction's length and in
 * `T` and `Z`, which other builds may send.
 */
export function parseTimestamp(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const match = pattern.exec(text.trim());
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as SixNumbers;
  const millis = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const date = new Date(0);
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, millis);
  // Date rolls 31 February over to March: not what was meant, so not understood.
  const same =
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute &&
    date.getUTCSeconds() === second;
  return same ? date.getTime() : undefined;
}

/** The service's form of a moment (milliseconds since the epoch). Throws RangeError outside the years 0 to 9999. */
export function formatTimestamp(ms: number): string {
  const iso = new Date(ms).toISOString();
  if (iso.length !== 24)
    throw new RangeError(`the service cannot write the moment ${iso}: its years have four digits`);
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}000`;
}

type SixNumbers = [number, number, number, number, number, number];
