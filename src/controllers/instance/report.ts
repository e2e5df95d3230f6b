import type { Instance } from '../../api/instance.ts';
import { rfc3339 } from '../../base/rfc3339.ts';
import type { InstanceRecord } from '../../service/index.ts';
import { Digest } from '../digest.ts';
import { drifted, driftList, type Difference } from '../record/differences.ts';
import type { Convergence } from '../record/kind.ts';
import type { ExtraCondition, Verdict } from '../record/status/verdict.ts';
import { withAddresses } from './addresses.ts';
import { failedMessage } from './aspects/power.ts';
import type { InstanceAspect } from './aspects/state.ts';
import { operationMark } from './attach.ts';
import type { InstanceObservation } from './decide.ts';
import type { DesiredInstance } from './desired.ts';
import { doubtful } from './fit.ts';
import { leaseExpiring, untilLease } from './lease/expiring.ts';
import { releasedMark, sourceNote } from './lease/note.ts';
import { readLease } from './lease/terms.ts';
import { comparable } from './nested.ts';
import { endedOperation } from './operation/ended.ts';
import { accepts, pairOf, phaseOf, reasonOfRunning } from './pair.ts';
import type { InstanceFields, InstancePass } from './pass.ts';
import { managedOf } from './put/managed.ts';
import { pendingMark } from './put/pending.ts';

/** What a report tells. */
export interface Told {
  verdict: Verdict;
  released?: number;
  held: ReadonlySet<InstanceAspect>;
  drift: readonly Difference[];
}

/** Says how an instance stands of which nothing is due. */
export async function report(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
  seen: InstanceObservation,
  told: Told,
  fields: InstanceFields,
): Promise<Convergence<Instance>> {
  const { resource } = pass;
  const phase = phaseOf(pairOf(record));
  if (reasonOfRunning(phase) !== undefined) {
    // In between status is written only when the phase changes.
    const said = resource.status.phase === phase && resource.status.id === record.id;
    const managed = desired.contentWaits === undefined ? { managed: managedOf(desired) } : {};
    const quiet = seen.nextLook.isLearnt ? { quiet: true } : {};
    return { verdict: told.verdict, fields: said ? {} : { ...fields, ...managed }, ...quiet };
  }
  const { held, released } = told;
  const extra = extras(pass, seen, told);
  const doubt = doubtful(desired.doubts);
  if (doubt !== undefined) extra.push(doubt);
  const { lastOperation, askAgainMs } = await endedOperation(pass, record);
  const isToldNow = lastOperation?.outcome === 'Failed' && told.verdict.reason === 'OperationFailed';
  const said = isToldNow
    ? { ...told.verdict, message: failedMessage(pairOf(record), lastOperation.message) }
    : told.verdict;
  const hash = seen.armedHash;
  const isReleased = released !== undefined || resource.status.armed === releasedMark(hash);
  const stands = phase === 'Online' || phase === 'ShutDown' || phase === 'Terminated';
  // Each part is in force for itself: what is held in one does not undo another.
  const armed = stands && !held.has('lease') && !held.has('leaseEnd') && !held.has('power');
  const applied = stands && !held.has('content') && phase !== 'Terminated';
  const due = untilLease(seen, pass.now);
  const addressed = await withAddresses(pass, record, fields);
  // What is held is looked at as well: somebody may put it right.
  const { settledMs } = seen.poll;
  const soon = Math.min(due, addressed.askAgainMs, askAgainMs);
  const recheckAfterMs = Math.min(said.recheckAfterMs ?? settledMs, settledMs, soon);
  return {
    verdict: { ...said, extra, recheckAfterMs },
    fields: {
      ...addressed.fields,
      ...underPresentKey(fields.box, desired),
      ...shownLease(seen, told, fields),
      ...(armed || released !== undefined ? { armed: isReleased ? releasedMark(hash) : hash } : {}),
      ...(applied
        ? {
            managed: managedOf(desired),
            pendingHash: pendingHash(seen, phase),
            ...(seen.plan.tagsDiffer ? {} : { appliedTags: seen.tagsHash }),
            ...(seen.plan.variablesDiffer ? {} : { appliedOperation: operationMark(record) }),
          }
        : {}),
      ...(released === undefined ? {} : { releasedExpire: rfc3339(released) }),
      ...(lastOperation === undefined ? {} : { lastOperation }),
      drift: told.drift.length === 0 ? undefined : driftList(told.drift),
    },
  };
}

function extras(pass: InstancePass, seen: InstanceObservation, { drift }: Told): ExtraCondition[] {
  const extra: ExtraCondition[] = drift.length === 0 ? [] : [drifted(drift)];
  const expiring = leaseExpiring(seen, pass.now);
  if (expiring !== undefined) extra.push(expiring);
  if (seen.replacedBox !== undefined) {
    const message =
      `Box "${seen.spec.boxRef?.name}" has another record on the service than ${seen.replacedBox}, from which this ` +
      'instance was deployed: delete it and apply it again to deploy it from the new one';
    extra.push({ type: 'UpdateAvailable', reason: 'BoxReplaced', message });
  }
  if (seen.boxChanged) {
    const reinstall = accepts('reinstall', pairOf(seen.record));
    const way = reinstall ? ': boxwright.dev/request-reinstall brings the change' : '';
    const [below, ...more] = seen.changedBelow;
    const rest = more.length === 0 ? '' : ` and ${more.length} more`;
    const which = below === undefined ? 'The box' : `Box "${below}"${rest}, which the box contains,`;
    const message = `${which} has changed since its scripts were installed${way}`;
    extra.push({ type: 'UpdateAvailable', reason: 'BoxChanged', message });
  }
  return extra;
}

/** A hash under a key that was lost can be compared with nothing: what is there now is where comparing begins. */
function underPresentKey(
  box: InstanceFields['box'],
  { boxDraft, nested }: DesiredInstance,
): Pick<InstanceFields, 'box'> {
  if (box?.draftHash === undefined || boxDraft === undefined) return {};
  const draftHash = Digest.differ(box.draftHash, boxDraft) ? box.draftHash : boxDraft;
  return { box: comparable({ ...box, draftHash }, nested) };
}

/** The lease as status shows it, and who carries it out. */
function shownLease(
  seen: InstanceObservation,
  { held, released }: Told,
  fields: InstanceFields,
): InstanceFields {
  if (fields.lease === undefined) return {};
  const noted = fields.lease.source !== undefined && seen.lease?.isNew === false;
  return {
    lease: {
      ...fields.lease,
      ...(noted && seen.lease !== undefined ? { source: sourceNote(seen.lease) } : {}), // its deletionPolicy can be changed
      ...(released === undefined ? {} : { released: true }),
      // A record that shows no lease is always on, unless the service has lost ours.
      ...(noted && seen.lease?.operation === 'AlwaysOn' && readLease(seen.record.lease) === undefined
        ? { operation: seen.lease.operation }
        : {}),
      by:
        seen.leaseNotKept || (noted && (held.has('lease') || seen.scheduled !== undefined))
          ? 'Operator'
          : 'Service',
    },
  };
}

/** Variables that are on the record of an instance that is shut down, and that its power-on will apply. */
function pendingHash(seen: InstanceObservation, phase: string): string | undefined {
  const { hash, appliedHash, status, record } = seen;
  if (hash === appliedHash) return undefined;
  return phase === 'ShutDown' && seen.variablesPut ? pendingMark(hash, record) : status.pendingHash;
}
