/** Thrown inside the client for an id that cannot go into a path; turned into a `BadId` result. */
export class BadId extends Error {
  readonly code = 'BadId';

  constructor(name: string, why: string) {
    super(`{${name}} ${why}`);
    this.name = 'BadId';
  }
}

const longest = 512;

/**
 * Puts ids into a template, `/services/boxes/{box_id}`, each as one encoded segment. Ids come from annotations
 * and from the service, so one that would change the path's meaning is refused: throws {@link BadId}.
 */
export function fillPath(
  template: string,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, params[name] ?? ''));
  const pairs = Object.entries(query)
    .filter((pair): pair is [string, string] => pair[1] !== undefined)
    .map(([name, value]) => `${name}=${queryValue(name, value)}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

function segment(name: string, value: string): string {
  if (value === '') throw new BadId(name, 'is empty');
  if (value.length > longest) throw new BadId(name, `has more than ${longest} characters`);
  if (value === '.' || value === '..' || /[/\\\p{Cc}]/u.test(value)) {
    throw new BadId(name, 'holds a slash, a backslash, a control character or only dots');
  }
  if (!value.isWellFormed()) throw new BadId(name, 'is not well-formed Unicode');
  return encodeURIComponent(value);
}

function queryValue(name: string, value: string): string {
  if (!value.isWellFormed()) throw new BadId(name, 'is not well-formed Unicode');
  // The comma separates ids and need not be encoded in a query.
  return encodeURIComponent(value).replaceAll('%2C', ',');
}
