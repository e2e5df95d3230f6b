import { rfc3339 } from '../../../base/rfc3339.ts';
import type { CurrentOperation, Instance } from '../../../api/instance.ts';
import type { RequestedOperation } from '../../../api/names.ts';
import { jittered, lookAgainMs } from '../../../base/backoff.ts';
import type { InstanceOperationName, InstanceRecord } from '../../../service/index.ts';
import type { OperatorContext } from '../../context.ts';
import type { Convergence } from '../../record/kind.ts';
import { noteWrite, readFirst } from '../../record/observed.ts';
import { failed, notAccepted, type Attempt } from '../../record/outcome.ts';
import { verdict } from '../../record/status/verdict.ts';
import { named, type InstanceAspect, type InstanceStep } from '../aspects/state.ts';
import type { DesiredInstance } from '../desired.ts';
import type { SentOperation } from '../memory.ts';
import { armedIn, releasedMark } from '../lease/note.ts';
import { installedBox } from '../nested.ts';
import { operationMark } from '../attach.ts';
import { pairOf, phaseOf } from '../pair.ts';
import { runningReason, type InstanceFields, type InstancePass } from '../pass.ts';
import { followOperation, NO_OPERATION, operationKey, type OperationObservation } from './follow.ts';
import type { Durations } from './durations.ts';
import { ranMs } from './running.ts';
import { readTelling } from './telling.ts';

/** After a 409 the state is looked at this soon at the latest, milliseconds. */
const CONFLICT_LOOK_MS = 5_000;
/** The highest try that status shows. */
const TRIES_SHOWN = 1_000;

/** Carries one operation out exactly once: notes it, sends it, follows it to its end. */
export class OperationRunner {
  readonly #context: OperatorContext;
  readonly #durations: Durations;

  constructor(context: OperatorContext, durations: Durations) {
    this.#context = context;
    this.#durations = durations;
  }

  /** Notes an operation in status, with what the record and its operations were before: then it may be sent. */
  async begin(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    step: Begun,
    fields: InstanceFields,
  ): Promise<Convergence<Instance>> {
    const { memory, handle, now } = pass;
    const { attempts, aspect, fingerprint } = step.attempt;
    const read = await handle.client.instances.operations(record.id, {
      priority: pass.priority,
      signal: pass.signal,
    });
    if (read.kind === 'unknown' && read.error.status === undefined) {
      return { verdict: failed(read.error, step.attempt), fields: {}, afresh: true };
    }
    const lastOperationId = read.kind === 'found' ? (read.record.at(-1)?.id ?? NO_OPERATION) : undefined;
    const tries = attempts.tries(aspect, fingerprint) + attempts.sent(aspect, fingerprint);
    const current: CurrentOperation = {
      event: step.operation,
      ...(step.token === undefined ? {} : { token: `${step.token.of}:${step.token.value}` }),
      ...(record.updated === undefined ? {} : { updatedBefore: record.updated }),
      ...(lastOperationId === undefined ? {} : { lastOperationId }),
      startedAt: rfc3339(now),
      deadline: rfc3339(now + desired.operationTimeoutMs),
      try: Math.min(tries + 1, TRIES_SHOWN),
      ...(step.hash === undefined ? {} : { changeHash: step.hash }),
      ...(step.released === undefined ? {} : { released: rfc3339(step.released) }),
    };
    memory.operation = {
      key: operationKey(current),
      outcome: 'unsent',
      correcting: step.correcting,
      since: this.#context.clock.monotonic(),
      quietSince: this.#context.clock.monotonic(),
      updated: record.updated,
    };
    return {
      verdict: verdict(runningReason(step.operation), `${step.operation} is about to be sent`),
      fields: {
        ...fields,
        ...installed(step.operation, desired, fields),
        currentOperation: current,
        ...(step.token === undefined ? {} : { refusedRequest: undefined }),
        ...(step.released === undefined
          ? {}
          : {
              releasedExpire: rfc3339(step.released),
              armed: releasedMark(step.armed),
              lease: fields.lease === undefined ? undefined : { ...fields.lease, by: 'Operator' },
            }),
      },
      again: true,
    };
  }

  /** `desired`: undefined where nothing may be sent. What would be sent is then dropped, to be decided anew. */
  async follow(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance | undefined,
    current: CurrentOperation,
    { fields: shown, endIsDue, variablesDiffer }: Shown,
  ): Promise<Convergence<Instance>> {
    const { memory, handle } = pass;
    const monotonic = this.#context.clock.monotonic();
    const key = operationKey(current);
    let sent = memory.operation;
    if (sent?.key !== key) {
      // Another process noted it, or this one before it was restarted: whether it was sent is unknown.
      sent = {
        key,
        outcome: 'unknown',
        correcting: false,
        since: monotonic,
        quietSince: monotonic,
        updated: record.updated,
      };
    } else if (sent.updated !== record.updated && sent.outcome !== 'unsent') {
      sent = { ...sent, quietSince: monotonic, updated: record.updated };
    }
    memory.operation = sent;
    const lagWindowMs = handle.poll.lagWindowMs;
    const seen: OperationObservation = {
      current,
      record,
      sent,
      operations: undefined,
      user: handle.user,
      monotonic,
      lagWindowMs,
    };
    let step = followOperation(seen);
    if (step.do === 'lookAtOperations') {
      const read = await handle.client.instances.operations(record.id, {
        priority: pass.priority,
        signal: pass.signal,
      });
      step = followOperation({
        ...seen,
        operations: read.kind === 'found' ? { kind: 'read', records: read.record } : { kind: 'unreadable' },
      });
    }
    switch (step.do) {
      case 'send':
        if (desired === undefined)
          return this.#drop(pass, current, shown, `${current.event} is not sent now`);
        return this.#send(pass, record, current, sent);
      case 'again':
        return this.#drop(pass, current, shown, `${current.event} was not taken: it is sent again`);
      case 'drop':
        return this.#drop(
          pass,
          current,
          shown,
          `${current.event} is not possible now: the state is looked at anew`,
        );
      case 'end':
        return (
          (variablesDiffer ? readFirst<Instance>(memory) : undefined) ??
          this.#end(pass, record, desired, current, step.outcome, { shown, variablesDiffer })
        );
      case 'wait':
        return this.#wait(pass, record, current, { shown, endIsDue, sent }, step.recheckAfterMs);
      case 'lookAtOperations':
        return this.#wait(pass, record, current, { shown, endIsDue, sent }, undefined);
      default:
        return step satisfies never;
    }
  }

  /** It certainly is not under way: other aspects go on, and the ledger says when it may be sent again. */
  #drop(
    pass: InstancePass,
    current: CurrentOperation,
    shown: InstanceFields,
    message: string,
  ): Convergence<Instance> {
    pass.memory.operation = undefined;
    return {
      verdict: verdict('Updating', message),
      fields: { ...shown, ...notCarriedOut(current), currentOperation: undefined },
      again: true,
    };
  }

  #wait(
    pass: InstancePass,
    record: InstanceRecord,
    current: CurrentOperation,
    { shown, endIsDue, sent }: { shown: InstanceFields; endIsDue: boolean; sent: SentOperation },
    recheckAfterMs: number | undefined,
  ): Convergence<Instance> {
    const { afterMs: poll } = this.#durations.nextLook(pass.handle.endpoint, record, {
      ranMs: ranMs(pass.memory, this.#context.clock.monotonic()),
      pollMs: jittered(pass.handle.poll.processingMs, pass.random),
    });
    const recheck = Math.min(recheckAfterMs ?? poll, poll);
    const pair = pairOf(record);
    const fields = pass.resource.status.phase === phaseOf(pair) ? {} : shown;
    if (pass.now > Date.parse(current.deadline)) {
      const stuck = `${current.event} runs longer than operationTimeout (${pass.resource.spec.operationTimeout})`;
      const said = endIsDue
        ? verdict(
            'NeedsUser',
            `End of the lease: it has come, and ${stuck}: end the operation on the service`,
          )
        : verdict(
            'OperationFailed',
            `${stuck}: look at the instance on the service, or raise operationTimeout`,
          );
      const { processingMs, settledMs } = pass.handle.poll;
      const recheckLater = lookAgainMs(pass.now - Date.parse(current.startedAt), processingMs, settledMs);
      return {
        verdict: { ...said, recheckAfterMs: Math.min(recheckAfterMs ?? Infinity, recheckLater) },
        fields,
      };
    }
    const { aspect, fingerprint } = attemptOf(pass, current);
    const failure = sent.outcome === 'unknown' ? pass.memory.attempts.said(aspect, fingerprint) : undefined;
    const message =
      failure === undefined || pair.state === 'processing'
        ? `Waits for the end of ${current.event}`
        : `${current.event}: ${failure.message}: whether it was taken is looked up before it is sent again`;
    return { verdict: verdict(runningReason(current.event), message, recheck), fields };
  }

  async #send(
    pass: InstancePass,
    record: InstanceRecord,
    current: CurrentOperation,
    sent: SentOperation,
  ): Promise<Convergence<Instance>> {
    const { memory, handle, priority, signal } = pass;
    const { instances } = handle.client;
    memory.operation = { ...sent, outcome: 'unknown', quietSince: this.#context.clock.monotonic() };
    const options = { priority, signal };
    const write =
      current.event === 'terminate'
        ? await instances.remove(record.id, this.#howToTerminate(pass, record), options)
        : await instances.operate(record.id, current.event as InstanceOperationName, options);
    noteWrite(memory, write, this.#context.clock.monotonic());
    const attempt = attemptOf(pass, current);
    const { aspect, fingerprint } = attempt;
    if (write.kind === 'ok') {
      const what = { difference: aspect, correcting: sent.correcting, call: attempt.call };
      memory.attempts.accepted(aspect, fingerprint, what);
      memory.operation = { ...memory.operation, outcome: 'accepted' };
      if (write.record === undefined) memory.observed = undefined;
      const message = `Waits for the end of ${current.event}`;
      return { verdict: verdict(runningReason(current.event), message, 0), fields: {}, again: true };
    }
    memory.observed = undefined;
    const at = stateAt(record);
    const conflict = verdict(
      runningReason(current.event),
      `${current.event} is not possible now: the state is looked at anew`,
    );
    const said = notAccepted(write, attempt, {
      refused: (message) => verdict('Refused', `${current.event}: ${message}`),
      conflict,
      at,
    });
    if (write.kind === 'unknown') {
      const message = `${current.event}: ${said.message}: whether it was taken is looked up before it is sent again`;
      // Whether it was taken is known by then, and whatever else is due does not wait for the next try.
      const recheckAfterMs = Math.min(said.recheckAfterMs ?? Infinity, handle.poll.lagWindowMs);
      return {
        verdict: { ...said, reason: runningReason(current.event), message, recheckAfterMs },
        fields: {},
      };
    }
    if (write.kind === 'refused' && write.error.class === 'Conflict') {
      memory.operation = { ...memory.operation, outcome: 'conflict' };
      return {
        verdict: { ...said, recheckAfterMs: Math.min(said.recheckAfterMs ?? 0, CONFLICT_LOOK_MS) },
        fields: {},
      };
    }
    // It certainly was not taken: nothing else waits for it.
    memory.operation = undefined;
    const fields = { ...notCarriedOut(current), currentOperation: undefined };
    return { verdict: named(aspect, said), fields, again: true };
  }

  /** What is not online may be refused a terminate: no script can run there, so it is forced (as when deleting). */
  #howToTerminate(pass: InstancePass, record: InstanceRecord): 'terminate' | 'force_terminate' {
    const current = pass.resource.status.currentOperation;
    if (current === undefined || phaseOf(pairOf(record)) === 'Online') return 'terminate';
    const { attempts, aspect, fingerprint } = attemptOf(pass, current);
    return attempts.conflicts(aspect, fingerprint, stateAt(record)) > 0 ? 'force_terminate' : 'terminate';
  }

  /** One write moves the operation to the past, with the request or the change that it carried out. */
  async #end(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance | undefined,
    current: CurrentOperation,
    outcome: 'Succeeded' | 'Failed' | 'Superseded',
    { shown, variablesDiffer }: { shown: InstanceFields; variablesDiffer: boolean },
  ): Promise<Convergence<Instance>> {
    const { memory, resource, now } = pass;
    memory.operation = undefined;
    const { attempts, aspect, fingerprint } = attemptOf(pass, current);
    const carried = outcome !== 'Superseded';
    // Power is counted: somebody else may switch it back again and again. So is what gave way to somebody else.
    if (aspect !== 'power' && carried) attempts.succeeded(aspect, fingerprint);
    const told = outcome === 'Failed' ? await readTelling(pass, record, current.event) : undefined;
    // Somebody who changed a value in the meantime may have had it brought to the machines instead of ours. Where
    // another one is declared by now, what was brought is known, and is not what was there before.
    const isSpoiled = variablesDiffer && (desired === undefined || desired.hash === current.changeHash);
    const token = carried ? current.token : undefined;
    const split = token?.indexOf(':') ?? -1;
    const handled =
      token === undefined
        ? {}
        : {
            handledRequests: {
              ...resource.status.handledRequests,
              [token.slice(0, split) as RequestedOperation]: token.slice(split + 1),
            },
          };
    return {
      verdict: verdict(
        outcome === 'Failed' ? 'OperationFailed' : 'Updating',
        outcome === 'Failed'
          ? `${current.event} failed${told === undefined ? '' : `: ${told}`}`
          : `${current.event} has ended`,
      ),
      fields: {
        ...shown,
        ...(carried ? {} : notCarriedOut(current)),
        currentOperation: undefined,
        lastOperation: {
          event: current.event,
          outcome,
          startedAt: current.startedAt,
          endedAt: rfc3339(now),
          ...(told === undefined ? {} : { message: told }),
        },
        ...handled,
        ...(carried && current.changeHash !== undefined && !isSpoiled
          ? {
              appliedHash: current.changeHash,
              pendingHash: undefined,
              appliedOperation: operationMark(record),
            }
          : {}),
      },
      again: true,
    };
  }
}

/** What the record shows of an instance whose operation is followed. */
interface Shown {
  fields: InstanceFields;
  /** The end of the lease has come, and is not carried out. */
  endIsDue: boolean;
  /** The variables on the record are not those declared. */
  variablesDiffer: boolean;
}

/** An operation that is about to be noted. */
interface Begun extends Extract<InstanceStep, { do: 'begin' }> {
  attempt: Attempt;
  /** Hash of what says when machines run. */
  armed: string;
  correcting: boolean;
}

/** What an operation was begun for, from what status says of it; as the aspects name it. */
function attemptOf(
  { memory, resource }: InstancePass,
  current: CurrentOperation,
): Attempt & { aspect: InstanceAspect } {
  const { attempts } = memory;
  const { event, token, released, changeHash } = current;
  const ledger = { attempts, call: event };
  if (token !== undefined) return { ...ledger, aspect: 'requests', fingerprint: token };
  if (released !== undefined) {
    const armed = armedIn(resource.status.armed ?? '');
    return { ...ledger, aspect: 'leaseEnd', fingerprint: `${event} ${armed}` };
  }
  if (event === 'poweron' || event === 'shutdown') return { ...ledger, aspect: 'power', fingerprint: event };
  return { ...ledger, aspect: 'content', fingerprint: `${event} ${changeHash}` };
}

/** The end of a lease that the operation was to carry out is still to be carried out. */
function notCarriedOut(current: CurrentOperation): Pick<InstanceFields, 'releasedExpire' | 'armed'> {
  return current.released === undefined ? {} : { releasedExpire: undefined, armed: undefined };
}

function stateAt(record: InstanceRecord): string {
  const { state, event } = pairOf(record);
  return `${state}/${event}`;
}

/** What a deploy or reinstall puts onto the machines: the content that the box has as it begins. */
function installed(
  operation: string,
  desired: DesiredInstance,
  { box }: InstanceFields,
): Pick<InstanceFields, 'box'> {
  const installs = operation === 'deploy' || operation === 'reinstall';
  if (!installs || box === undefined || desired.boxDraft === undefined) return {};
  return { box: installedBox(box, desired) };
}
