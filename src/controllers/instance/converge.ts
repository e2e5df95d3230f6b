import type { Instance } from '../../api/instance.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { OperatorContext } from '../context.ts';
import type { Difference } from '../record/differences.ts';
import { conditionOf, type Convergence } from '../record/kind.ts';
import { readFirst, takeOver } from '../record/observed.ts';
import type { Attempt } from '../record/outcome.ts';
import { verdict } from '../record/status/verdict.ts';
import { uploading, uploadOnce } from '../record/uploads.ts';
import { decideLeaseEnd } from './aspects/lease.ts';
import {
  callOf,
  choose,
  INSTANCE_ASPECTS,
  type AspectStates,
  type Choice,
  type InstanceAspect,
} from './aspects/state.ts';
import { attach } from './attach.ts';
import { decideInstance, type InstanceObservation } from './decide.ts';
import type { DesiredInstance } from './desired.ts';
import { disarmed, leaseNote, releasedMark, withoutSource } from './lease/note.ts';
import { InstanceObservations } from './observations.ts';
import type { Durations } from './operation/durations.ts';
import { OperationRunner } from './operation/run.ts';
import type { InstanceFields, InstancePass } from './pass.ts';
import { managedOf, managedUnion } from './put/managed.ts';
import { putRecord } from './put/put.ts';
import { report } from './report.ts';
import { projectInOrder } from './status.ts';

/** Makes an instance's record match: follows the operation under way, else decides and takes one step. */
export class InstanceConvergence {
  readonly #context: OperatorContext;
  readonly #observations: InstanceObservations;
  readonly #operations: OperationRunner;

  constructor(context: OperatorContext, durations: Durations) {
    this.#context = context;
    this.#observations = new InstanceObservations(context, durations);
    this.#operations = new OperationRunner(context, durations);
  }

  async converge(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
  ): Promise<Convergence<Instance>> {
    const shown = projectInOrder(pass.resource, record);
    const current = pass.resource.status.currentOperation;
    const attached = current === undefined ? attach(pass, record, desired, shown, this.#context) : {};
    const seen = this.#observations.of(pass, record, desired, attached);
    if (current !== undefined) {
      return this.#operations.follow(pass, record, desired, current, {
        fields: shown,
        endIsDue: decideLeaseEnd(seen).kind === 'steps',
        variablesDiffer: seen.plan.variablesDiffer,
      });
    }
    noteSwitch(pass, seen);
    const fields = { ...shown, ...attached };
    const decision = decideInstance(seen);
    if (decision.kind === 'renounce') {
      this.#context.observer?.step('Instance', 'renounce');
      const said = verdict('Creating', 'The instance is deployed again');
      return readFirst<Instance>(pass.memory) ?? { verdict: said, fields, renounce: true };
    }
    if (decision.kind === 'whole') {
      this.#context.observer?.step('Instance', 'report');
      return report(pass, record, desired, seen, { ...decision, held: NOTHING, drift: [] }, fields);
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
    return report(pass, record, desired, seen, told, fields);
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

  async #act(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    seen: InstanceObservation,
    choice: Extract<Choice, { do: 'step' }>,
    fields: InstanceFields,
  ): Promise<Convergence<Instance>> {
    const { step, aspect, fingerprint } = choice;
    const call = callOf(step);
    const attempt: Attempt = {
      attempts: pass.memory.attempts,
      aspect,
      fingerprint,
      ...(call === undefined ? {} : { call }),
    };
    const note = (noted: InstanceFields, message: string): Convergence<Instance> => {
      takeOver(pass.memory);
      return { verdict: verdict('Updating', message), fields: noted, again: true };
    };
    switch (step.do) {
      case 'noteLease':
        return note(
          { ...fields, ...leaseNote(seen), ...disarmed(seen) },
          'The lease is being put on the instance',
        );
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
        if (pass.resource.status.appliedHash !== seen.appliedHash) {
          // What was on the record before would not be known afterwards.
          return note(fields, 'The record is taken over');
        }
        if (step.why === 'lease' && 'armed' in disarmed(seen)) {
          return note({ ...fields, ...disarmed(seen) }, 'The change is being put on the record');
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
        const before = aspect === 'power' ? { ...fields, ...disarmed(seen) } : fields;
        const done = await this.#operations.begin(pass, record, desired, begun, before);
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

/** What came of the switches before does not hold a new one of the schedule back. */
function noteSwitch({ memory }: InstancePass, { scheduled }: InstanceObservation): void {
  if (scheduled?.kind !== 'now' || memory.switched === scheduled.since) return;
  if (memory.switched !== undefined) memory.attempts.clearAspect('power');
  memory.switched = scheduled.since;
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
    (status.armed === armed || status.armed === releasedMark(armed))
  );
}
