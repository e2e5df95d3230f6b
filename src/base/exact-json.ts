import { JsonLimitError } from './json-size.ts';

/**
 * JSON whose whole numbers are exact in both directions. JavaScript's numbers are exact up to 2^53 only, and
 * `JSON.parse` rounds in silence: what was read and is written back whole would come back changed. A whole number
 * beyond that is a bigint here; all others stay numbers.
 */

/** Only text with so long a run of digits can hold a number that is not exact. */
const LONG_NUMBER = /\d{16}/;
const WHOLE = /^-?\d+$/;
/** More digits say nothing that anybody could mean, and take seconds to read and to write. */
const MOST_DIGITS = 1_000;

/** A reviver's third argument and raw JSON, ECMAScript's "JSON.parse source text access". */
type ReviverWithSource = (
  this: unknown,
  key: string,
  value: unknown,
  context: { source?: string },
) => unknown;

const parseWithSource = JSON.parse as (text: string, reviver: ReviverWithSource) => unknown;
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

/**
 * Parses JSON; throws what `JSON.parse` throws, and a {@link JsonLimitError} for a whole number of more than 1,000 digits.
 *
 * @param drop - names of members that are left out.
 */
export function parseExactJson(text: string, drop?: (name: string) => boolean): unknown {
  const isLong = LONG_NUMBER.test(text);
  // A reviver costs three times the parsing: only the rare text that needs it pays.
  if (!isLong && drop === undefined) return JSON.parse(text);
  return parseWithSource(text, (name, value, { source }) => {
    if (drop?.(name) === true) return undefined;
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    if (source === undefined || !WHOLE.test(source)) return value;
    if (source.length > MOST_DIGITS) {
      throw new JsonLimitError('values', `a number in it has more than ${MOST_DIGITS} digits`);
    }
    return BigInt(source);
  });
}

/** JSON of a value that may hold bigints. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => raw(member));
}

/** What `JSON.stringify` writes digit for digit. */
export function raw(value: unknown): unknown {
  return typeof value === 'bigint' ? rawJSON(value.toString()) : value;
}
