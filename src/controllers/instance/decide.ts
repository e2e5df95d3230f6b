import type { Instance } from '../../api/instance.ts';
import type { RequestedOperation } from '../../api/names.ts';
import { lookAgainMs } from '../../base/backoff.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { DesiredFile } from '../content/variables.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';
import { decideContent } from './aspects/content.ts';
import { decideLease, decideLeaseEnd, isLeftToService, releasedNow } from './aspects/lease.ts';
import { decidePower, isHeldByLease } from './aspects/power.ts';
import { decideRequests } from './aspects/requests.ts';
import type { AspectStates } from './aspects/state.ts';
import { releasedMark } from './lease/note.ts';
import type { Scheduled } from './lease/scheduled.ts';
import { readLease, type WantedLease } from './lease/terms.ts';
import type { NextLook } from './operation/durations.ts';
import { pairOf, phaseOf, reasonOfRunning, type Pair } from './pair.ts';
import type { PutPlan } from './put/plan.ts';

/** What the steps of an Instance are decided from, once its record is found. */
export interface InstanceObservation {
  spec: Instance['spec'];
  status: Instance['status'];
  record: InstanceRecord;
  /** Wall time, milliseconds. */
  now: number;
  /** The lease as it shall stand; undefined: none is declared. */
  lease: WantedLease | undefined;
  /** The lease's source is paused with a change that waits, or cannot be read here. */
  leaseHeld: boolean;
  /** What the schedule of the lease says of the machines. */
  scheduled: Scheduled | undefined;
  /** Why the lease that `leaseRef` names is not there; what stands on the record stays. */
  leaseMissing: string | undefined;
  /** The lease of the record came from a source that is gone, by which it is to be taken off. */
  leaseToTakeOff: boolean;
  /** Hash of powerState, lease and renewal. */
  armedHash: string;
  /** The PUT that would make the record as declared. */
  plan: PutPlan;
  /** What the variables wait for, in which case `plan` leaves them as they are. */
  contentWaits: Verdict | undefined;
  /** A file that no blob is there for yet, though a PUT would have to name it. */
  missingFile: DesiredFile | undefined;
  /** Keyed hash of the variables as declared; hash of the tags; both in one. */
  hash: string;
  tagsHash: string;
  contentHash: string;
  /** The record of the box that it was deployed from, where the Box that the spec names has another one by now. */
  replacedBox: string | undefined;
  /** The box has changed since its scripts were installed. */
  boxChanged: boolean;
  /** Names of the boxes below it that have changed. */
  changedBelow: readonly string[];
  /** Whether appliedHash was made with a key that this operator has. */
  hashIsKnown: boolean;
  /** Hash of the variables as last applied: from status, or inferred from the record on attaching to it. */
  appliedHash: string | undefined;
  /** The variables as declared are on the record, as far as this process knows. */
  variablesPut: boolean;
  /** They were put there while the instance was shut down: the power-on that follows applies them. */
  putWhileDown: boolean;
  /** What was put on the record last, or may have been, are other variables, or somebody has touched the record since. */
  othersPut: boolean;
  /** Status says that these variables are being put there. */
  isBegunNoted: boolean;
  /** Secrets are among the variables: the record may not show them. */
  hasSecrets: boolean;
  requests: Partial<Record<RequestedOperation, string>>;
  /** Request tokens that count as carried out. */
  handled: Partial<Record<RequestedOperation, string>>;
  drift: 'Correct' | 'Report' | 'Ignore';
  onMissing: 'Recreate' | 'Hold';
  /** Milliseconds after which a running operation counts as stuck. */
  timeoutMs: number;
  /** When the running operation began, milliseconds, where that is known. */
  runningSince: number | undefined;
  /** When the running operation can have ended. */
  nextLook: NextLook;
  poll: { processingMs: number; settledMs: number };
  /** The service does not keep the lease that was put on the record. */
  leaseNotKept: boolean;
  /** How long before its end the lease's source warns, milliseconds; absent for its default. */
  warnBeforeMs: number | undefined;
}

/** What is to be done about an Instance whose record exists and runs no operation of ours. */
export type Decision =
  /** It stands still as a whole. `released`: the end that a lease has come to. */
  | { kind: 'whole'; verdict: Verdict; released?: number }
  /** The record is terminated and to be made again. */
  | { kind: 'renounce' }
  /** `settled`: what to say where every aspect is in force. */
  | { kind: 'aspects'; states: AspectStates; settled: Verdict; released?: number };

/** Decides. Pure. */
export function decideInstance(seen: InstanceObservation): Decision {
  const pair = pairOf(seen.record);
  const phase = phaseOf(pair);
  if (phase === 'Unknown') {
    const said = verdict(
      'UnknownState',
      `The instance shows state "${pair.state}" with operation "${pair.event}", which is not known here: nothing ` +
        `is done to it`,
      seen.poll.processingMs,
    );
    return { kind: 'whole', verdict: said };
  }
  const running = reasonOfRunning(phase);
  if (running !== undefined) return { kind: 'whole', verdict: decideRunning(seen, pair, running) };
  if (phase === 'Terminated') return decideTerminated(seen);
  const states: AspectStates = {
    leaseEnd: decideLeaseEnd(seen),
    lease: decideLease(seen),
    content: decideContent(seen, pair),
    requests: decideRequests(seen, pair),
    power: decidePower(seen, pair),
  };
  const online = phase === 'Online';
  const released = releasedNow(seen);
  const carriedOut =
    released !== undefined &&
    states.leaseEnd.kind === 'inForce' &&
    !(online && isLeftToService(seen, released));
  return {
    kind: 'aspects',
    states,
    settled: settled(seen, online),
    ...(carriedOut && phase !== 'Failed' ? { released } : {}),
  };
}

function decideRunning(
  seen: InstanceObservation,
  pair: Pair,
  reason: NonNullable<ReturnType<typeof reasonOfRunning>>,
): Verdict {
  const { runningSince, timeoutMs, now, poll } = seen;
  if (runningSince === undefined || now - runningSince <= timeoutMs) {
    return verdict(reason, `Waits for the end of ${pair.event}`, seen.nextLook.afterMs);
  }
  const laterMs = lookAgainMs(now - runningSince, poll.processingMs, poll.settledMs);
  const stuck = `${pair.event} runs longer than operationTimeout (${seen.spec.operationTimeout})`;
  if (releasedNow(seen) !== undefined && decideLeaseEnd(seen).kind === 'steps') {
    const message = `End of the lease: it has come, and ${stuck}: end the operation on the service`;
    return verdict('NeedsUser', message, laterMs);
  }
  const message = `${stuck}: look at the instance on the service, or raise operationTimeout`;
  return verdict('OperationFailed', message, laterMs);
}

function decideTerminated(seen: InstanceObservation): Decision {
  const released = releasedNow(seen);
  const shown = readLease(seen.record.lease);
  const byLease =
    seen.status.armed === releasedMark(seen.armedHash) ||
    (shown?.operation === 'Terminate' && released !== undefined);
  if (byLease) {
    return {
      kind: 'whole',
      verdict: verdict('LeaseReleased', 'The lease has ended: the instance is terminated, as declared'),
      ...(released === undefined ? {} : { released }),
    };
  }
  if (seen.onMissing === 'Recreate') {
    const { contentWaits } = seen;
    return contentWaits === undefined ? { kind: 'renounce' } : { kind: 'whole', verdict: contentWaits };
  }
  const message =
    'The instance was terminated on the service: set onMissing to Recreate to deploy it again, or delete this ' +
    'resource';
  return { kind: 'whole', verdict: verdict('RecordMissing', message, seen.poll.settledMs) };
}

function settled(seen: InstanceObservation, online: boolean): Verdict {
  const { settledMs } = seen.poll;
  if (isHeldByLease(seen, online)) {
    const message =
      'The lease has ended and was carried out: change the lease or powerState, or renew it, to arm it anew';
    return verdict('LeaseReleased', message, settledMs);
  }
  const { scheduled } = seen;
  if (!online && scheduled?.kind === 'now') {
    const message = `The instance is shut down until the schedule of InstanceLease "${scheduled.lease}" powers it on`;
    return verdict('ShutDown', message, settledMs);
  }
  return online
    ? verdict('Settled', 'The instance is online, as declared', settledMs)
    : verdict('ShutDown', 'The instance is shut down', settledMs);
}
