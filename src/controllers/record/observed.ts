import type { AnyRecord, Write } from '../../service/index.ts';
import type { Convergence } from './kind.ts';
import type { Memory } from './memory.ts';
import type { ManagedResource } from './resource.ts';
import { verdict } from './status/verdict.ts';

/** So many looks in a row may be glances at a list; then the record is read singly again. */
export const GLANCES_LIMIT = 100;

/** No write to the record comes of this pass: the next one takes over what this has read, if it comes soon enough. */
export function takeOver({ observed }: Pick<Memory, 'observed'>): void {
  if (observed !== undefined) observed.takeOver = true;
}

/** What a list shows is acted upon only once the record was read singly. Undefined where it was. */
export function readFirst<R extends ManagedResource>(
  memory: Pick<Memory, 'glances'>,
): Convergence<R> | undefined {
  if (memory.glances === 0) return undefined;
  memory.glances = GLANCES_LIMIT;
  const said = verdict('Updating', 'The record is read before it is acted upon');
  return { verdict: said, fields: {}, afresh: true };
}

/** Notes the answer of a write to, or a create of, a record. Returns the record when the answer held one. */
export function noteWrite<Rec extends AnyRecord>(
  memory: Memory<Rec>,
  write: Write<Rec | undefined>,
  stamp: number,
): void {
  if (write.kind === 'ok') memory.warnings.note(write.warnings ?? []);
  const endedAt = write.kind === 'notSent' ? undefined : write.endedAt;
  if (write.kind === 'refused' || endedAt === undefined) return;
  memory.lastWriteEndedAt = endedAt;
  memory.absence.noteWrite(stamp);
  if (write.kind === 'ok' && write.record !== undefined) {
    memory.observed = { record: write.record, startedAt: write.endedAt, takeOver: true };
  }
}

/** Whether `record` shows an older state than `known`, by the service's own `updated`. */
export function isOlder(record: AnyRecord, known: AnyRecord | undefined): boolean {
  return (
    known !== undefined &&
    known.id === record.id &&
    typeof record.updated === 'string' &&
    typeof known.updated === 'string' &&
    record.updated < known.updated
  );
}

/**
 * Whether `entry` certainly shows a later state than `known`, by the service's own `updated`. An entry that does not say
 * when it is of may trail, and show how the operation before the one that runs has ended.
 */
export function isNewer(entry: AnyRecord, known: { updated?: string | undefined }): boolean {
  return (
    typeof entry.updated === 'string' && typeof known.updated === 'string' && entry.updated > known.updated
  );
}
