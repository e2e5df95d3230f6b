import type {
  BlobRecord,
  BoxRecord,
  EventRecord,
  MemberRecord,
  VariableRecord,
} from '../../service/index.ts';
import { canonicalJson } from '../../base/hash.ts';
import type { DesiredFile, DesiredVariable } from '../content/variables.ts';
import { mergeVariables, variableDifferences } from '../content/variables.ts';
import { isMap, leavesOf, mergeList, mergeMap, type JsonMap } from '../merge.ts';
import type { Difference } from '../record/differences.ts';

/** One event's script as declared. */
export interface DesiredEvent {
  /** In the service's word. */
  event: string;
  destinationPath: string | undefined;
  contentType?: string | undefined;
  file: DesiredFile;
}

/** Fields of a record that name one file. */
export const ATTACHMENTS = ['icon', 'readme', 'dockerfile'] as const;

/** A file that a field of the record names. */
export interface Attachment {
  field: (typeof ATTACHMENTS)[number];
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
  attachments: Attachment[];
  /** Each with its workspace. */
  members: MemberRecord[];
  /** Keyed hash of what is deployed from it. */
  hash: string;
  /** Keyed hash of the rest: who sees it, and how it looks; absent where nothing of that is declared. */
  about?: string | undefined;
}

/** All of a draft in one hash. */
export function wholeOf({ hash, about }: Pick<Draft, 'hash' | 'about'>): string {
  return about === undefined ? hash : `${hash} ${about}`;
}

/** All files of a draft. */
export function filesOf(draft: Draft): DesiredFile[] {
  return [
    ...draft.events.map((event) => event.file),
    ...draft.attachments.map(({ file }) => file),
    ...draft.variables.flatMap((variable) => (variable.file === undefined ? [] : [variable.file])),
  ];
}

/** The body that makes the record the draft, and where they differ. */
export interface Plan {
  body: BoxRecord;
  differences: Difference[];
}

/** A file as status notes it. */
export interface NotedFile {
  hmac: string;
  url: string;
}

/** What on a record is ours, so that it goes when it is declared no more. */
export interface Managed {
  variables: readonly string[];
  events: readonly string[];
  profile: readonly string[];
  members: readonly string[];
  /** The files that we put there, by the field that names them. */
  attachments: Partial<Readonly<Record<string, NotedFile>>>;
}

/** Plans the PUT: the record as read, with what is declared laid over it, what others added kept. */
export function planUpdate(
  record: BoxRecord,
  draft: Draft,
  managed: Managed,
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
  const profile = profileOf(record, draft, managed.profile);
  const attached = attachedFields(record, draft, managed.attachments, urlOf);
  const declared = { ...draft.fields, ...draft.asked, ...profile, name: draft.name };
  const members = mergeMembers(record.members ?? [], draft.members, managed.members);
  const body: BoxRecord = { ...record, ...declared, ...attached, variables };
  if (members.length > 0 || record.members !== undefined) body.members = members;
  const differences = [
    ...differencesFrom(record, declared),
    ...attachedDifferences(record, attached),
    ...goneFrom('profile', record['profile'], declared.profile),
    ...memberDifferences(record.members ?? [], members),
    ...variableDifferences(record.variables ?? [], variables),
  ];
  if (draft.events.length > 0 || record.events !== undefined) {
    const events = mergeEvents(record.events ?? {}, draft.events, managed.events, urlOf);
    body.events = events;
    differences.push(...eventDifferences(record.events ?? {}, events, draft.events));
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

/** What is ours once the draft is in place. */
export function ownedBy(draft: Draft, urlOf: (file: DesiredFile) => EventRecord): Managed {
  return {
    variables: draft.variables.map(({ key }) => key),
    profile: profileLeaves(draft),
    members: draft.members.map(({ workspace = '' }) => workspace),
    events: draft.events.map(({ event }) => event),
    attachments: Object.fromEntries(
      draft.attachments.map(({ field, file }) => [field, { hmac: file.shown, url: urlOf(file).url }]),
    ),
  };
}

/** What an answer to the PUT does not show: fields whose old value the service may keep, and others. */
export function unshownIn(
  answer: BoxRecord,
  draft: Draft,
  managed: Managed,
  urlOf: (file: DesiredFile) => EventRecord,
): { kept: Difference[]; others: Difference[] } {
  const owned = ownedBy(draft, urlOf);
  // What we took away and the service keeps is ours still.
  const attachments = { ...managed.attachments, ...owned.attachments };
  const { differences } = planUpdate(answer, draft, { ...owned, attachments }, urlOf);
  const isKept = ({ field }: Difference): boolean => isAsked(field, draft);
  return { kept: differences.filter(isKept), others: differences.filter((one) => !isKept(one)) };
}

/** Whether the service may keep its own value of a field (service-behaviour.md 3). */
export function isAsked(field: string, draft: Draft): boolean {
  const [name = ''] = field.split('.', 1);
  return Object.hasOwn(draft.asked, name) || name === 'readme' || name === 'dockerfile';
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

/** The fields that name a file: where it is, or null where we put one there that is declared no more. */
function attachedFields(
  record: BoxRecord,
  draft: Draft,
  managed: Managed['attachments'],
  urlOf: (file: DesiredFile) => EventRecord,
): Record<string, string | BlobRecord | null> {
  const fields: Record<string, string | BlobRecord | null> = {};
  for (const field of ATTACHMENTS) {
    const file = draft.attachments.find((one) => one.field === field)?.file;
    const have = urlIn(record[field]);
    if (file !== undefined) {
      const blob = urlOf(file);
      fields[field] = field === 'icon' ? blob.url : have === blob.url ? (record[field] as BlobRecord) : blob;
    } else if (have !== undefined && have === managed[field]?.url) {
      fields[field] = null;
    }
  }
  return fields;
}

/** A file is where its URL says: an icon is the URL itself. */
export function urlIn(value: unknown): string | undefined {
  const url = isMap(value) ? value['url'] : value;
  return typeof url === 'string' && url !== '' ? url : undefined;
}

function attachedDifferences(record: BoxRecord, attached: Readonly<Record<string, unknown>>): Difference[] {
  return Object.entries(attached).flatMap(([field, value]) => {
    const [want, have] = [urlIn(value), urlIn(record[field])];
    return want === have ? [] : [{ field, want: want ?? 'absent', have: have ?? 'absent' }];
  });
}

function mergeMembers(
  current: readonly MemberRecord[],
  desired: readonly MemberRecord[],
  managed: readonly string[],
): MemberRecord[] {
  return mergeList<MemberRecord>({
    current,
    managed,
    desired,
    keyOf: ({ workspace }) => workspace ?? '',
    combine: (member, declared) => ({ ...member, ...declared }),
  });
}

function roles(members: readonly MemberRecord[]): Map<string, string> {
  return new Map(members.map(({ workspace = '', role = '' }) => [workspace, role]));
}

function memberDifferences(current: readonly MemberRecord[], merged: readonly MemberRecord[]): Difference[] {
  const [have, want] = [roles(current), roles(merged)];
  return [...new Set([...have.keys(), ...want.keys()])]
    .filter((workspace) => have.get(workspace) !== want.get(workspace))
    .map((workspace) => ({
      field: `members.${workspace}`,
      want: want.get(workspace) ?? 'absent',
      have: have.get(workspace) ?? 'absent',
    }));
}

/** What a record that does not say a field means by that (interface document section 2.1). */
const UNSAID: Readonly<Record<string, unknown>> = { visibility: 'workspace', automatic_updates: 'off' };

function differencesFrom(record: BoxRecord, declared: Readonly<Record<string, unknown>>): Difference[] {
  const said = Object.entries(declared).filter(
    ([field, want]) => record[field] !== undefined || UNSAID[field] !== want,
  );
  return fieldDifferences(record, Object.fromEntries(said));
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
  for (const { event, destinationPath, contentType, file } of declared) {
    const blob = urlOf(file);
    const old = current[event];
    const { destination_path: _before, ...kept } = old?.url === blob.url ? old : blob;
    events[event] = {
      ...kept,
      content_type: contentType ?? file.contentType,
      ...(destinationPath === undefined ? {} : { destination_path: destinationPath }),
    };
  }
  return events;
}

function eventDifferences(
  current: Readonly<Record<string, EventRecord>>,
  wanted: Readonly<Record<string, EventRecord>>,
  declared: readonly DesiredEvent[],
): Difference[] {
  const out: Difference[] = [];
  for (const { event, contentType: want } of declared) {
    const have = current[event]?.content_type ?? 'absent';
    // Builds say in different words what nobody has declared.
    if (current[event]?.url !== wanted[event]?.url || want === undefined || want === have) continue;
    out.push({ field: `events.${event}.contentType`, want, have });
  }
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
