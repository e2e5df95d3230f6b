import { isBlank } from '../edge/kept.ts';
import type { BoxDoc, Variable } from '../model.ts';

interface Change {
  name: string;
  previous: unknown;
  new: unknown;
}

interface Differences {
  removed: unknown[];
  added: unknown[];
  changed: Change[];
}

/** What PUT /services/boxes/{box_id}/diff answers (interface document section 4.1). */
export interface BoxDiff {
  box_variables: Differences & { files_diff: Change[] };
  box_profile_properties?: Differences & { title: string };
  box_details: Differences;
  box_events: { name: string; state: 'added' | 'removed' | 'changed'; previous: unknown; new: unknown }[];
  changed: boolean;
}

/** Details by their display names. */
const DETAILS: readonly [string, string][] = [
  ['name', 'Name'],
  ['description', 'Description'],
  ['icon', 'Icon'],
  ['visibility', 'Visibility'],
  ['automatic_updates', 'Automatic Updates'],
  ['requirements', 'Requirements'],
  ['claims', 'Claims'],
  ['members', 'Members'],
  ['provider_id', 'Provider'],
  ['lifespan', 'Lifespan'],
  ['readme', 'Readme'],
  ['type', 'Type'],
  ['dockerfile', 'Dockerfile'],
];

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * The stored box is the previous one, `other` the new one; members that `other` lacks are not compared. A
 * renamed variable is one removed and one added.
 */
export function boxDiff(
  stored: BoxDoc,
  other: Readonly<Record<string, unknown>>,
  show: (variable: Variable) => Variable = (variable) => variable,
): BoxDiff {
  const previous: Record<string, unknown> = { ...stored, ...stored.fields };
  const variables = variableDiff(
    stored.variables,
    (other['variables'] ?? stored.variables) as Variable[],
    show,
  );
  const details = named(
    DETAILS.filter(([field]) => other[field] !== undefined).map(([field, name]) => ({
      name,
      previous: previous[field],
      new: other[field],
    })),
  );
  const events = eventDiff(previous['events'], other['events'] ?? previous['events']);
  const profile = stored.kind === 'policy' ? profileDiff(previous['profile'], other['profile']) : undefined;
  const parts = [variables, details, ...(profile === undefined ? [] : [profile])];
  return {
    box_variables: variables,
    ...(profile === undefined ? {} : { box_profile_properties: profile }),
    box_details: details,
    box_events: events,
    changed:
      events.length > 0 ||
      variables.files_diff.length > 0 ||
      parts.some((part) => part.removed.length + part.added.length + part.changed.length > 0),
  };
}

function named(pairs: readonly Change[]): Differences {
  const differences: Differences = { removed: [], added: [], changed: [] };
  for (const pair of pairs) {
    if (same(pair.previous, pair.new) || (isBlank(pair.previous) && isBlank(pair.new))) continue;
    if (isBlank(pair.previous)) differences.added.push({ name: pair.name, new: pair.new });
    else if (isBlank(pair.new)) differences.removed.push({ name: pair.name, previous: pair.previous });
    else differences.changed.push(pair);
  }
  return differences;
}

const keyOf = (variable: Variable): string =>
  variable.scope === undefined || variable.scope === ''
    ? variable.name
    : `${variable.scope}.${variable.name}`;

function variableDiff(
  before: readonly Variable[],
  after: readonly Variable[],
  show: (variable: Variable) => Variable,
): Differences & { files_diff: Change[] } {
  const old = new Map(before.map((variable) => [keyOf(variable), variable]));
  const fresh = new Map(after.map((variable) => [keyOf(variable), variable]));
  const changed: Change[] = [];
  const files: Change[] = [];
  for (const [name, variable] of fresh) {
    const was = old.get(name);
    if (was === undefined || sameVariable(was, variable)) continue;
    changed.push({ name, previous: show(was), new: show(variable) });
    if (variable.type === 'File' && !same(was.value, variable.value)) {
      files.push({ name, previous: was.value, new: variable.value });
    }
  }
  return {
    removed: before.filter((variable) => !fresh.has(keyOf(variable))).map(show),
    added: after.filter((variable) => !old.has(keyOf(variable))).map(show),
    changed,
    files_diff: files,
  };
}

const plain = (variable: Variable): unknown[] => [
  variable.type,
  variable.value ?? '',
  variable.required ?? false,
  variable.visibility ?? 'public',
];

function sameVariable(a: Variable, b: Variable): boolean {
  return same(plain(a), plain(b));
}

function profileDiff(before: unknown, after: unknown): Differences & { title: string } {
  const old = (before ?? {}) as Record<string, unknown>;
  const fresh = (after ?? before ?? {}) as Record<string, unknown>;
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
  return {
    title: 'Profile',
    ...named(names.map((name) => ({ name, previous: old[name], new: fresh[name] }))),
  };
}

function eventDiff(before: unknown, after: unknown): BoxDiff['box_events'] {
  const old = (before ?? {}) as Record<string, { url?: string } | undefined>;
  const fresh = (after ?? {}) as Record<string, { url?: string } | undefined>;
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter((name) => old[name]?.url !== fresh[name]?.url)
    .map((name) => ({
      name,
      state: old[name] === undefined ? 'added' : fresh[name] === undefined ? 'removed' : 'changed',
      previous: old[name] ?? null,
      new: fresh[name] ?? null,
    }));
}
