import { rfc3339 } from '../../base/rfc3339.ts';
import type { Instance } from '../../api/instance.ts';
import { parseDuration } from '../../base/duration.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { OperatorContext } from '../context.ts';
import { Digest } from '../digest.ts';
import { driftList } from '../draft/converge.ts';
import { conditionOf, type Convergence } from '../record/kind.ts';
import { wasGlance } from '../record/looks.ts';
import { policiesOf } from '../record/policies.ts';
import { verdict, type ExtraCondition } from '../record/status/verdict.ts';
import { withAddresses } from './addresses.ts';
import { attach } from './attach.ts';
import { decideInstance, type InstanceObservation, type InstanceStep } from './decide.ts';
import type { DesiredInstance } from './desired.ts';
import { leaseExpiring, untilLease } from './lease/expiring.ts';
import { armedHash, leaseNote, sourceNote, withoutSource } from './lease/note.ts';
import { readLease, sameLease, termsHash, wantedLease, type WantedLease } from './lease/terms.ts';
import { OperationRunner } from './operation/run.ts';
import { readTelling } from './operation/telling.ts';
import { pairOf, phaseOf, reasonOfRunning } from './pair.ts';
import { jittered, type InstanceFields, type InstancePass } from './pass.ts';
import { uploadNext, urlOf } from './put/files.ts';
import { managedOf, managedUnion } from './put/managed.ts';
import { isPending, pendingMark } from './put/pending.ts';
import { planPut, type PutPlan } from './put/plan.ts';
import { putRecord } from './put/put.ts';
import { projectInstance, sortedMachines } from './status.ts';

/** Makes an instance's record match: follows the operation under way, else decides and takes one step. */
export class InstanceConvergence {
  readonly #context: OperatorContext;
  readonly #operations: OperationRunner;

  constructor(context: OperatorContext) {
    this.#context = context;
    this.#operations = new OperationRunner(context);
  }

  async converge(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
  ): Promise<Convergence<Instance>> {
    const shown = sortedMachines(projectInstance(pass.resource, record));
    const current = pass.resource.status.currentOperation;
    if (current !== undefined) return this.#operations.follow(pass, record, desired, current, shown);
    const uploading = await uploadNext(pass, record, desired);
    if (uploading !== undefined) return uploading;

    const attached = attach(pass, record, desired, this.#context);
    const seen = this.#observe(pass, record, desired, attached);
    const step = decideInstance(seen);
    this.#context.observer?.step('Instance', step.do);
    if (step.do !== 'report' && wasGlance(pass.memory)) {
      return {
        verdict: verdict('Updating', 'The record is read before it is acted upon'),
        fields: {},
        afresh: true,
      };
    }
    return this.#act(pass, record, desired, seen, step, { ...shown, ...attached });
  }
  #observe(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    attached: InstanceFields,
  ): InstanceObservation {
    const { resource, memory, handle, now } = pass;
    const status = { ...resource.status, ...attached } as Instance['status'];
    const choice = desired.lease;
    const noted = status.lease?.source;
    const source = choice.kind === 'source' ? choice.source : undefined;
    let lease: WantedLease | undefined;
    if (source !== undefined && (!source.paused || noted?.terms === termsHash(source))) {
      lease = wantedLease(source, { noted, deployed: undefined, now });
    }
    // Edited while it is paused, or into what cannot be read here: what stands on the record, and what it has carried out, stays.
    const waits = choice.kind === 'unreadable' || (source?.paused === true && lease === undefined);
    const held = waits && noted !== undefined;
    const sourceGone = noted !== undefined && source === undefined && !held;
    if (lease !== undefined && memory.leasePut?.terms === lease.terms && memory.leasePut.kept === undefined) {
      memory.leasePut = { terms: lease.terms, kept: sameLease(readLease(record.lease), lease) };
    }
    const phase = phaseOf(pairOf(record));
    const monotonic = this.#context.clock.monotonic();
    if (reasonOfRunning(phase) === undefined) memory.running = undefined;
    else if (memory.running?.phase !== phase) memory.running = { phase, since: monotonic };
    const appliedHash = status.appliedHash;
    const pending = isPending(status.pendingHash, desired.hash, record, desired.variables);
    return {
      spec: resource.spec,
      status,
      record,
      now,
      lease,
      leaseHeld: held,
      leaseToTakeOff: sourceGone && noted.deletionPolicy === 'Delete',
      takeOffTries: memory.takeOffTries ?? 0,
      armedHash: armedHash(resource, lease?.terms ?? (held ? noted.terms : undefined)),
      plan: this.#plan(pass, record, desired, status),
      hash: desired.hash,
      hashIsKnown: appliedHash === undefined || this.#context.digest.knows(appliedHash),
      appliedHash,
      variablesPut: memory.putHash === desired.hash || pending,
      putWhileDown: memory.putWhileDown === desired.hash || pending,
      othersPending: status.pendingHash !== undefined && !pending,
      requests: desired.requests,
      handled: status.handledRequests ?? {},
      drift: policiesOf(resource, handle, 'Hold').drift,
      onMissing: policiesOf(resource, handle, 'Hold').missing,
      timeoutMs: desired.operationTimeoutMs,
      runningSince: memory.running === undefined ? undefined : now - (monotonic - memory.running.since),
      poll: {
        processingMs: jittered(handle.poll.processingMs, pass),
        settledMs: jittered(handle.poll.settledMs, pass),
      },
      leaseNotKept:
        lease !== undefined && memory.leasePut?.terms === lease.terms && memory.leasePut.kept === false,
      warnBeforeMs: source?.warnBefore === undefined ? undefined : parseDuration(source.warnBefore),
    };
  }

  #plan(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    status: Instance['status'],
  ): PutPlan {
    return planPut(
      record,
      {
        marker: pass.marker,
        tags: desired.tags,
        variables: desired.variables,
        urlOf: (variable) => urlOf(pass, record, variable, desired) ?? '',
      },
      { tags: status.managed?.tags ?? [], variables: status.managed?.variables ?? [] },
    );
  }

  async #act(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    seen: InstanceObservation,
    step: InstanceStep,
    fields: InstanceFields,
  ): Promise<Convergence<Instance>> {
    switch (step.do) {
      case 'report':
        return this.#report(pass, record, desired, seen, step, fields);
      case 'noteLease':
        return this.#note({ ...fields, ...leaseNote(seen) }, 'The lease is being put on the instance');
      case 'dropLeaseSource':
        pass.memory.takeOffTries = undefined;
        return this.#note({ ...fields, lease: withoutSource(fields.lease, record) }, 'The lease is let go');
      case 'noteManaged':
        return this.#note(
          { ...fields, managed: managedUnion(pass, seen.plan, desired), pendingHash: undefined },
          'The change is being put on the record',
        );
      case 'put': {
        const done = await putRecord(pass, record, desired, seen, fields, this.#context.clock);
        return { ...done, corrected: done.again === true && isDrift(pass, seen) };
      }
      case 'begin': {
        const done = await this.#operations.begin(pass, record, desired, step, fields, seen.armedHash);
        const asked = step.token !== undefined || step.released !== undefined;
        return { ...done, corrected: done.again === true && !asked && isDrift(pass, seen) };
      }
      case 'refuseRequest': {
        const said = verdict('Refused', `${step.message}: the request ${step.of} is not carried out`);
        return this.#note(
          {
            ...fields,
            handledRequests: {
              ...pass.resource.status.handledRequests,
              ...seen.handled,
              [step.of]: step.value,
            },
            lastOperation: { event: step.of, outcome: 'Failed', message: said.message },
          },
          said.message,
        );
      }
      case 'noteApplied':
        return {
          verdict: step.verdict,
          fields: {
            ...fields,
            appliedHash: desired.hash,
            pendingHash: undefined,
            managed: managedOf(desired),
          },
          again: true,
          quiet: false,
        };
      case 'renounce':
        return { verdict: verdict('Creating', 'The instance is deployed again'), fields, renounce: true };
      default:
        return step satisfies never;
    }
  }

  #note(fields: InstanceFields, message: string): Convergence<Instance> {
    return { verdict: verdict('Updating', message), fields, again: true };
  }

  async #report(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    seen: InstanceObservation,
    step: Extract<InstanceStep, { do: 'report' }>,
    fields: InstanceFields,
  ): Promise<Convergence<Instance>> {
    const { resource } = pass;
    const phase = phaseOf(pairOf(record));
    if (reasonOfRunning(phase) !== undefined) {
      // In between status is written only when the phase changes.
      const said = resource.status.phase === phase && resource.status.id === record.id;
      return { verdict: step.verdict, fields: said ? {} : { ...fields, managed: managedOf(desired) } };
    }
    const extra = this.#extras(pass, seen, step, desired);
    const ended = await this.#deployEnded(pass, record, desired);
    const failedNow = ended?.outcome === 'Failed' && step.verdict.reason === 'OperationFailed';
    const said = failedNow
      ? {
          ...step.verdict,
          message: `deploy failed: ${ended.message ?? 'no log'}. Mend the cause, then change the resource or ask again with boxwright.dev/request-redeploy`,
        }
      : step.verdict;
    const released = step.released === undefined ? {} : { releasedExpire: rfc3339(step.released) };
    const hash = seen.armedHash;
    const inForce =
      step.released !== undefined || resource.status.armed === `released:${hash}` ? `released:${hash}` : hash;
    const settled =
      said.reason === 'Settled' || said.reason === 'ShutDown' || said.reason === 'LeaseReleased';
    const shownLease =
      fields.lease?.source === undefined || seen.lease === undefined || seen.lease.isNew
        ? fields.lease
        : { ...fields.lease, source: sourceNote(seen.lease) }; // its deletionPolicy can be changed
    const lease =
      shownLease === undefined || step.released === undefined
        ? shownLease
        : { ...shownLease, released: true };
    const due = untilLease(seen, pass.now);
    const addressed = await withAddresses(pass, record, fields);
    const recheckAfterMs = Math.min(said.recheckAfterMs ?? seen.poll.settledMs, due, addressed.askAgainMs);
    return {
      verdict: { ...said, extra, recheckAfterMs },
      fields: {
        ...addressed.fields,
        ...underPresentKey(fields.box, desired.boxDraft),
        ...(lease === undefined
          ? {}
          : { lease: seen.leaseNotKept ? { ...lease, by: 'Operator' } : { ...lease, by: 'Service' } }),
        ...(settled || step.released !== undefined ? { armed: inForce } : {}),
        ...(settled ? { managed: managedOf(desired), pendingHash: pendingHash(seen, phase) } : {}),
        ...released,
        ...(ended === undefined ? {} : { lastOperation: ended }),
        drift: step.drift === undefined ? undefined : driftList({ differences: step.drift }),
      },
    };
  }

  #extras(
    pass: InstancePass,
    seen: InstanceObservation,
    step: Extract<InstanceStep, { do: 'report' }>,
    desired: DesiredInstance,
  ): ExtraCondition[] {
    const extra: ExtraCondition[] = [];
    if (step.drift !== undefined) {
      const names = step.drift.map(({ field }) => field).toSorted();
      const message = `The record differs in ${names.slice(0, 10).join(', ')}: see status.drift`;
      extra.push({ type: 'Drifted', reason: 'Drifted', message });
    }
    const expiring = leaseExpiring(seen, pass.now);
    if (expiring !== undefined) extra.push(expiring);
    const installed = seen.status.box?.draftHash;
    if (
      installed !== undefined &&
      desired.boxDraft !== undefined &&
      Digest.differ(installed, desired.boxDraft)
    ) {
      extra.push({
        type: 'UpdateAvailable',
        reason: 'BoxChanged',
        message:
          'The box has changed since its scripts were installed: boxwright.dev/request-reinstall brings the change',
      });
    }
    return extra;
  }

  /** The first deploy has no currentOperation; its end is told once, when its phase is left. */
  async #deployEnded(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
  ): Promise<InstanceFields['lastOperation']> {
    const { status } = pass.resource;
    const pair = pairOf(record);
    if (status.lastOperation !== undefined || pair.event !== 'deploy') return undefined;
    const failed = pair.state === 'unavailable';
    const message = failed ? await readTelling(pass, record, desired, 'deploy') : undefined;
    return {
      event: 'deploy',
      outcome: failed ? 'Failed' : 'Succeeded',
      endedAt: rfc3339(pass.now),
      ...(message === undefined ? {} : { message }),
    };
  }
}

/** A hash under a key that was lost can be compared with nothing: what is there now is where comparing begins. */
function underPresentKey(
  box: InstanceFields['box'],
  boxDraft: string | undefined,
): Pick<InstanceFields, 'box'> {
  if (box?.draftHash === undefined || boxDraft === undefined || box.draftHash === boxDraft) return {};
  return Digest.differ(box.draftHash, boxDraft) ? {} : { box: { ...box, draftHash: boxDraft } };
}

/** It was in step with this very declaration: what differs now is somebody else's doing. */
function isDrift(
  { resource }: InstancePass,
  { status, hash, armedHash: armed }: InstanceObservation,
): boolean {
  return (
    conditionOf(resource, 'Ready')?.status === 'True' &&
    resource.status.observedGeneration === resource.metadata.generation &&
    status.appliedHash === hash &&
    (status.armed === armed || status.armed === `released:${armed}`)
  );
}

/** Variables that are on the record of an instance that is shut down, and that its power-on will apply. */
function pendingHash(seen: InstanceObservation, phase: string): string | undefined {
  const { hash, appliedHash, status, record } = seen;
  if (hash === appliedHash) return undefined;
  return phase === 'ShutDown' && seen.variablesPut ? pendingMark(hash, record) : status.pendingHash;
}
