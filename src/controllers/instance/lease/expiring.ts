import { parseDuration } from '../../../base/duration.ts';
import type { ExtraCondition } from '../../record/status/verdict.ts';
import { GRACE_MS } from '../aspects/lease.ts';
import type { InstanceObservation } from '../decide.ts';
import { readLease } from './terms.ts';

/** Warning time of a lease that says none, milliseconds. */
const WARN_MS = parseDuration('1h');

/** The condition that warns of the end of a lease; the end itself stands in status.lease.expire. */
export function leaseExpiring(seen: InstanceObservation, now: number): ExtraCondition | undefined {
  const expire = seen.lease?.expire;
  if (expire === undefined || now >= expire || now < expire - (seen.warnBeforeMs ?? WARN_MS))
    return undefined;
  return {
    type: 'LeaseExpiring',
    reason: 'LeaseExpiring',
    message: `The lease ends soon (${seen.lease?.operation ?? ''}): see status.lease.expire; renew it to keep the instance`,
  };
}

/** Milliseconds until the lease asks for a look: its warning, its end, its end by the operator, a switch of its schedule. */
export function untilLease(seen: InstanceObservation, now: number): number {
  const expire = seen.lease?.expire ?? readLease(seen.record.lease)?.expire;
  const { scheduled } = seen;
  const switched = scheduled?.kind === 'now' && scheduled.until !== undefined ? [scheduled.until] : [];
  const ends =
    expire === undefined ? [] : [expire - (seen.warnBeforeMs ?? WARN_MS), expire, expire + GRACE_MS];
  const moments = [...switched, ...ends];
  const next = moments.filter((moment) => moment > now).toSorted((a, b) => a - b)[0];
  return next === undefined ? Infinity : next - now + 500;
}
