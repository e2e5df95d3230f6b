import { rfc3339 } from '../../../base/rfc3339.ts';
import type { CurrentOperation, Instance } from '../../../api/instance.ts';
import type { RequestedOperation } from '../../../api/names.ts';
import { canonicalJson, sha256Base32 } from '../../../base/hash.ts';
import type { InstanceOperationName, InstanceRecord } from '../../../service/index.ts';
import type { OperatorContext } from '../../context.ts';
import { failureVerdict, isAboutCredentials } from '../../record/decide.ts';
import type { Convergence } from '../../record/kind.ts';
import { backoffMs, noteWrite } from '../../record/looks.ts';
import { verdict, type Verdict } from '../../record/status/verdict.ts';
import type { InstanceStep } from '../decide.ts';
import type { DesiredInstance } from '../desired.ts';
import type { SentOperation } from '../memory.ts';
import { pairOf, phaseOf } from '../pair.ts';
import { jittered, runningReason, type InstanceFields, type InstancePass } from '../pass.ts';
import { followOperation, NO_OPERATION, operationKey, type OperationObservation } from './follow.ts';
import { mask, readTelling } from './telling.ts';

/** The same 409 on the same pair so many times is a refusal. */
const CONFLICT_LIMIT = 3;

/** Carries one operation out exactly once: notes it, sends it, follows it to its end. */
export class OperationRunner {
  readonly #context: OperatorContext;

  constructor(context: OperatorContext) {
    this.#context = context;
  }

  /** Notes an operation in status, with what the record and its operations were before: then it may be sent. */
  async begin(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    step: Extract<InstanceStep, { do: 'begin' }>,
    fields: InstanceFields,
    armed: string,
  ): Promise<Convergence<Instance>> {
    const { memory, handle, now } = pass;
    const fingerprint = this.#operationFingerprint(step.operation, step.token?.value, desired, record);
    const held = memory.refusals.holds(fingerprint, this.#context.clock.monotonic());
    if (held !== undefined) {
      return { verdict: { ...held.verdict, recheckAfterMs: held.retryAfterMs }, fields };
    }
    const read = await handle.client.instances.operations(record.id, {
      priority: pass.priority,
      signal: pass.signal,
    });
    if (read.kind === 'unknown' && read.error.status === undefined) {
      return { verdict: failureVerdict(read.error, backoffMs(memory.failures++, pass.random)), fields: {} };
    }
    const lastOperationId = read.kind === 'found' ? (read.record.at(-1)?.id ?? NO_OPERATION) : undefined;
    const current: CurrentOperation = {
      event: step.operation,
      ...(step.token === undefined ? {} : { token: `${step.token.of}:${step.token.value}` }),
      ...(record.updated === undefined ? {} : { updatedBefore: record.updated }),
      ...(lastOperationId === undefined ? {} : { lastOperationId }),
      startedAt: rfc3339(now),
      deadline: rfc3339(now + desired.operationTimeoutMs),
      try: 1,
      ...(step.hash === undefined ? {} : { changeHash: step.hash }),
      ...(step.released === undefined ? {} : { released: rfc3339(step.released) }),
    };
    memory.operation = this.#unsent(current, record);
    return {
      verdict: verdict(runningReason(step.operation), `${step.operation} is about to be sent`),
      fields: {
        ...fields,
        ...installed(step.operation, desired, fields),
        currentOperation: current,
        ...(step.released === undefined
          ? {}
          : {
              releasedExpire: rfc3339(step.released),
              armed: `released:${armed}`,
              lease: fields.lease === undefined ? undefined : { ...fields.lease, by: 'Operator' },
            }),
      },
      again: true,
    };
  }

  async follow(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    current: CurrentOperation,
    shown: InstanceFields,
  ): Promise<Convergence<Instance>> {
    const { memory, handle } = pass;
    const monotonic = this.#context.clock.monotonic();
    const key = operationKey(current);
    let sent = memory.operation;
    if (sent?.key !== key) {
      // Another process noted it, or this one before it was restarted: whether it was sent is unknown.
      sent = { key, outcome: 'unknown', quietSince: monotonic, updated: record.updated };
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
        return this.#send(pass, record, desired, current, sent);
      case 'again': {
        const next = { ...current, try: current.try + 1 };
        memory.operation = this.#unsent(next, record);
        return {
          verdict: verdict(runningReason(current.event), `${current.event} was not taken: it is sent again`),
          fields: { currentOperation: next },
          again: true,
        };
      }
      case 'drop':
        memory.operation = undefined;
        return {
          verdict: verdict('Updating', `${current.event} is not possible now: the state is looked at anew`),
          fields: { ...shown, ...notCarriedOut(current), currentOperation: undefined },
          again: true,
        };
      case 'end':
        return this.#end(pass, record, desired, current, step.outcome, shown);
      case 'wait':
        return this.#wait(pass, record, current, shown, step.recheckAfterMs);
      case 'lookAtOperations':
        return this.#wait(pass, record, current, shown, undefined);
      default:
        return step satisfies never;
    }
  }

  #wait(
    pass: InstancePass,
    record: InstanceRecord,
    current: CurrentOperation,
    shown: InstanceFields,
    recheckAfterMs: number | undefined,
  ): Convergence<Instance> {
    const poll = jittered(pass.handle.poll.processingMs, pass);
    const recheck = Math.min(recheckAfterMs ?? poll, poll);
    const phase = phaseOf(pairOf(record));
    const fields = pass.resource.status.phase === phase ? {} : shown;
    if (pass.now > Date.parse(current.deadline)) {
      const message = `${current.event} runs longer than operationTimeout (${pass.resource.spec.operationTimeout}): look at the instance on the service, or raise operationTimeout`;
      return { verdict: verdict('OperationFailed', message, recheck), fields };
    }
    return {
      verdict: verdict(runningReason(current.event), `Waits for the end of ${current.event}`, recheck),
      fields,
    };
  }

  async #send(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    current: CurrentOperation,
    sent: SentOperation,
  ): Promise<Convergence<Instance>> {
    const { memory, handle, priority, signal } = pass;
    const { instances } = handle.client;
    memory.operation = { ...sent, outcome: 'unknown', quietSince: this.#context.clock.monotonic() };
    const options = { priority, signal, mask: desired.secrets };
    const write =
      current.event === 'terminate'
        ? await instances.remove(record.id, this.#howToTerminate(pass, record), options)
        : await instances.operate(record.id, current.event as InstanceOperationName, options);
    noteWrite(memory, write, this.#context.clock.monotonic());
    const running = verdict(runningReason(current.event), `Waits for the end of ${current.event}`, 0);
    switch (write.kind) {
      case 'ok':
        memory.failures = 0;
        memory.conflicts = undefined;
        memory.operation = { ...memory.operation, outcome: 'accepted' };
        if (write.record === undefined) memory.observed = undefined;
        return { verdict: running, fields: {}, again: true };
      case 'notSent': {
        memory.operation = { ...sent, outcome: 'unsent' };
        return {
          verdict: failureVerdict(write.error, backoffMs(memory.failures++, pass.random)),
          fields: {},
        };
      }
      case 'unknown':
        memory.observed = undefined;
        return {
          verdict: { ...running, recheckAfterMs: backoffMs(memory.failures++, pass.random) },
          fields: {},
        };
      case 'refused':
        break;
      default:
        return write satisfies never;
    }
    memory.observed = undefined;
    if (isAboutCredentials(write.error)) {
      memory.operation = { ...sent, outcome: 'unsent' };
      return { verdict: failureVerdict(write.error, backoffMs(memory.failures++, pass.random)), fields: {} };
    }
    if (write.error.class === 'Conflict')
      return this.#conflict(pass, record, desired, current, write.error.message);
    const said = verdict('Refused', `${current.event}: ${write.error.message}`);
    return this.#refuse(pass, record, desired, current, said);
  }

  /** What is not online may be refused a terminate: no script can run there, so it is forced (as when deleting). */
  #howToTerminate({ memory }: InstancePass, record: InstanceRecord): 'terminate' | 'force_terminate' {
    const { conflicts } = memory;
    const refused = conflicts?.at === conflictAt('terminate', record) && conflicts.updated === record.updated;
    return refused && phaseOf(pairOf(record)) !== 'Online' ? 'force_terminate' : 'terminate';
  }

  /** 409: look afresh; the same one three times on the same pair is a refusal. */
  #conflict(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    current: CurrentOperation,
    message: string,
  ): Convergence<Instance> {
    const { memory } = pass;
    const at = conflictAt(current.event, record);
    const count = memory.conflicts?.at === at ? memory.conflicts.count + 1 : 1;
    memory.conflicts = { at, updated: record.updated, count };
    if (memory.operation !== undefined) memory.operation = { ...memory.operation, outcome: 'conflict' };
    if (count >= CONFLICT_LIMIT) {
      memory.conflicts = undefined;
      const said = verdict('Refused', `${current.event} is refused again and again: ${message}`);
      return this.#refuse(pass, record, desired, current, said);
    }
    const said = verdict(
      runningReason(current.event),
      `${current.event} is not possible now: the state is looked at anew`,
    );
    return { verdict: { ...said, recheckAfterMs: backoffMs(count, pass.random) }, fields: {} };
  }

  #refuse(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    current: CurrentOperation,
    said: Verdict,
  ): Convergence<Instance> {
    const { memory } = pass;
    memory.operation = undefined;
    const token = current.token?.slice(current.token.indexOf(':') + 1);
    const fingerprint = this.#operationFingerprint(current.event, token, desired, record);
    const wait = memory.refusals.refuse(fingerprint, said, this.#context.clock.monotonic());
    const fields = { ...notCarriedOut(current), currentOperation: undefined };
    return { verdict: { ...said, recheckAfterMs: wait }, fields };
  }

  /** One write moves the operation to the past, with the request or the change that it carried out. */
  async #end(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    current: CurrentOperation,
    outcome: 'Succeeded' | 'Failed' | 'Superseded',
    shown: InstanceFields,
  ): Promise<Convergence<Instance>> {
    const { memory, resource, now } = pass;
    memory.operation = undefined;
    const told = outcome === 'Failed' ? await readTelling(pass, record, desired, current.event) : undefined;
    const carried = outcome !== 'Superseded';
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
    const message = told === undefined ? undefined : mask(told, desired.secrets);
    return {
      verdict: verdict(
        outcome === 'Failed' ? 'OperationFailed' : 'Updating',
        outcome === 'Failed'
          ? `${current.event} failed${message === undefined ? '' : `: ${message}`}`
          : `${current.event} has ended`,
      ),
      fields: {
        ...shown,
        currentOperation: undefined,
        lastOperation: {
          event: current.event,
          outcome,
          startedAt: current.startedAt,
          endedAt: rfc3339(now),
          ...(message === undefined ? {} : { message }),
        },
        ...handled,
        ...(carried && current.changeHash !== undefined
          ? { appliedHash: current.changeHash, pendingHash: undefined }
          : {}),
      },
      again: true,
    };
  }

  #unsent(current: CurrentOperation, record: InstanceRecord): SentOperation {
    return {
      key: operationKey(current),
      outcome: 'unsent',
      quietSince: this.#context.clock.monotonic(),
      updated: record.updated,
    };
  }

  #operationFingerprint(
    event: string,
    token: string | undefined,
    desired: DesiredInstance,
    record: InstanceRecord,
  ): string {
    const { state, event: at } = pairOf(record);
    return sha256Base32('operation', canonicalJson({ event, token, hash: desired.hash, state, at }));
  }
}

/** The end of a lease that the operation was to carry out is still to be carried out. */
function notCarriedOut(current: CurrentOperation): Pick<InstanceFields, 'releasedExpire' | 'armed'> {
  return current.released === undefined ? {} : { releasedExpire: undefined, armed: undefined };
}

function conflictAt(event: string, record: InstanceRecord): string {
  const { state, event: at } = pairOf(record);
  return `${event}/${state}/${at}`;
}

/** What a deploy or reinstall puts onto the machines: the content that the box has as it begins. */
function installed(
  operation: string,
  desired: DesiredInstance,
  { box }: InstanceFields,
): Pick<InstanceFields, 'box'> {
  const installs = operation === 'deploy' || operation === 'reinstall';
  if (!installs || box === undefined || desired.boxDraft === undefined) return {};
  return { box: { ...box, draftHash: desired.boxDraft } };
}
