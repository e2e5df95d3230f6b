import { rfc3339 } from '../../base/rfc3339.ts';
import type { Instance } from '../../api/instance.ts';
import type { RequestedOperation } from '../../api/names.ts';
import { REQUESTED_OPERATIONS } from '../../api/words.ts';
import type { InstanceOperationName, InstanceRecord } from '../../service/index.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';
import { readLease, sameLease, type WantedLease } from './lease/terms.ts';
import { accepts, pairOf, phaseOf, reasonOfRunning, type Pair } from './pair.ts';
import type { PutPlan } from './put/plan.ts';

/** What a step of an Instance is decided from, once its record is found. */
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
  /** The lease of the record came from a source that is gone, by which it is to be taken off. */
  leaseToTakeOff: boolean;
  /** How often this process has tried to take it off, each time in another way. */
  takeOffTries: number;
  /** Hash of powerState, lease and renewal. */
  armedHash: string;
  /** The PUT that would make the record as declared. */
  plan: PutPlan;
  /** Keyed hash of the variables as declared. */
  hash: string;
  /** Whether appliedHash was made with a key that this operator has. */
  hashIsKnown: boolean;
  /** Hash of the variables as last applied: from status, or inferred from the record on attaching to it. */
  appliedHash: string | undefined;
  /** The variables as declared are on the record, as far as this process knows. */
  variablesPut: boolean;
  /** They were put there while the instance was shut down: the power-on that follows applies them. */
  putWhileDown: boolean;
  /** Status says of other variables, or of a record before somebody touched it, that they wait for a power-on. */
  othersPending: boolean;
  requests: Partial<Record<RequestedOperation, string>>;
  /** Request tokens that count as carried out. */
  handled: Partial<Record<RequestedOperation, string>>;
  drift: 'Correct' | 'Report' | 'Ignore';
  onMissing: 'Recreate' | 'Hold';
  /** Milliseconds after which a running operation counts as stuck. */
  timeoutMs: number;
  /** When the running operation began, milliseconds, where that is known. */
  runningSince: number | undefined;
  poll: { processingMs: number; settledMs: number };
  /** The service does not keep the lease that was put on the record. */
  leaseNotKept: boolean;
  /** How long before its end the lease warns, milliseconds. */
  warnBeforeMs: number | undefined;
}

/** What is declared and what the record shows instead. */
type Difference = PutPlan['differences'][number];

/** The one next step for an Instance whose record exists and runs no operation of ours. */
export type InstanceStep =
  | { do: 'report'; verdict: Verdict; released?: number; drift?: Difference[] }
  /** Write into status where the lease comes from and when it ends, before it goes onto the record. */
  | { do: 'noteLease' }
  | { do: 'noteManaged' }
  | { do: 'dropLeaseSource' }
  | { do: 'put'; why: string }
  | {
      do: 'begin';
      operation: InstanceOperationName | 'terminate';
      token?: { of: RequestedOperation; value: string };
      hash?: string;
      /** The end that this operation carries out in the service's stead. */
      released?: number;
    }
  /** A request that the present state does not allow: said, and counted as carried out. */
  | { do: 'refuseRequest'; of: RequestedOperation; value: string; message: string }
  /** What was applied is as declared already: note it. */
  | { do: 'noteApplied'; verdict: Verdict }
  /** The record is terminated and to be made again. */
  | { do: 'renounce' };

/** The operator carries a lease out itself when the service has not, so long after its end, milliseconds. */
export const GRACE_MS = 120_000;

/** Builds differ in how a lease is taken off (service-behaviour.md 2.6). */
const WAYS_TO_TAKE_OFF = 2;

/** Decides. Pure. */
export function decideInstance(seen: InstanceObservation): InstanceStep {
  const pair = pairOf(seen.record);
  const phase = phaseOf(pair);
  if (phase === 'Unknown') {
    return report(
      verdict(
        'UnknownState',
        `The instance shows state "${pair.state}" with operation "${pair.event}", which is not known here: nothing ` +
          `is done to it`,
        seen.poll.processingMs,
      ),
    );
  }
  const running = reasonOfRunning(phase);
  if (running !== undefined) return decideRunning(seen, pair, running);
  const release = releasedNow(seen);
  if (phase === 'Terminated') return decideTerminated(seen, release);

  const put = neededPut(seen);
  // Whatever it is for, a PUT brings the whole record.
  const wipes = seen.plan.secretsAtRisk.length > 0 && leadsToPut(put);
  if (put !== undefined && !wipes) return put;
  // What needs no PUT goes on, and applies nothing of what the PUT was to bring.
  const rest = wipes ? { ...seen, hash: seen.appliedHash ?? seen.hash } : seen;
  const step =
    decideChange(rest, pair) ??
    decideRequest(rest, pair) ??
    (phase === 'Failed'
      ? (carryOut(rest, false, release) ?? report(failedVerdict(rest, pair)))
      : decidePower(rest, phase === 'Online', release));
  return wipes && step.do === 'report' ? { ...step, verdict: wouldWipe(seen) } : step;
}

function decideRunning(
  seen: InstanceObservation,
  pair: Pair,
  reason: NonNullable<ReturnType<typeof reasonOfRunning>>,
): InstanceStep {
  const { runningSince, timeoutMs, now, poll } = seen;
  if (runningSince !== undefined && now - runningSince > timeoutMs) {
    return report(
      verdict(
        'OperationFailed',
        `${pair.event} runs longer than operationTimeout (${seen.spec.operationTimeout}): look at the instance on ` +
          `the service, or raise operationTimeout`,
        poll.processingMs,
      ),
    );
  }
  return report(verdict(reason, `Waits for the end of ${pair.event}`, poll.processingMs));
}

function decideTerminated(seen: InstanceObservation, release: number | undefined): InstanceStep {
  const shown = readLease(seen.record.lease);
  const byLease =
    seen.status.armed === `released:${seen.armedHash}` ||
    (shown?.operation === 'Terminate' && release !== undefined);
  if (byLease) {
    return {
      do: 'report',
      verdict: verdict('LeaseReleased', 'The lease has ended: the instance is terminated, as declared'),
      ...(release === undefined ? {} : { released: release }),
    };
  }
  if (seen.onMissing === 'Recreate') return { do: 'renounce' };
  return report(
    verdict(
      'RecordMissing',
      'The instance was terminated on the service: set onMissing to Recreate to deploy it again, or delete this ' +
        'resource',
      seen.poll.settledMs,
    ),
  );
}

function leadsToPut(step: InstanceStep | undefined): boolean {
  return step?.do === 'put' || step?.do === 'noteManaged' || step?.do === 'noteLease';
}

function wouldWipe({ plan }: InstanceObservation): Verdict {
  return verdict(
    'NotApplied',
    `Not sent, since it would wipe Password variables whose values only the service knows: ` +
      `${plan.secretsAtRisk.join(', ')}. Declare them here from a Secret, or remove them on the service`,
  );
}

function neededPut(seen: InstanceObservation): InstanceStep | undefined {
  const { lease, plan, status } = seen;
  if (lease?.isNew === true) {
    const past = lease.expire !== undefined && lease.expire <= seen.now;
    if (past) {
      const field = lease.source.kind === 'Instance' ? 'spec.lease' : `InstanceLease "${lease.source.name}"`;
      return report(
        verdict(
          'Refused',
          `${field}: expireAt is in the past, so the lease is not put on the instance: set a later time`,
        ),
      );
    }
    return { do: 'noteLease' };
  }
  const noLonger = lease === undefined && status.lease?.source !== undefined && !seen.leaseHeld;
  if (noLonger && !seen.leaseToTakeOff) {
    return { do: 'dropLeaseSource' };
  }
  const leaseDiffers = differsInLease(seen);
  if (leaseDiffers && seen.leaseToTakeOff && seen.takeOffTries >= WAYS_TO_TAKE_OFF) {
    return report(
      verdict(
        'NotApplied',
        'The service keeps the lease, in whichever way it is taken off: take it off there, or declare another one',
        seen.poll.settledMs,
      ),
    );
  }
  if (leaseDiffers && (seen.drift === 'Correct' || status.armed !== seen.armedHash)) {
    return { do: 'put', why: 'lease' };
  }
  if (seen.leaseToTakeOff && !leaseDiffers) return { do: 'dropLeaseSource' };
  const changed = seen.appliedHash !== seen.hash;
  const mayCorrect = seen.drift === 'Correct';
  const tagsNew = plan.newTags.length > 0 || plan.goneTags.length > 0;
  if (plan.tagsDiffer && (mayCorrect || tagsNew)) {
    return plan.newTags.length > 0 ? { do: 'noteManaged' } : { do: 'put', why: 'tags' };
  }
  if ((changed && !seen.variablesPut) || (plan.variablesDiffer && (mayCorrect || changed))) {
    return seen.othersPending || plan.newVariables.length > 0
      ? { do: 'noteManaged' }
      : { do: 'put', why: 'variables' };
  }
  return undefined;
}

/** Whether the record lacks the lease that it shall have, or has one that is to be taken off. */
function differsInLease(seen: InstanceObservation): boolean {
  const { lease, status } = seen;
  const done = status.releasedExpire !== undefined && lease?.expire === Date.parse(status.releasedExpire);
  return (
    (lease !== undefined || seen.leaseToTakeOff) &&
    !done &&
    !seen.leaseNotKept &&
    !(lease?.expire !== undefined && lease.expire <= seen.now) &&
    !sameLease(readLease(seen.record.lease), lease)
  );
}

/** What follows once changed variables are on the record. */
function decideChange(seen: InstanceObservation, pair: Pair): InstanceStep | undefined {
  if (seen.appliedHash === seen.hash) return undefined;
  const { applyChanges } = seen.spec;
  const phase = phaseOf(pair);
  const noted = verdict('Settled', 'The variables are on the record');
  if (applyChanges === 'None' || !seen.hashIsKnown) return { do: 'noteApplied', verdict: noted };
  if (phase === 'ShutDown') return undefined; // the next power-on applies them
  if (
    seen.putWhileDown &&
    applyChanges === 'Reconfigure' &&
    pair.state === 'done' &&
    pair.event === 'poweron'
  ) {
    return { do: 'noteApplied', verdict: noted }; // by hand: its configure events had them
  }
  const wanted: InstanceOperationName =
    pair.state === 'unavailable' && pair.event === 'deploy'
      ? 'deploy'
      : applyChanges === 'Reinstall'
        ? 'reinstall'
        : 'reconfigure';
  if (accepts(wanted, pair)) return { do: 'begin', operation: wanted, hash: seen.hash };
  if (accepts('reinstall', pair)) return { do: 'begin', operation: 'reinstall', hash: seen.hash };
  return undefined;
}

function decideRequest(seen: InstanceObservation, pair: Pair): InstanceStep | undefined {
  for (const [of, value] of Object.entries(seen.requests) as [RequestedOperation, string][]) {
    if (seen.handled[of] === value) continue;
    const operation = REQUESTED_OPERATIONS.toService(of) as InstanceOperationName;
    if (accepts(operation, pair)) {
      return {
        do: 'begin',
        operation,
        token: { of, value },
        ...(of === 'redeploy' ? { hash: seen.hash } : {}),
      };
    }
    const message =
      of === 'redeploy'
        ? 'Redeploy is for an instance whose deploy has failed'
        : `The instance is ${phaseOf(pair)}: ${of} needs it online`;
    return { do: 'refuseRequest', of, value, message };
  }
  return undefined;
}

function decidePower(seen: InstanceObservation, online: boolean, released: number | undefined): InstanceStep {
  const { spec, status, armedHash } = seen;
  const blocked = status.armed === `released:${armedHash}`;
  const release = online && isLeftToService(seen, released) ? undefined : released;
  if (release !== undefined || blocked) {
    const step = carryOut(seen, online, release);
    if (step !== undefined) return step;
    return {
      do: 'report',
      verdict: verdict(
        'LeaseReleased',
        'The lease has ended and was carried out: change the lease or powerState, or renew it, to arm it anew',
        seen.poll.settledMs,
      ),
      ...(release === undefined ? {} : { released: release }),
    };
  }
  const wanted = spec.powerState;
  const has = online ? 'Running' : 'Stopped';
  const differs = wanted !== undefined && wanted !== has;
  if (differs && (status.armed !== armedHash || seen.drift === 'Correct')) {
    const hash =
      seen.appliedHash !== seen.hash && spec.applyChanges === 'Reconfigure' ? seen.hash : undefined;
    return wanted === 'Running'
      ? { do: 'begin', operation: 'poweron', ...(hash === undefined ? {} : { hash }) }
      : { do: 'begin', operation: 'shutdown' };
  }
  if (seen.drift !== 'Report') return settled(seen, online);
  const drift = [
    ...seen.plan.differences,
    ...(differs ? [{ field: 'powerState', want: wanted, have: has }] : []),
    ...leaseDrift(seen),
  ];
  return drift.length === 0 ? settled(seen, online) : { ...settled(seen, online), drift };
}

/** What nobody here has declared is the service's own to carry out: it is shown, not touched, and not waited for. */
function isLeftToService(seen: InstanceObservation, released: number | undefined): boolean {
  const ours = seen.lease !== undefined || seen.status.lease?.source !== undefined;
  return !ours && isOverdue(seen, released);
}

/** The lease has ended, and the service has not carried it out in time. */
function isOverdue({ record, now }: InstanceObservation, released: number | undefined): boolean {
  return released !== undefined && now >= released + GRACE_MS && readLease(record.lease)?.released !== true;
}

/**
 * A lease that has ended and has something to end: the service carries it out, or where it has not in time, the
 * operator does. A shutdown is for what is online; a terminate for whatever is not terminated yet.
 */
function carryOut(
  seen: InstanceObservation,
  online: boolean,
  released: number | undefined,
): InstanceStep | undefined {
  const shown = readLease(seen.record.lease);
  const ends = seen.lease?.operation ?? shown?.operation;
  if (released === undefined || (ends !== 'Terminate' && !(online && ends === 'Shutdown'))) return undefined;
  if (isLeftToService(seen, released)) return undefined;
  if (isOverdue(seen, released)) {
    return { do: 'begin', operation: ends === 'Terminate' ? 'terminate' : 'shutdown', released };
  }
  if (shown?.released === true) return undefined;
  return report(
    verdict(
      ends === 'Terminate' ? 'Terminating' : 'ShuttingDown',
      'The lease has ended: waits for the service to carry it out',
      seen.poll.processingMs,
    ),
  );
}

function leaseDrift(seen: InstanceObservation): Difference[] {
  if (!differsInLease(seen)) return [];
  return [{ field: 'lease', want: inWords(seen.lease), have: inWords(readLease(seen.record.lease)) }];
}

function inWords(lease: { operation: string; expire: number | undefined } | undefined): string {
  if (lease === undefined) return 'AlwaysOn';
  return lease.expire === undefined ? lease.operation : `${lease.operation} ${rfc3339(lease.expire)}`;
}

function settled(seen: InstanceObservation, online: boolean): Extract<InstanceStep, { do: 'report' }> {
  const { settledMs } = seen.poll;
  return {
    do: 'report',
    verdict: online
      ? verdict('Settled', 'The instance is online, as declared', settledMs)
      : verdict('ShutDown', 'The instance is shut down', settledMs),
  };
}

/**
 * The end of a lease that has come, milliseconds: released by the service's word, or past by the clock, and
 * not carried out before.
 */
function releasedNow(seen: InstanceObservation): number | undefined {
  const { status, lease, record, now } = seen;
  const shown = readLease(record.lease);
  const expire = lease?.expire ?? shown?.expire;
  const ends = lease?.operation ?? shown?.operation;
  if (expire === undefined || ends === undefined || ends === 'AlwaysOn') return undefined;
  if (status.releasedExpire !== undefined && Date.parse(status.releasedExpire) === expire) return undefined;
  const bySevice = shown?.released === true && sameLease(shown, { operation: ends, expire });
  return bySevice || now >= expire ? expire : undefined;
}

function failedVerdict(seen: InstanceObservation, pair: Pair): Verdict {
  const last = seen.status.lastOperation;
  const told = last?.outcome === 'Failed' && last.message !== undefined ? `: ${last.message}` : '';
  return verdict('OperationFailed', `${pair.event} failed${told}. ${wayOut(pair)}`, seen.poll.settledMs);
}

function wayOut(pair: Pair): string {
  const request = accepts('deploy', pair) ? 'redeploy' : accepts('reinstall', pair) ? 'reinstall' : undefined;
  return request === undefined
    ? 'The service takes nothing from here but its end: act there, or delete this resource'
    : `Mend the cause, then change the resource or ask again with boxwright.dev/request-${request}`;
}

function report(said: Verdict): InstanceStep {
  return { do: 'report', verdict: said };
}
