import type { Instance } from '../../../api/instance.ts';
import type { Clock } from '../../../base/clock.ts';
import { canonicalJson, sha256Base32 } from '../../../base/hash.ts';
import type { InstanceRecord, Write } from '../../../service/index.ts';
import { failureVerdict, isAboutCredentials } from '../../record/decide.ts';
import type { Convergence } from '../../record/kind.ts';
import { backoffMs, noteWrite } from '../../record/looks.ts';
import { verdict } from '../../record/status/verdict.ts';
import type { InstanceObservation } from '../decide.ts';
import type { DesiredInstance } from '../desired.ts';
import { readLease, sameLease, wireLease } from '../lease/terms.ts';
import { pairOf, phaseOf } from '../pair.ts';
import type { InstanceFields, InstancePass } from '../pass.ts';
import { managedOf } from './managed.ts';

/** Puts tags, variables and lease on the record: one PUT of the whole object as read, ours laid over it. */
export async function putRecord(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
  seen: InstanceObservation,
  fields: InstanceFields,
  clock: Clock,
): Promise<Convergence<Instance>> {
  const { memory, handle } = pass;
  const fingerprint = sha256Base32(
    'put',
    canonicalJson({ hash: desired.hash, tags: desired.tags, lease: seen.lease }),
  );
  const held = memory.refusals.holds(fingerprint, clock.monotonic());
  if (held !== undefined) {
    return { verdict: { ...held.verdict, recheckAfterMs: held.retryAfterMs }, fields };
  }
  const body: InstanceRecord = { ...record, tags: seen.plan.tags, variables: seen.plan.variables };
  if (seen.lease !== undefined && seen.status.releasedExpire === undefined)
    body.lease = wireLease(seen.lease);
  else if (seen.lease !== undefined && seen.lease.expire !== undefined && seen.lease.expire > pass.now) {
    body.lease = wireLease(seen.lease);
  } else if (seen.leaseToTakeOff) {
    // Builds differ in how a lease is taken off (service-behaviour.md 2.6): one way, then the other.
    memory.takeOffTries = (memory.takeOffTries ?? 0) + 1;
    if (memory.takeOffTries % 2 === 1) delete body.lease;
    else body.lease = { operation: 'alwayson' };
  }
  const write = await handle.client.instances.update(record.id, body, {
    priority: pass.priority,
    signal: pass.signal,
    mask: desired.secrets,
  });
  noteWrite(memory, write, clock.monotonic());
  if (write.kind !== 'ok') return notPut(pass, write, fingerprint, fields, clock);
  memory.failures = 0;
  memory.refusals.clear();
  memory.putHash = desired.hash;
  memory.putWhileDown = phaseOf(pairOf(record)) === 'ShutDown' ? desired.hash : undefined;
  const { record: answer } = write;
  if (answer === undefined) memory.observed = undefined;
  if (seen.lease !== undefined) {
    // Without an answer's word the record is read; one that does not show the lease then is not put again either.
    const kept = answer === undefined ? undefined : sameLease(readLease(answer.lease), seen.lease);
    memory.leasePut = { terms: seen.lease.terms, kept };
  }
  return {
    verdict: verdict('Updating', 'The change is on the record'),
    fields: { managed: managedOf(desired) },
    again: true,
    quiet: true,
  };
}

function notPut(
  pass: InstancePass,
  write: Exclude<Write<InstanceRecord>, { kind: 'ok' }>,
  fingerprint: string,
  fields: InstanceFields,
  clock: Clock,
): Convergence<Instance> {
  const { memory } = pass;
  memory.observed = undefined;
  const { error } = write;
  if (
    write.kind === 'refused' &&
    error.class !== 'Conflict' &&
    !isAboutCredentials(error) &&
    error.code !== 'Forbidden' &&
    error.code !== 'NotFound'
  ) {
    const said = verdict(
      'Refused',
      `${error.message}. Change what it speaks of; it is tried again on a change`,
    );
    const wait = memory.refusals.refuse(fingerprint, said, clock.monotonic());
    return { verdict: { ...said, recheckAfterMs: wait }, fields };
  }
  const delay = backoffMs(memory.failures++, pass.random);
  if (error.class === 'Conflict') {
    return {
      verdict: verdict('Updating', 'The instance is busy on the service: it is looked at again', delay),
      fields,
    };
  }
  return { verdict: failureVerdict(error, delay), fields: {} };
}
