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
  /** Who the connection's account is to the service; undefined where that is not known. */
  user: string | undefined;
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
 * Follows an operation to its end. It is over when an ended record newer than the noted one has our event and
 * user, whatever the pair shows by now; where the list cannot tell, by the polling contract
 * (service-behaviour.md 2.4). It is sent again only when there is no such record and nothing has moved for a lag
 * window.
 */
export function followOperation(seen: OperationObservation): OperationStep {
  const { current, record, sent, monotonic, lagWindowMs } = seen;
  const pair = pairOf(record);
  // Somebody else's began since it was noted: what there is to do is decided anew after its end.
  if (sent.outcome === 'unsent') return pair.state === 'processing' ? { do: 'drop' } : { do: 'send' };
  if (pair.state === 'processing') return { do: 'wait' };
  if (seen.operations === undefined) return { do: 'lookAtOperations' };

  const newer =
    seen.operations.kind === 'read' ? newerThan(seen.operations.records, current.lastOperationId) : undefined;
  const ours = newer?.filter((operation) => isOurs(operation, current.event, seen.user)) ?? [];
  const ended = ours.find((operation) => operation.state !== undefined && operation.state !== 'processing');
  if (ended !== undefined) return endedAs(ended.state);

  const moved = record.updated !== current.updatedBefore;
  const samePair = moved && sameOperation(pair.event, current.event);
  if (sent.outcome === 'conflict') {
    // An earlier try may have been what this one met.
    if (newer === undefined && samePair && current.try > 1) return endedAs(pair.state);
    return ours.length > 0 ? { do: 'wait' } : { do: 'drop' };
  }
  if (newer === undefined && samePair) return endedAs(pair.state);
  const quietFor = monotonic - sent.quietSince;
  // Something may move the record all the time; an operation is not waited for beyond its time-out for that.
  const left = Math.min(lagWindowMs - quietFor, sent.since + longestMs(current, lagWindowMs) - monotonic);
  if (left > 0) return { do: 'wait', recheckAfterMs: left };
  // It was taken, and the list never says how it ended.
  if (samePair && (sent.outcome === 'accepted' || ours.length > 0)) return endedAs(pair.state);
  const nobodyActed = newer?.length === 0;
  if (moved && !samePair && !nobodyActed) return { do: 'end', outcome: 'Superseded' };
  return ours.length > 0 ? { do: 'wait' } : { do: 'again' };
}

/** How long to wait for it at the most, milliseconds: as long as it was given when it was noted. */
function longestMs({ startedAt, deadline }: CurrentOperation, lagWindowMs: number): number {
  return Math.max(Date.parse(deadline) - Date.parse(startedAt), lagWindowMs);
}

function endedAs(state: string | undefined): OperationStep {
  return { do: 'end', outcome: state === 'unavailable' ? 'Failed' : 'Succeeded' };
}

/**
 * Records after the noted one; undefined when nobody knows which these are: nothing was noted, or the noted one
 * is not listed, since the list trails or has been cut.
 */
function newerThan(
  records: readonly OperationRecord[],
  lastId: string | undefined,
): readonly OperationRecord[] | undefined {
  if (lastId === undefined) return undefined;
  if (lastId === NO_OPERATION) return records;
  const at = records.findLastIndex((record) => record.id === lastId);
  return at < 0 ? undefined : records.slice(at + 1);
}

/** Stands for "the list was empty". */
export const NO_OPERATION = '-';

/** What does not say who asked for it counts as ours. */
function isOurs(operation: OperationRecord, event: string, user: string | undefined): boolean {
  const named = operationEvent(operation);
  const { username } = operation;
  const others = user !== undefined && typeof username === 'string' && username !== user;
  return named !== undefined && sameOperation(named, event) && !others;
}
