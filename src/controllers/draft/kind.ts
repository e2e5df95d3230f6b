import type { BoxRecord } from '../../service/index.ts';
import type { Misfit, StatusFields } from '../record/kind.ts';
import type { Candidate } from '../record/identity/search.ts';
import type { DraftResource } from './converge.ts';

/** Status fields that speak of one box record. */
export const DRAFT_FORGOTTEN = ['draftHash', 'files', 'managed', 'drift', 'secrets', 'appliedHash'] as const;

/** How a box record looks to a search: it carries the marker as a provisional name until its first PUT. */
export function boxCandidate(record: BoxRecord, marker: string, finalName: string): Candidate {
  return { id: record.id, marked: record.name === marker, named: record.name === finalName };
}

/** Whether a list entry shows the box as it is known. */
export function boxUnchanged(entry: BoxRecord, known: BoxRecord): boolean {
  return entry.updated !== undefined && entry.updated === known.updated && entry.name === known.name;
}

/** Whether a record is of the type that a kind stands for; the schema's last word tells (never whole URIs). */
export function misfitOf(record: BoxRecord, type: 'script' | 'policy'): Misfit | undefined {
  const last = record.schema?.split('/').at(-1);
  if (last === type) return undefined;
  return { kind: 'misfit', why: `it is a box of type "${last ?? 'unknown'}", not "${type}"` };
}

/** What the record alone shows. */
export function shownOf<R extends DraftResource>(record: BoxRecord): StatusFields<R> {
  return { id: record.id, uri: record.uri } as StatusFields<R>;
}
