import { ANNOTATION_NOTES, ANNOTATIONS, type AnnotationNote } from '../../src/api/names.ts';

/** All values that status and annotations have had, by where they stood: `Box/web status.files.[].hmac`. */
export type Values = ReadonlyMap<string, ReadonlySet<string>>;

/** What of a definition tells which fields there are. */
export interface Schema {
  type?: string;
  description?: string;
  enum?: readonly unknown[];
  format?: string;
  /** What a user has written, or what is only shown of the service. */
  token?: boolean;
  shown?: boolean;
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
}

/** The same manifests with one thing changed, each written by an operator of its own. */
export interface Runs {
  one: Values;
  /** With another secret, or with another content. */
  others: readonly Values[];
  /** With another key of the installation. */
  otherKey: Values;
}

/** What is known of places beforehand: by the end of their path, what stands there. */
export interface Known {
  /** Hashes of what is no secret and stands in spec anyway. */
  ofPublic: Readonly<Record<string, string>>;
  /** What no run shows, and is made of no content. */
  unseen: Readonly<Record<string, string>>;
}

/** Adds what an object says to what was said before. */
export function collect(
  values: Map<string, Set<string>>,
  {
    kind,
    metadata,
    status,
  }: { kind: string; metadata: { name: string; annotations?: object }; status?: object },
): void {
  add(values, `${kind}/${metadata.name} status`, status);
  add(values, `${kind}/${metadata.name} annotations`, metadata.annotations);
}

function add(values: Map<string, Set<string>>, path: string, value: unknown): void {
  if (typeof value === 'string' && value.startsWith('{')) add(values, path, JSON.parse(value));
  else if (Array.isArray(value)) for (const item of value) add(values, `${path}.[]`, item);
  else if (value !== null && typeof value === 'object') {
    for (const [member, inner] of Object.entries(value)) add(values, `${path}.${member}`, inner);
  } else if (value !== undefined && value !== null) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    values.set(path, (values.get(path) ?? new Set()).add(text));
  }
}

/**
 * M8: all in status and annotations that tells of a secret or a content is keyed, and so is each hash but those of what
 * is public. What no run has shown nobody has judged: every text that a definition allows in status, and every
 * annotation that the operator writes, has to be shown or known.
 *
 * @param statuses - the definitions of status, by kind.
 */
export function unkeyed(
  { one, others, otherKey }: Runs,
  { ofPublic, unseen }: Known,
  statuses: Readonly<Record<string, unknown>>,
  notes: Readonly<Record<string, AnnotationNote>> = ANNOTATION_NOTES,
): string[] {
  // Whatever it looks like: a value that another secret changes and another key does not is a hash without the key.
  const telling = [...one].flatMap(([path, values]) =>
    others
      .flatMap((other) => [...values.difference(valuesOf(other, path))])
      .some((value) => valuesOf(otherKey, path).has(value))
      ? [`${path} tells of a secret or a content whatever the key is`]
      : [],
  );
  const bare = [...one].flatMap(([path, values]) =>
    [...values.intersection(valuesOf(otherKey, path))].some(looksLikeHash) && !isNamed(path, ofPublic)
      ? [`${path} is a hash without the key`]
      : [],
  );
  const seen = new Set([...one.keys()].map((path) => path.replace(/\/\S+/, '')));
  const fields = Object.entries(statuses)
    .flatMap(([kind, status]) => textsOf(status as Schema, `${kind} status`))
    .filter((path) => !seen.has(path) && !isNamed(path, unseen));
  const written = annotationsOf(Object.keys(statuses), notes).filter(
    (path) => ![...seen].some((shown) => shown === path || shown.startsWith(`${path}.`)),
  );
  return [...telling, ...bare, ...[...fields, ...written].map((path) => `${path} is shown by no run`)];
}

/** How many values another secret or another content has changed: without any, nothing was judged. */
export function countTelling({ one, others }: Runs): number {
  return [...one].flatMap(([path, values]) =>
    others.flatMap((other) => [...values.difference(valuesOf(other, path))]),
  ).length;
}

function valuesOf(values: Values, path: string): ReadonlySet<string> {
  return values.get(path) ?? new Set();
}

function isNamed(path: string, ends: Readonly<Record<string, string>>): boolean {
  return Object.keys(ends).some((end) => path.replace(' ', '.').endsWith(end));
}

function looksLikeHash(value: string): boolean {
  return /(?<![a-z0-9-])([a-z2-7]{8}:)?[a-z2-7]{16,}(?![a-z0-9-])|bw-|[0-9a-f]{32,}/.test(value);
}

/** Where a definition allows a text of the operator's own making. */
function textsOf({ properties = {}, items }: Schema, path: string): string[] {
  return [
    ...(items === undefined ? [] : [...own(items, `${path}.[]`), ...textsOf(items, `${path}.[]`)]),
    ...Object.entries(properties).flatMap(([name, member]) => [
      ...own(member, `${path}.${name}`),
      ...textsOf(member, `${path}.${name}`),
    ]),
  ];
}

function own({ type, format, enum: words, token, shown }: Schema, path: string): string[] {
  const isFree = type === 'string' && format === undefined && words === undefined;
  return isFree && token !== true && shown !== true ? [path] : [];
}

/** Where the operator writes which annotation, of the kinds in question. */
function annotationsOf(kinds: readonly string[], notes: Readonly<Record<string, AnnotationNote>>): string[] {
  const names: Readonly<Record<string, string>> = ANNOTATIONS;
  return Object.entries(notes).flatMap(([key, { writtenBy, on }]) => {
    const written = writtenBy === 'operator' ? kinds : [];
    return written
      .filter((kind) => on.split(/\W+/).includes(kind))
      .map((kind) => `${kind} annotations.${names[key] ?? `boxwright.dev/${key}`}`);
  });
}
