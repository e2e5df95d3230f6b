import { rfc3339 } from '../../base/rfc3339.ts';
import type { Instance } from '../../api/instance.ts';
import { jittered } from '../../base/backoff.ts';
import { parseDuration } from '../../base/duration.ts';
import { canonicalJson, sha256Base32 } from '../../base/hash.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { OperatorContext } from '../context.ts';
import { Digest } from '../digest.ts';
import { drifted, driftList, type Difference } from '../record/differences.ts';
import { conditionOf, type Convergence } from '../record/kind.ts';
import { readFirst, takeOver } from '../record/looks.ts';
import type { Attempt } from '../record/outcome.ts';
import { policiesOf } from '../record/policies.ts';
import { verdict, type ExtraCondition, type Verdict } from '../record/status/verdict.ts';
import { uploading, uploadOnce } from '../record/uploads.ts';
import { withAddresses } from './addresses.ts';
import { decideLeaseEnd } from './aspects/lease.ts';
import { failedMessage } from './aspects/power.ts';
import {
  choose,
  INSTANCE_ASPECTS,
  type AspectStates,
  type Choice,
  type InstanceAspect,
} from './aspects/state.ts';
import { attach } from './attach.ts';
import { decideInstance, type InstanceObservation } from './decide.ts';
import type { DesiredInstance } from './desired.ts';
import { leaseExpiring, untilLease } from './lease/expiring.ts';
import { armedHash, leaseNote, sourceNote, withoutSource } from './lease/note.ts';
import { readLease, sameLease, termsHash, wantedLease, type WantedLease } from './lease/terms.ts';
import { endedOperation } from './operation/ended.ts';
import { OperationRunner } from './operation/run.ts';
import { accepts, pairOf, phaseOf, reasonOfRunning } from './pair.ts';
import type { InstanceFields, InstancePass } from './pass.ts';
import { missingFile, urlOf } from './put/files.ts';
import { changedBelow, comparable } from './nested.ts';
import { managedOf, managedUnion } from './put/managed.ts';
import { isPending, pendingMark } from './put/pending.ts';
import { planPut, type PutPlan } from './put/plan.ts';
import { putRecord } from './put/put.ts';
import { projectInOrder } from './status.ts';

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
    const shown = projectInOrder(pass.resource, record);
    const current = pass.resource.status.currentOperation;
    const attached = current === undefined ? attach(pass, record, desired, shown, this.#context) : {};
    const seen = this.#observe(pass, record, desired, attached);
    if (current !== undefined) {
      return this.#operations.follow(pass, record, desired, current, {
        fields: shown,
        endIsDue: decideLeaseEnd(seen).kind === 'steps',
        variablesDiffer: seen.plan.variablesDiffer,
      });
    }
    const fields = { ...shown, ...attached };
    const decision = decideInstance(seen);
    if (decision.kind === 'renounce') {
      this.#context.observer?.step('Instance', 'renounce');
      const said = verdict('Creating', 'The instance is deployed again');
      return readFirst<Instance>(pass.memory) ?? { verdict: said, fields, renounce: true };
    }
    if (decision.kind === 'whole') {
      this.#context.observer?.step('Instance', 'report');
      return this.#report(pass, record, desired, seen, { ...decision, held: NOTHING, drift: [] }, fields);
    }
    const { states, released } = decision;
    const choice = choose(states, pass.memory.attempts, () => this.#mayPowerOnWait(pass));
    this.#context.observer?.step('Instance', choice.do === 'step' ? choice.step.do : 'report');
    if (choice.do === 'step') {
      return readFirst<Instance>(pass.memory) ?? this.#act(pass, record, desired, seen, choice, fields);
    }
    noteInForce(pass, states);
    const told = {
      verdict: choice.verdict ?? decision.settled,
      ...(released === undefined ? {} : { released }),
      held: choice.held,
      drift: seen.drift === 'Report' ? driftOf(states) : [],
    };
    return this.#report(pass, record, desired, seen, told, fields);
  }

  /** Looks for the end of the operation under way, where nothing may be sent. */
  follow(pass: InstancePass, record: InstanceRecord): Promise<Convergence<Instance>> {
    const fields = projectInOrder(pass.resource, record);
    const current = pass.resource.status.currentOperation;
    if (current === undefined) throw new Error('no operation is under way');
    return this.#operations.follow(pass, record, undefined, current, {
      fields,
      endIsDue: false,
      variablesDiffer: false,
    });
  }

  /** A power-on applies what is on the record, so it waits a while for what is about to be put there. */
  #mayPowerOnWait({ memory }: InstancePass): boolean {
    const now = this.#context.clock.monotonic();
    memory.powerOnSince ??= now;
    return now - memory.powerOnSince < POWER_ON_WAITS_MS;
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
    const isAway = choice.kind === 'unreadable' || choice.kind === 'waiting';
    const waits = isAway || (source?.paused === true && lease === undefined);
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
    const put = memory.put?.hash === desired.hash ? memory.put : undefined;
    const pending = isPending(status.pendingHash, desired.hash, record, desired.variables);
    return {
      spec: resource.spec,
      status,
      record,
      now,
      lease,
      leaseHeld: held,
      leaseMissing: choice.kind === 'waiting' ? choice.message : undefined,
      leaseToTakeOff: sourceGone && noted.deletionPolicy === 'Delete',
      armedHash: armedHash(resource, lease?.terms ?? (held ? noted.terms : undefined)),
      plan: this.#plan(pass, record, desired, status),
      contentWaits: desired.contentWaits,
      missingFile: missingFile(pass, record, desired),
      hash: desired.hash,
      tagsHash: tagsHash(desired),
      contentHash: `${desired.hash} ${tagsHash(desired)}`,
      boxChanged: this.#boxChanged(status, desired),
      changedBelow: changedBelow(status.box, desired.nested),
      hashIsKnown: appliedHash === undefined || this.#context.digest.knows(appliedHash),
      appliedHash,
      variablesPut: put !== undefined || pending,
      putWhileDown: put?.whileDown === true || pending,
      othersPending: status.pendingHash !== undefined && !pending,
      requests: desired.requests,
      handled: status.handledRequests ?? {},
      drift: policiesOf(resource, handle, 'Hold').drift,
      onMissing: policiesOf(resource, handle, 'Hold').missing,
      timeoutMs: desired.operationTimeoutMs,
      runningSince: memory.running === undefined ? undefined : now - (monotonic - memory.running.since),
      poll: {
        processingMs: jittered(handle.poll.processingMs, pass.random),
        settledMs: jittered(handle.poll.settledMs, pass.random),
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
    const { tags = [], variables = [] } = status.managed ?? {};
    return planPut(
      record,
      {
        marker: pass.marker,
        tags: desired.tags,
        variables: desired.variables,
        urlOf: (variable) => urlOf(pass, record, variable, desired) ?? '',
      },
      { tags, variables: desired.contentWaits === undefined ? variables : [] },
    );
  }

  /** Whether the content of the box is another one, as far as hashes under the present key can tell. */
  #boxChanged({ box }: Instance['status'], { boxDraft, nested }: DesiredInstance): boolean {
    const installed = box?.draftHash;
    if (installed === undefined || boxDraft === undefined) return false;
    return Digest.differ(installed, boxDraft) || changedBelow(box, nested).length > 0;
  }

  async #act(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    seen: InstanceObservation,
    choice: Extract<Choice, { do: 'step' }>,
    fields: InstanceFields,
  ): Promise<Convergence<Instance>> {
    const { step, aspect, fingerprint } = choice;
    const attempt: Attempt = { attempts: pass.memory.attempts, aspect, fingerprint };
    const note = (noted: InstanceFields, message: string): Convergence<Instance> => {
      takeOver(pass.memory);
      return { verdict: verdict('Updating', message), fields: noted, again: true };
    };
    switch (step.do) {
      case 'noteLease':
        return note({ ...fields, ...leaseNote(seen) }, 'The lease is being put on the instance');
      case 'dropLeaseSource':
        pass.memory.attempts.succeeded(aspect, fingerprint);
        return note({ ...fields, lease: withoutSource(fields.lease, record) }, 'The lease is let go');
      case 'noteManaged':
        return note(
          { ...fields, ...managedUnion(pass, seen.plan, desired, step.of) },
          'The change is being put on the record',
        );
      case 'upload': {
        const said = await uploadOnce(pass, step.file, attempt);
        if (said !== undefined) return { verdict: said, fields: {}, afresh: true };
        return { verdict: uploading(), fields: {}, again: true, quiet: true };
      }
      case 'put':
        if (pass.resource.status.appliedHash === undefined && seen.appliedHash !== undefined) {
          // What was on the record before would not be known afterwards.
          return note(fields, 'The record is taken over');
        }
        return putRecord(pass, record, desired, seen, {
          why: step.why,
          attempt,
          meant: choice,
          correcting: isDrift(pass, seen),
        });
      case 'begin': {
        const correcting = aspect !== 'requests' && aspect !== 'leaseEnd' && isDrift(pass, seen);
        const begun = { ...step, attempt, armed: seen.armedHash, correcting };
        const done = await this.#operations.begin(pass, record, desired, begun, fields);
        return { ...done, corrected: done.again === true && correcting };
      }
      case 'refuseRequest': {
        const message = `The request ${step.of} is not carried out: ${step.message}`;
        const { handledRequests } = pass.resource.status;
        return note(
          {
            ...fields,
            handledRequests: { ...handledRequests, ...seen.handled, [step.of]: step.value },
            refusedRequest: { operation: step.of, message },
          },
          message,
        );
      }
      case 'noteApplied':
        return note(
          { ...fields, appliedHash: desired.hash, pendingHash: undefined, managed: managedOf(desired) },
          'The variables are on the record',
        );
      default:
        return step satisfies never;
    }
  }

  async #report(
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
      return { verdict: told.verdict, fields: said ? {} : { ...fields, ...managed } };
    }
    const { held, released } = told;
    const extra = this.#extras(pass, seen, told);
    const { lastOperation, askAgainMs } = await endedOperation(pass, record);
    const isToldNow = lastOperation?.outcome === 'Failed' && told.verdict.reason === 'OperationFailed';
    const said = isToldNow
      ? { ...told.verdict, message: failedMessage(pairOf(record), lastOperation.message) }
      : told.verdict;
    const hash = seen.armedHash;
    const isReleased = released !== undefined || resource.status.armed === `released:${hash}`;
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
        ...(armed || released !== undefined ? { armed: isReleased ? `released:${hash}` : hash } : {}),
        ...(applied
          ? {
              managed: managedOf(desired),
              pendingHash: pendingHash(seen, phase),
              ...(seen.plan.tagsDiffer ? {} : { appliedTags: seen.tagsHash }),
            }
          : {}),
        ...(released === undefined ? {} : { releasedExpire: rfc3339(released) }),
        ...(lastOperation === undefined ? {} : { lastOperation }),
        drift: told.drift.length === 0 ? undefined : driftList(told.drift),
      },
    };
  }

  #extras(pass: InstancePass, seen: InstanceObservation, { drift }: Told): ExtraCondition[] {
    const extra: ExtraCondition[] = drift.length === 0 ? [] : [drifted(drift)];
    const expiring = leaseExpiring(seen, pass.now);
    if (expiring !== undefined) extra.push(expiring);
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

/** What a report tells. */
interface Told {
  verdict: Verdict;
  released?: number;
  held: ReadonlySet<InstanceAspect>;
  drift: readonly Difference[];
}

const NOTHING: ReadonlySet<InstanceAspect> = new Set();

/** A power-on waits so long for content that is tried again soon, milliseconds. */
const POWER_ON_WAITS_MS = 120_000;

function driftOf(states: AspectStates): Difference[] {
  return Object.values(states).flatMap((state) => (state.kind === 'inForce' ? (state.drift ?? []) : []));
}

function noteInForce({ memory }: InstancePass, states: AspectStates): void {
  for (const aspect of INSTANCE_ASPECTS) {
    const state = states[aspect];
    if (state.kind !== 'inForce') continue;
    if (state.fingerprint !== undefined) memory.attempts.inForce(aspect, state.fingerprint);
    if (aspect === 'power') memory.powerOnSince = undefined;
  }
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
      by: seen.leaseNotKept || (noted && held.has('lease')) ? 'Operator' : 'Service',
    },
  };
}

function tagsHash({ tags }: DesiredInstance): string {
  return sha256Base32(canonicalJson(tags.toSorted())).slice(0, 24);
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
