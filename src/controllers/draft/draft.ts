import type { BoxRecord, EventRecord, VariableRecord } from '../../service/index.ts';
import { canonicalJson } from '../../base/hash.ts';
import type { DesiredFile, DesiredVariable } from '../content/variables.ts';
import { mergeVariables, variableDifferences } from '../content/variables.ts';
import { isMap, leavesOf, mergeMap, type JsonMap } from '../merge.ts';
import type { Difference } from '../record/differences.ts';

/** One event's script as declared. */
export interface DesiredEvent {
  /** In the service's word. */
  event: string;
  destinationPath: string | undefined;
  file: DesiredFile;
}

/** A box of the service, of whatever type, as declared: the draft that a PUT brings. */
export interface Draft {
  name: string;
  /** What a PUT changes (interface document section 4.1), variables and events aside. */
  fields: Readonly<Record<string, unknown>>;
  /** What a PUT may change or silently keep (service-behaviour.md 3). */
  asked: Readonly<Record<string, unknown>>;
  variables: DesiredVariable[];
  events: DesiredEvent[];
  /** Keyed hash of all of it. */
  hash: string;
}

/** All files of a draft. */
export function filesOf(draft: Draft): DesiredFile[] {
  return [
    ...draft.events.map((event) => event.file),
    ...draft.variables.flatMap((variable) => (variable.file === undefined ? [] : [variable.file])),
  ];
}

/** The body that makes the record the draft, and where they differ. */
export interface Plan {
  body: BoxRecord;
  differences: Difference[];
}

/** Plans the PUT: the record as read, with what is declared laid over it, what others added kept. */
export function planUpdate(
  record: BoxRecord,
  draft: Draft,
  managed: { variables: readonly string[]; events: readonly string[]; profile?: readonly string[] },
  urlOf: (file: DesiredFile) => EventRecord,
): Plan {
  const desired = draft.variables.map(({ wire, file }): VariableRecord =>
    file === undefined ? wire : { ...wire, value: urlOf(file).url },
  );
  const variables = mergeVariables({
    current: record.variables ?? [],
    managed: managed.variables,
    desired,
  });
  const profile = profileOf(record, draft, managed.profile ?? []);
  const declared = { ...draft.fields, ...draft.asked, ...profile, name: draft.name };
  const body: BoxRecord = { ...record, ...declared, variables };
  const differences = [
    ...fieldDifferences(record, declared),
    ...goneFrom('profile', record['profile'], declared.profile),
    ...variableDifferences(record.variables ?? [], variables),
  ];
  if (draft.events.length > 0 || record.events !== undefined) {
    const events = mergeEvents(record.events ?? {}, draft.events, managed.events, urlOf);
    body.events = events;
    differences.push(...eventDifferences(record.events ?? {}, events));
  }
  return { body, differences };
}

/** The profile that travels: what others added there stays, what we removed goes. */
function profileOf(record: BoxRecord, draft: Draft, managed: readonly string[]): { profile?: JsonMap } {
  const { profile: desired } = draft.asked;
  const current = record['profile'];
  if (!isMap(desired)) return {};
  return { profile: mergeMap({ current: isMap(current) ? current : {}, managed, desired }) };
}

/** What is ours once the draft is in place, so that it goes when it is declared no more. */
export function ownedBy(draft: Draft): { variables: string[]; profile: string[]; events: string[] } {
  return {
    variables: draft.variables.map(({ key }) => key),
    profile: profileLeaves(draft),
    events: draft.events.map(({ event }) => event),
  };
}

function profileLeaves(draft: Draft): string[] {
  return isMap(draft.asked['profile']) ? leavesOf(draft.asked['profile']).toSorted() : [];
}

/** Members that `current` has and `next` lacks. */
function goneFrom(path: string, current: unknown, next: unknown): Plan['differences'] {
  if (!isMap(current) || !isMap(next)) return [];
  return Object.entries(current).flatMap(([name, have]) => {
    const field = `${path}.${name}`;
    if (!Object.hasOwn(next, name)) return [{ field, want: 'absent', have: show(have) }];
    return goneFrom(field, have, next[name]);
  });
}

/** Fields among `asked` that an answer shows with the old value. */
export function keptFields(answer: BoxRecord, draft: Draft): Difference[] {
  return fieldDifferences(answer, draft.asked);
}

function mergeEvents(
  current: Readonly<Record<string, EventRecord>>,
  declared: readonly DesiredEvent[],
  managed: readonly string[],
  urlOf: (file: DesiredFile) => EventRecord,
): Record<string, EventRecord> {
  const names = new Set(declared.map(({ event }) => event));
  const events: Record<string, EventRecord> = Object.fromEntries(
    Object.entries(current).filter(([event]) => !names.has(event) && !managed.includes(event)),
  );
  for (const { event, destinationPath, file } of declared) {
    const blob = urlOf(file);
    const old = current[event];
    const { destination_path: _before, ...kept } = old?.url === blob.url ? old : blob;
    events[event] = {
      ...kept,
      ...(destinationPath === undefined ? {} : { destination_path: destinationPath }),
    };
  }
  return events;
}

function eventDifferences(
  current: Readonly<Record<string, EventRecord>>,
  wanted: Readonly<Record<string, EventRecord>>,
): Difference[] {
  const out: Difference[] = [];
  for (const [event, { url, destination_path: path }] of Object.entries(wanted)) {
    const old = current[event];
    if (old?.url !== url) out.push({ field: `events.${event}`, want: url, have: old?.url ?? 'absent' });
    else if (path !== undefined && old.destination_path !== path) {
      out.push({
        field: `events.${event}.destinationPath`,
        want: path,
        have: old.destination_path ?? 'absent',
      });
    }
  }
  for (const [event, { url }] of Object.entries(current)) {
    if (!Object.hasOwn(wanted, event)) out.push({ field: `events.${event}`, want: 'absent', have: url });
  }
  return out;
}

/** Declared fields that a record shows otherwise. What the service adds inside an object is no difference. */
export function fieldDifferences(
  record: Readonly<Record<string, unknown>>,
  declared: Readonly<Record<string, unknown>>,
): Difference[] {
  return Object.entries(declared)
    .filter(([field, want]) => !covers(record[field], want))
    .flatMap(([field, want]) => {
      const have = record[field];
      if (!isMap(have) || !isMap(want) || isNothing(want)) {
        return [{ field, want: show(want), have: show(have) }];
      }
      return fieldDifferences(have, want).map((found) => ({ ...found, field: `${field}.${found.field}` }));
    });
}

/** Whether `have` says all that `want` says: lists of words as sets, objects by the members wanted. */
function covers(have: unknown, want: unknown): boolean {
  if (want === undefined) return true;
  // Not every service says what is empty, or not so; some drop nulls and what holds nothing else.
  if (isNothing(want) && (have === undefined || isNothing(have))) return true;
  if (Array.isArray(want)) {
    if (!Array.isArray(have) || have.length !== want.length) return false;
    if (want.every((item) => typeof item === 'string')) return want.every((item) => have.includes(item));
    return want.every((item, i) => covers(have[i], item));
  }
  if (want !== null && typeof want === 'object') {
    return (
      have !== null &&
      typeof have === 'object' &&
      Object.entries(want).every(([key, value]) => covers((have as Record<string, unknown>)[key], value))
    );
  }
  if (have === want) return true;
  // Builds differ in whether a number travels as a number or as text.
  return isPlain(have) && isPlain(want) && String(have) === String(want);
}

function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isMap(value)) return isNoLifespan(value) || Object.values(value).every(isNothing);
  return value === null || value === '' || value === false;
}

function isNoLifespan(value: unknown): boolean {
  return canonicalJson(value) === canonicalJson({ operation: 'none' });
}

function isPlain(value: unknown): value is string | number | bigint | boolean {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}
