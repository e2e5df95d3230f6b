import { BadAnswer, isObject } from '../call/decode.ts';
import type { AnyRecord } from './common.ts';

/** Judges one value: undefined when it is as it should be, else what it should be. May tidy the value. */
export type Check = (value: unknown, mode: Mode) => string | undefined;

/**
 * `strict` for single records; `entry` for those of a list, where a part of a wrong type is left out, since
 * one bad record must not hide all others and nothing is decided from a list entry alone.
 */
export type Mode = 'strict' | 'entry';

/** Characters. */
const LONGEST_WORD = 2_048;

export type Fields = Readonly<Record<string, Check>>;

export const text: Check = (value) => (typeof value === 'string' ? undefined : 'a string');
/**
 * A text that is kept or compared, such as a date or an id: no longer than any service means it, since what is kept
 * between passes is counted by its number.
 */
export const word: Check = (value) =>
  typeof value === 'string' && value.length <= LONGEST_WORD
    ? undefined
    : `a string of at most ${LONGEST_WORD} characters`;
export const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'a boolean');
export const count: Check = (value) => (['number', 'bigint'].includes(typeof value) ? undefined : 'a number');
export const anyObject: Check = (value) => (isObject(value) ? undefined : 'an object');

/** `check`, or null, which is kept. */
export function nullable(check: Check): Check {
  return (value, mode) => (value === null ? undefined : check(value, mode));
}

export function listOf(check: Check): Check {
  return (value, mode) => {
    if (!Array.isArray(value)) return 'a list';
    for (const member of value) {
      const wrong = check(member, mode);
      if (wrong !== undefined) return `a list in which each member is ${wrong}`;
    }
    return undefined;
  };
}

export function mapOf(check: Check): Check {
  return (value, mode) => {
    if (!isObject(value)) return 'an object';
    for (const member of Object.values(value)) {
      const wrong = check(member, mode);
      if (wrong !== undefined) return `an object in which each member is ${wrong}`;
    }
    return undefined;
  };
}

/** An object with these fields where they are present; `required` ones must be. Others are not looked at. */
export function objectOf(fields: Fields, ...required: readonly string[]): Check {
  return (value, mode) => {
    if (!isObject(value)) return 'an object';
    for (const [name, check] of Object.entries(fields)) {
      const wrong = checkField(value, name, check, mode, required.includes(name));
      if (wrong !== undefined) return `an object with ${name} ${wrong}`;
    }
    return undefined;
  };
}

function checkField(
  owner: Record<string, unknown>,
  name: string,
  check: Check,
  mode: Mode,
  required: boolean,
): string | undefined {
  const value = owner[name];
  const wrong = value === undefined ? undefined : check(value, mode);
  if (required) return wrong ?? (value === undefined ? 'present' : undefined);
  if (wrong === undefined) return undefined;
  // null says the same as absent.
  if (value === null || mode === 'entry') {
    Reflect.deleteProperty(owner, name);
    return undefined;
  }
  return wrong;
}

/**
 * Checks a record in place: its id (and that it is `id`, where given), then the fields relied on. Throws
 * {@link BadAnswer}, which names the field and never quotes its value.
 */
export function checkRecord(value: unknown, fields: Fields, mode: Mode, id?: string): AnyRecord {
  if (!isObject(value)) throw new BadAnswer('the record is not an object');
  const found = value['id'];
  if (typeof found !== 'string' || found === '') throw new BadAnswer('the record has no id');
  const tooLong = word(found, mode);
  if (tooLong !== undefined) throw new BadAnswer(`the id of the record is not ${tooLong}`);
  if (id !== undefined && found !== id) throw new BadAnswer('the record carries another id than asked for');
  for (const [name, check] of Object.entries(fields)) {
    const wrong = checkField(value, name, check, mode, false);
    if (wrong !== undefined) throw new BadAnswer(`field ${name} is not ${wrong}`);
  }
  return value as AnyRecord;
}
