import { sha256Base32 } from '../../../base/hash.ts';

/** As long as the name of a label value may be, so that it fits wherever a name is put. */
const LIMIT = 63;
/** Characters of the id's hash in a name that is there already. */
const HASH = 8;

/** What a name is chosen for. */
export interface Nameable {
  id: string;
  name?: string;
  created?: string;
}

/** What the cluster has of a kind: names with the id of the record, where one is known. */
export type TakenNames = ReadonlyMap<string, string | undefined>;

/**
 * A name for the resource of each record, by id: valid, and unique among them and what the cluster has. A record that
 * is a resource already keeps that name. Of several that come to one name the oldest has it, so that another record
 * later changes no name.
 */
export function namesFor(records: readonly Nameable[], taken: TakenNames): Map<string, string> {
  const names = new Map<string, string>();
  const used = new Set(taken.keys());
  const present = new Map(
    [...taken].flatMap(([name, id]) => (id === undefined ? [] : [[id, name] as const])),
  );
  const open: Nameable[] = [];
  for (const record of records) {
    const own = present.get(record.id);
    if (own === undefined) open.push(record);
    else names.set(record.id, own);
  }
  for (const record of open.toSorted(byAge)) {
    const plain = validName(record.name ?? '');
    const name = used.has(plain)
      ? `${plain.slice(0, LIMIT - HASH - 1)}-${sha256Base32(record.id).slice(0, HASH)}`
      : plain;
    used.add(name);
    names.set(record.id, name);
  }
  return names;
}

/** A text as the name of a resource: lower-case letters, digits and hyphens (RFC 1123 label). */
export function validName(text: string): string {
  const plain = text
    .slice(0, 1_024)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, LIMIT)
    .replace(/-$/, '');
  return plain === '' ? 'unnamed' : plain;
}

function byAge(a: Nameable, b: Nameable): number {
  return compare(a.created ?? '', b.created ?? '') || compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
