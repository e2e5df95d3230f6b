import type { Instance } from '../../api/instance.ts';
import type { AnyResource } from '../../api/kinds.ts';
import type { RequestedOperation } from '../../api/names.ts';
import { REQUESTED_OPERATIONS } from '../../api/words.ts';
import { CONDITIONS } from '../../api/reasons.ts';
import { parseTimestamp } from '../../service/index.ts';
import type { Cached } from '../cache.ts';
import { conditionOf } from '../record/kind.ts';
import { isDrifted, operationWord, standingOf, timeOf } from './census.ts';

/** What the change of a status tells, besides that it changed. */
export type Telling =
  | { tells: 'ready'; afterMs: number }
  | { tells: 'drifted' }
  /** `ms`: how long it took; absent where that is not known, or it never ran. */
  | { tells: 'operation'; operation: string; outcome: OperationOutcome; ms?: number }
  | { tells: 'leaseEnd'; operation: string; by: string };

/** How an operation ended. Refused: the service, or the state of the instance, did not let it begin. */
export const OUTCOMES = ['Succeeded', 'Failed', 'Superseded', 'Refused'] as const;
type OperationOutcome = (typeof OUTCOMES)[number];

/**
 * Reads from two statuses of one resource what happened in between. What is counted is thus what was written:
 * a pass whose write failed, and that is made again, does not count twice.
 */
export function tellingsOf(before: Cached<AnyResource>, after: Cached<AnyResource>, now: number): Telling[] {
  if (before.problems !== undefined || after.problems !== undefined) return [];
  const tellings: Telling[] = [];
  const wasReady = conditionOf(before, CONDITIONS.ready);
  if (wasReady?.status !== 'True' && standingOf(after).ready === 'True') {
    const since = timeOf(wasReady?.lastTransitionTime ?? after.metadata.creationTimestamp) ?? now;
    tellings.push({ tells: 'ready', afterMs: Math.max(0, now - since) });
  }
  if (!isDrifted(before) && isDrifted(after)) tellings.push({ tells: 'drifted' });
  if (before.kind === 'Instance' && after.kind === 'Instance') {
    tellings.push(...ofOperation(before, after), ...ofLease(before, after));
  }
  return tellings;
}

function ofOperation(before: Instance, after: Instance): Telling[] {
  const { lastOperation: last } = after.status;
  if (last !== undefined && JSON.stringify(last) !== JSON.stringify(before.status.lastOperation)) {
    const operation = operationWord(last.event);
    const from = last.startedAt === undefined ? startOfDeploy(after) : timeOf(last.startedAt);
    const to = last.endedAt === undefined ? undefined : timeOf(last.endedAt);
    const ms = from === undefined || to === undefined ? undefined : Math.max(0, to - from);
    const { outcome } = last;
    return [{ tells: 'operation', operation, outcome, ...(ms === undefined ? {} : { ms }) }];
  }
  const { refusedRequest } = after.status;
  if (
    refusedRequest !== undefined &&
    JSON.stringify(after.status.handledRequests) !== JSON.stringify(before.status.handledRequests)
  ) {
    const event = REQUESTED_OPERATIONS.toService(refusedRequest.operation as RequestedOperation);
    return [{ tells: 'operation', operation: operationWord(event), outcome: 'Refused' }];
  }
  const noted = before.status.currentOperation;
  const refused = after.status.currentOperation === undefined && standingOf(after).reason === 'Refused';
  if (noted === undefined || !refused) return [];
  return [{ tells: 'operation', operation: operationWord(noted.event), outcome: 'Refused' }];
}

/** The first deploy is the create itself: when it began is what the service says. */
function startOfDeploy({ status }: Instance): number | undefined {
  const { operation } = status;
  if (operation?.event !== 'deploy' || operation.created === undefined) return undefined;
  return parseTimestamp(operation.created);
}

function ofLease(before: Instance, after: Instance): Telling[] {
  const lease = after.status.lease;
  if (lease?.released !== true || before.status.lease === undefined || before.status.lease.released)
    return [];
  return [{ tells: 'leaseEnd', operation: lease.operation, by: lease.by ?? 'Service' }];
}
