import { rfc3339 } from '../../../base/rfc3339.ts';
import type { Difference } from '../../record/differences.ts';
import { wouldWipe } from '../../record/differences.ts';
import { verdict } from '../../record/status/verdict.ts';
import type { InstanceObservation } from '../decide.ts';
import { readLease, sameLease, type WantedLease } from '../lease/terms.ts';
import { pairOf, phaseOf } from '../pair.ts';
import type { AspectState, Meant } from './state.ts';

/** The operator carries a lease out itself when the service has not, so long after its end, milliseconds. */
export const GRACE_MS = 120_000;

/** The lease on the record. Pure. */
export function decideLease(seen: InstanceObservation): AspectState {
  const { lease, status, plan } = seen;
  if (seen.leaseMissing !== undefined) {
    const message = `spec.leaseRef: ${seen.leaseMissing}. What stands on the instance stays: create it, or remove spec.leaseRef`;
    return { kind: 'held', verdict: verdict('WaitingForReference', message, seen.poll.settledMs) };
  }
  const fingerprint = lease?.terms ?? 'none';
  if (lease?.isNew === true && lease.expire !== undefined && lease.expire <= seen.now) {
    const field = lease.source.kind === 'Instance' ? 'spec.lease' : `InstanceLease "${lease.source.name}"`;
    const message = `${field}: expireAt is in the past, so the lease is not put on the instance: set a later time`;
    return { kind: 'held', verdict: verdict('Refused', message) };
  }
  const wipes = plan.wiped.lease;
  if (lease?.isNew === true) {
    return wipes.length > 0 ? { kind: 'held', verdict: wouldWipe(wipes) } : one({ do: 'noteLease' });
  }
  const noLonger = lease === undefined && status.lease?.source !== undefined && !seen.leaseHeld;
  if (noLonger && !seen.leaseToTakeOff) return one({ do: 'dropLeaseSource' });
  if (differsInLease(seen)) {
    const drift = leaseDrift(seen);
    if (seen.drift !== 'Correct' && status.armed === seen.armedHash) return { kind: 'inForce', drift };
    if (wipes.length > 0) return { kind: 'held', verdict: wouldWipe(wipes) };
    return one({ do: 'put', why: 'lease' }, drift);
  }
  return seen.leaseToTakeOff ? one({ do: 'dropLeaseSource' }) : { kind: 'inForce', fingerprint };

  function one(step: Meant['step'], differences: readonly Difference[] = []): AspectState {
    return { kind: 'steps', steps: [{ step, fingerprint, differences }] };
  }
}

/**
 * The end of a lease that has come: the service carries it out, or where it has not in time, the operator does. A
 * shutdown is for what is online; a terminate for whatever is not terminated yet. Pure.
 */
export function decideLeaseEnd(seen: InstanceObservation): AspectState {
  const released = releasedNow(seen);
  const shown = readLease(seen.record.lease);
  const ends = leaseInForce(seen)?.operation ?? shown?.operation;
  if (released === undefined || isLeftToService(seen, released)) return { kind: 'inForce' };
  const phase = phaseOf(pairOf(seen.record));
  if (ends !== 'Terminate' && phase === 'ShutDown') return { kind: 'inForce' };
  if (isOverdue(seen, released)) {
    if (ends === 'Shutdown' && phase === 'Failed') {
      const message =
        'it has come, and a failed instance cannot be shut down: mend the instance, or terminate it by deleting this ' +
        'resource or by a lease with operation Terminate';
      return { kind: 'held', verdict: verdict('NeedsUser', message, seen.poll.settledMs) };
    }
    const operation = ends === 'Terminate' ? 'terminate' : 'shutdown';
    const fingerprint = `${operation} ${seen.armedHash}`;
    return { kind: 'steps', steps: [{ step: { do: 'begin', operation, released }, fingerprint }] };
  }
  if (shown?.released === true) return { kind: 'inForce' };
  const reason = ends === 'Terminate' ? 'Terminating' : 'ShuttingDown';
  const message = 'it has come: waits for the service to carry it out';
  return { kind: 'held', verdict: verdict(reason, message, seen.poll.processingMs) };
}

/**
 * The end of a lease that has come, milliseconds: released by the service's word, or past by the clock, and
 * not carried out before.
 */
export function releasedNow(seen: InstanceObservation): number | undefined {
  const { status, record, now } = seen;
  const lease = leaseInForce(seen);
  const shown = readLease(record.lease);
  const expire = lease?.expire ?? shown?.expire;
  const ends = lease?.operation ?? shown?.operation;
  if (expire === undefined || ends === undefined || ends === 'AlwaysOn') return undefined;
  if (status.releasedExpire !== undefined && Date.parse(status.releasedExpire) === expire) return undefined;
  const byService = shown?.released === true && sameLease(shown, { operation: ends, expire });
  return byService || now >= expire ? expire : undefined;
}

/** One that is not noted yet ends nothing: least of all where its end is in the past. */
function leaseInForce({ lease }: InstanceObservation): WantedLease | undefined {
  return lease?.isNew === true ? undefined : lease;
}

/** What nobody here has declared is the service's own to carry out: it is shown, not touched, and not waited for. */
export function isLeftToService(seen: InstanceObservation, released: number | undefined): boolean {
  const ours = seen.lease !== undefined || seen.status.lease?.source !== undefined;
  return !ours && isOverdue(seen, released);
}

/** The lease has ended, and the service has not carried it out in time. */
function isOverdue({ record, now }: InstanceObservation, released: number | undefined): boolean {
  return released !== undefined && now >= released + GRACE_MS && readLease(record.lease)?.released !== true;
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

function leaseDrift(seen: InstanceObservation): Difference[] {
  return [{ field: 'lease', want: inWords(seen.lease), have: inWords(readLease(seen.record.lease)) }];
}

function inWords(lease: { operation: string; expire: number | undefined } | undefined): string {
  if (lease === undefined) return 'AlwaysOn';
  return lease.expire === undefined ? lease.operation : `${lease.operation} ${rfc3339(lease.expire)}`;
}
