import { sameJson } from '../../../src/kube/patches.ts';
import { copy, isRecord, type JsonRecord, type StoredObject } from './objects.ts';
import { Refusal } from './refusals.ts';

/** Which manager applied which fields of one object; paths as JSON text. Lists count as one field. */
export type Owners = Map<string, Set<string>>;

/** Metadata that no manager owns. */
const UNOWNED = new Set(['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp']);

/**
 * Server-side apply over nested objects with lists as single values: fields of the configuration are set and
 * owned, those that this manager applied before and left out now go unless another applied them too, and a
 * field that another manager set to something else is a conflict unless forced.
 */
export function applyConfiguration(
  live: StoredObject,
  configuration: JsonRecord,
  manager: string,
  options: { force: boolean; owners: Owners },
): StoredObject {
  const { force, owners } = options;
  const result = copy(live);
  const wanted = leaves(ownable(configuration));
  const conflicts: { path: string[]; by: string }[] = [];
  for (const [id, { path, value }] of wanted) {
    const others = [...owners].filter(([name, paths]) => name !== manager && paths.has(id));
    const differs = !sameJson(at(live, path), value);
    if (differs) {
      if (!force) for (const [by] of others) conflicts.push({ path, by });
      else for (const [, paths] of others) paths.delete(id);
    }
    set(result, path, value);
  }
  if (conflicts.length > 0) {
    const causes = conflicts.map(({ path, by }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with "${by}"`,
      field: `.${path.join('.')}`,
    }));
    const words = causes.map(({ message, field }) => `${message}: ${field}`).join(', ');
    throw new Refusal(
      409,
      'Conflict',
      `Apply failed with ${causes.length} conflict${causes.length === 1 ? '' : 's'}: ${words}`,
      { causes },
    );
  }
  for (const id of owners.get(manager) ?? []) {
    const shared = [...owners].some(([name, paths]) => name !== manager && paths.has(id));
    if (!wanted.has(id) && !shared) unset(result, JSON.parse(id) as string[]);
  }
  owners.set(manager, new Set(wanted.keys()));
  return result;
}

/** A write that was no apply takes over what it changed from those who applied it. */
export function takeOver(before: StoredObject, after: StoredObject, manager: string, owners: Owners): void {
  const writer = `${manager} (update)`;
  for (const [name, paths] of owners) {
    // What it took over before is its own already.
    if (name === manager || name === writer) continue;
    for (const id of paths) {
      const path = JSON.parse(id) as string[];
      if (sameJson(at(before, path), at(after, path))) continue;
      paths.delete(id);
      owners.set(writer, (owners.get(writer) ?? new Set()).add(id));
    }
  }
}

function ownable(configuration: JsonRecord): JsonRecord {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = configuration;
  const own = isRecord(metadata) ? Object.entries(metadata).filter(([key]) => !UNOWNED.has(key)) : [];
  return { ...rest, metadata: Object.fromEntries(own) };
}

function leaves(value: JsonRecord, path: string[] = []): Map<string, { path: string[]; value: unknown }> {
  const found = new Map<string, { path: string[]; value: unknown }>();
  for (const [key, member] of Object.entries(value)) {
    const here = [...path, key];
    if (isRecord(member)) for (const [id, leaf] of leaves(member, here)) found.set(id, leaf);
    else found.set(JSON.stringify(here), { path: here, value: member });
  }
  return found;
}

function at(object: unknown, path: readonly string[]): unknown {
  let value = object;
  for (const key of path) value = isRecord(value) ? value[key] : undefined;
  return value;
}

function set(object: JsonRecord, path: readonly string[], value: unknown): void {
  let target = object;
  for (const key of path.slice(0, -1)) {
    const next = target[key];
    const inner: JsonRecord = isRecord(next) ? next : {};
    target[key] = inner;
    target = inner;
  }
  target[path.at(-1) ?? ''] = value;
}

function unset(object: JsonRecord, path: readonly string[]): void {
  const parent = at(object, path.slice(0, -1));
  if (isRecord(parent)) delete parent[path.at(-1) ?? ''];
}
