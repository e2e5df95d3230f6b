import type { Instance } from '../../../api/instance.ts';
import { canonicalJson } from '../../../base/hash.ts';
import type { InstanceRecord } from '../../../service/index.ts';
import type { Convergence } from '../../record/kind.ts';
import { noteWrite } from '../../record/observed.ts';
import { notAccepted, refusedVerdict, type Attempt } from '../../record/outcome.ts';
import { verdict } from '../../record/status/verdict.ts';
import type { Meant, PutReason } from '../aspects/state.ts';
import type { InstanceObservation } from '../decide.ts';
import type { DesiredInstance } from '../desired.ts';
import { readLease, sameLease, wireLease } from '../lease/terms.ts';
import { pairOf, phaseOf } from '../pair.ts';
import type { InstanceFields, InstancePass } from '../pass.ts';
import { managedOf } from './managed.ts';

/** Puts one aspect on the record: one PUT of the whole object as read, that aspect laid over it. */
export async function putRecord(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
  seen: InstanceObservation,
  put: { why: PutReason; attempt: Attempt; meant: Pick<Meant, 'differences'>; correcting: boolean },
): Promise<Convergence<Instance>> {
  const { memory, handle } = pass;
  const { why, attempt, correcting } = put;
  const before = memory.put;
  if (why === 'content') memory.put = undefined;
  const write = await handle.client.instances.update(record.id, bodyOf(record, seen, put), {
    priority: pass.priority,
    signal: pass.signal,
  });
  noteWrite(memory, write, handle.client.stamp());
  if (write.kind !== 'ok') {
    memory.observed = undefined;
    if (write.kind !== 'unknown') memory.put = before;
    // Whatever the words: the blobs may be gone, as after a restore of the service.
    if (write.kind === 'refused' && why === 'content') memory.uploads.clear();
    const { state, event } = pairOf(record);
    const said = notAccepted(write, attempt, {
      refused: refusedVerdict,
      conflict: verdict('Updating', 'The instance is busy on the service: it is looked at again'),
      at: `${state}/${event}`,
    });
    // The others may go on: what to say of all of them comes next.
    return { verdict: said, fields: {}, afresh: true };
  }
  const difference = (put.meant.differences ?? []).map(({ field }) => field).toSorted();
  attempt.attempts.accepted(attempt.aspect, attempt.fingerprint, {
    difference: difference.join(),
    correcting,
    call: attempt.call,
  });
  const { record: answer } = write;
  if (answer === undefined) memory.observed = undefined;
  if (why === 'content') {
    memory.put = { id: record.id, hash: desired.hash, whileDown: phaseOf(pairOf(record)) === 'ShutDown' };
  }
  if (why === 'lease' && seen.lease !== undefined) {
    // Without an answer's word the record is read; one that does not show the lease then is not put again either.
    const kept = answer === undefined ? undefined : sameLease(readLease(answer.lease), seen.lease);
    memory.leasePut = { terms: seen.lease.terms, kept };
  }
  return {
    verdict: verdict('Updating', 'The change is on the record'),
    fields: fieldsAfter(why, desired, seen),
    again: true,
    quiet: true,
    corrected: correcting,
  };
}

function bodyOf(
  record: InstanceRecord,
  seen: InstanceObservation,
  { why, attempt }: { why: PutReason; attempt: Attempt },
): InstanceRecord {
  const { plan, lease } = seen;
  const body: InstanceRecord = { ...record };
  if (record.variables !== undefined || plan.carried.length > 0) body.variables = plan.carried;
  switch (why) {
    case 'content':
      return { ...body, tags: plan.tags, variables: plan.variables };
    case 'tags':
      return { ...body, tags: plan.tags };
    case 'lease':
      if (lease !== undefined) return { ...body, lease: wireLease(lease) };
      // Builds differ in how a lease is taken off (service-behaviour.md 2.6): one way, then the other.
      if (attempt.attempts.sent(attempt.aspect, attempt.fingerprint) % 2 === 1) {
        return { ...body, lease: { operation: 'alwayson' } };
      }
      delete body.lease;
      return body;
    default:
      return why satisfies never;
  }
}

/** A PUT moves only its own part of what is ours on the record. */
function fieldsAfter(why: PutReason, desired: DesiredInstance, seen: InstanceObservation): InstanceFields {
  if (why === 'lease') return {};
  const managed = managedOf(desired);
  if (why === 'content') return { managed };
  return { managed: withTags(seen.status.managed, managed?.tags) };
}

function withTags(managed: InstanceFields['managed'], tags: string[] | undefined): InstanceFields['managed'] {
  const { tags: _before, ...rest } = managed ?? {};
  const next = { ...rest, ...(tags === undefined ? {} : { tags }) };
  return canonicalJson(next) === '{}' ? undefined : next;
}
