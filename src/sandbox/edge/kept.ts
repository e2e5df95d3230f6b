import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/** Nothing, in any of the ways in which it can be written. */
export function isBlank(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Those of `names` that a request gives another value than the record shows. */
export function differing(names: readonly string[], shown: Fields, body: Fields): string[] {
  return names.filter((name) => {
    const given = body[name];
    if (given === undefined || (isBlank(given) && isBlank(shown[name]))) return false;
    return !isDeepStrictEqual(given, shown[name]);
  });
}

/** What a person is told of fields that a request cannot change, by the names that {@link differing} found. */
export function keptWarnings(names: readonly string[]): string[] {
  return names.map((name) => `${name} was not changed: this request cannot change it`);
}
