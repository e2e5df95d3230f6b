import type { CurrentOperation } from '../../../api/instance.ts';
import { operationEvent, type InstanceRecord, type OperationRecord } from '../../../service/index.ts';
import type { SentOperation } from '../memory.ts';
import { pairOf, sameOperation } from '../pair.ts';

/** What is known of the operation that status says is under way. */
export interface OperationObservation {
  current: CurrentOperation;
  record: InstanceRecord;
  sent: SentOperation;
  /** The operations list, where it was asked for and could be read. */
  operations: { kind: 'read'; records: readonly OperationRecord[] } | { kind: 'unreadable' } | undefined;
  /** Monotonic milliseconds. */
  monotonic: number;
  lagWindowMs: number;
}

/** What to do about an operation that is under way. */
export type OperationStep =
  | { do: 'send' }
  | { do: 'lookAtOperations' }
  /** It runs, or its outcome is not known yet. */
  | { do: 'wait'; recheckAfterMs?: number }
  /** It certainly was not taken: note another try, then send it. */
  | { do: 'again' }
  /** It was refused with 409: the state has to be seen and decided upon anew. */
  | { do: 'drop' }
  | { do: 'end'; outcome: 'Succeeded' | 'Failed' | 'Superseded' };

/** How status and memory name one sending of one operation. */
export function operationKey(current: CurrentOperation): string {
  return `${current.event}/${current.startedAt}/${current.try}`;
}

/**
 * Follows an operation to its end. It is over when an ended record newer than the noted one has our event,
 * whatever the pair shows by now; where the list cannot be read, by the polling contract
 * (service-behaviour.md 2.4). It is sent again only when nothing has moved for a lag window.
 */
export function followOperation(seen: OperationObservation): OperationStep {
  const { current, record, sent, monotonic, lagWindowMs } = seen;
  if (sent.outcome === 'unsent') return { do: 'send' };
  const pair = pairOf(record);
  if (pair.state === 'processing') return { do: 'wait' };
  if (sent.outcome === 'conflict') return { do: 'drop' };

  const moved = record.updated !== current.updatedBefore;
  if (seen.operations === undefined) return { do: 'lookAtOperations' };
  if (seen.operations.kind === 'read') {
    const newer = newerThan(seen.operations.records, current.lastOperationId);
    const ours = newer.filter((operation) => matches(operation, current.event));
    const ended = ours.find((operation) => operation.state !== undefined && operation.state !== 'processing');
    if (ended !== undefined) {
      return { do: 'end', outcome: ended.state === 'unavailable' ? 'Failed' : 'Succeeded' };
    }
    // It is running by this list, and over by the record: one of the two trails.
    if (ours.length > 0) return { do: 'wait' };
    if (newer.length > 0 && moved && sent.outcome !== 'accepted') return { do: 'end', outcome: 'Superseded' };
  }
  const quietFor = monotonic - sent.quietSince;
  if (moved && sameOperation(pair.event, current.event)) {
    const unreadable = seen.operations.kind === 'unreadable';
    if (unreadable || quietFor >= lagWindowMs) {
      return { do: 'end', outcome: pair.state === 'unavailable' ? 'Failed' : 'Succeeded' };
    }
    return { do: 'wait', recheckAfterMs: lagWindowMs - quietFor };
  }
  if (quietFor < lagWindowMs) return { do: 'wait', recheckAfterMs: lagWindowMs - quietFor };
  if (moved) return { do: 'end', outcome: 'Superseded' };
  return { do: 'again' };
}

/** Records after the noted one; all of them when it is not listed (any more). */
export function newerThan(
  records: readonly OperationRecord[],
  lastId: string | undefined,
): readonly OperationRecord[] {
  if (lastId === undefined || lastId === NO_OPERATION) return records;
  const at = records.findIndex((record) => record.id === lastId);
  return at < 0 ? records : records.slice(at + 1);
}

/** Stands for "the list was empty". */
export const NO_OPERATION = '-';

function matches(operation: OperationRecord, event: string): boolean {
  const named = operationEvent(operation);
  return named !== undefined && sameOperation(named, event);
}
