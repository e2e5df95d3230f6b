import type { BoxRecord, Write } from '../../service/index.ts';
import { ofWorkspace } from '../record/listing.ts';
import type { Misfit, Pass, RecordKind, StatusFields } from '../record/kind.ts';
import type { Candidate } from '../record/identity/search.ts';
import { uploadFirst } from '../content/uploads.ts';
import { isInPlace, type DraftMemory, type DraftResource } from './converge.ts';
import { wholeOf, type Draft } from './draft.ts';

/** Status fields that speak of one box record. */
export const DRAFT_FORGOTTEN = ['draftHash', 'putBegun', 'files', 'managed', 'drift'] as const;

/** Status fields that say which content of a record is in place: who refers to it waits for these. */
export const IN_PLACE = ['id', 'draftHash'] as const;

/** What the last word of a box record's schema says that it is. */
export type BoxType = 'script' | 'policy' | 'docker' | 'cloudformation';

/** What is the same for every kind whose record is a box of the service. */
export function draftKind<R extends DraftResource, M extends DraftMemory>(
  typeOf: (resource: R) => BoxType,
): Omit<
  RecordKind<R, BoxRecord, Draft, M>,
  'type' | 'noun' | 'forgotten' | 'resolve' | 'converge' | 'observe' | 'users'
> {
  return {
    listing: ofWorkspace('boxes'),
    onMissing: 'Recreate',
    candidate: boxCandidate,
    showsNothingNew: boxUnchanged,
    meant: wholeOf,
    misfit: (record, { resource }) => misfitOf(record, typeOf(resource)),
    read: (handle, id, read) => handle.client.boxes.read(id, read),
    create: (pass, draft) => create(pass, typeOf(pass.resource), draft),
    // Others find it by its name.
    isUp: ({ name }, marker) => name !== marker,
    inStep: (resource, draft) => isInPlace(resource.status, draft),
    asks: 'delete',
    removal: () => Promise.resolve({ kind: 'send', how: 'delete' }),
    remove: ({ handle, priority, signal }, id) => handle.client.boxes.remove(id, { priority, signal }),
  };
}

/** Makes the record under a provisional name; the PUT that brings the rest gives it its own. */
async function create<R extends DraftResource, M extends DraftMemory>(
  pass: Pass<R, BoxRecord, M>,
  type: BoxType,
  draft: Draft,
): Promise<Write<BoxRecord>> {
  const { handle, marker, owner, memory, priority, signal } = pass;
  // A PUT can bring an icon; what else names a file may be taken from the create only.
  const first = draft.attachments.filter(({ field }) => field !== 'icon');
  const unsent = await uploadFirst(
    pass,
    first.map(({ file }) => file),
  );
  if (unsent !== undefined) return unsent;
  const blobs = first.map(({ field, file }) => [field, memory.uploads.get(file.path)?.blob]);
  const write = await handle.client.boxes.create(
    {
      schema: `${handle.schemaBase}/boxes/${type}`,
      name: marker,
      owner,
      visibility: 'workspace',
      automatic_updates: 'off',
      ...draft.fields,
      ...draft.asked,
      ...Object.fromEntries(blobs),
    },
    { priority, signal },
  );
  // Whatever the words: the blobs may be gone, as after a restore of the service.
  if (write.kind === 'refused') memory.uploads.clear();
  return write;
}

/** How a box record looks to a search: it carries the marker as a provisional name until its first PUT. */
export function boxCandidate(record: BoxRecord, marker: string, finalName: string): Candidate {
  return { id: record.id, marked: record.name === marker, named: record.name === finalName };
}

/** Whether a list entry shows the box as it is known. */
export function boxUnchanged(entry: BoxRecord, known: BoxRecord): boolean {
  return entry.updated !== undefined && entry.updated === known.updated && entry.name === known.name;
}

/** Whether a record is of the type that a kind stands for; the schema's last word tells (never whole URIs). */
export function misfitOf(record: BoxRecord, type: BoxType): Misfit | undefined {
  const of = record.version?.box;
  if (of !== undefined && of !== record.id) {
    return { kind: 'misfit', why: `it is a version of box ${of}, and versions never change: name that box` };
  }
  const last = record.schema?.split('/').at(-1);
  if (last === type) return undefined;
  return { kind: 'misfit', why: `it is a box of type "${last ?? 'unknown'}", not "${type}"` };
}

/** What the record alone shows. */
export function shownOf<R extends DraftResource>(record: BoxRecord): StatusFields<R> {
  return { id: record.id, uri: record.uri } as StatusFields<R>;
}
