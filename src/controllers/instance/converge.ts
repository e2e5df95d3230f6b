import type { CurrentOperation, Instance } from '../../api/instance.ts';
import type { RequestedOperation } from '../../api/names.ts';
import { parseDuration } from '../../base/duration.ts';
import { canonicalJson, sha256Base32 } from '../../base/hash.ts';
import type { InstanceOperationName, InstanceRecord, Write } from '../../service/index.ts';
import type { OperatorContext } from '../context.ts';
import { upload } from '../content/uploads.ts';
import type { DesiredVariable } from '../content/variables.ts';
import { driftList } from '../draft/converge.ts';
import { failureVerdict } from '../record/decide.ts';
import type { Convergence, Pass, StatusFields } from '../record/kind.ts';
import { backoffMs, noteWrite } from '../record/looks.ts';
import { policiesOf } from '../record/policies.ts';
import { verdict, type ExtraCondition, type Verdict } from '../record/status/verdict.ts';
import { decideInstance, type InstanceObservation, type InstanceStep } from './decide.ts';
import type { DesiredInstance } from './desired.ts';
import { leaseExpiring, untilLease } from './expiring.ts';
import { readLease, sameLease, termsHash, wantedLease, wireLease, type WantedLease } from './lease.ts';
import type { InstanceMemory, SentOperation } from './memory.ts';
import { followOperation, NO_OPERATION, operationKey, type OperationObservation } from './operations.ts';
import { pairOf, phaseOf, reasonOfRunning } from './pair.ts';
import { planPut, type PutPlan } from './put-plan.ts';
import { projectInstance, sortedMachines } from './status.ts';
import { mask, tellingLines } from './telling.ts';

type InstancePass = Pass<Instance, InstanceRecord, InstanceMemory>;
type Fields = StatusFields<Instance>;

/** The same 409 on the same pair so many times is a refusal. */
const CONFLICT_LIMIT = 3;

/** Makes an instance's record match: follows the operation under way, else decides and takes one step. */
export class InstanceConvergence {
  readonly #context: OperatorContext;

  constructor(context: OperatorContext) {
    this.#context = context;
  }

  async converge(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
  ): Promise<Convergence<Instance>> {
    const shown = sortedMachines(projectInstance(pass.resource, record));
    const current = pass.resource.status.currentOperation;
    if (current !== undefined) return this.#follow(pass, record, desired, current, shown);
    const uploading = await this.#upload(pass, record, desired);
    if (uploading !== undefined) return uploading;

    const attached = attach(pass, record, desired, this.#context);
    const seen = this.#observe(pass, record, desired, attached);
    const step = decideInstance(seen);
    this.#context.onStep?.('Instance', step.do === 'report' ? step.verdict.reason : step.do);
    return this.#act(pass, record, desired, seen, step, { ...shown, ...attached });
  }

  #observe(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    attached: Fields,
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
    const sourceGone = noted !== undefined && source === undefined && choice.kind === 'none';
    const phase = phaseOf(pairOf(record));
    const monotonic = this.#context.clock.monotonic();
    if (reasonOfRunning(phase) === undefined) memory.running = undefined;
    else if (memory.running?.phase !== phase) memory.running = { phase, since: monotonic };
    const appliedHash = status.appliedHash;
    return {
      spec: resource.spec,
      status,
      record,
      now,
      lease,
      leaseToTakeOff: sourceGone && noted.deletionPolicy === 'Delete',
      armedHash: armedHash(resource, lease),
      plan: this.#plan(pass, record, desired, status),
      hash: desired.hash,
      hashIsKnown: appliedHash === undefined || this.#context.digest.knows(appliedHash),
      appliedHash,
      variablesPut: memory.putHash === desired.hash,
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
      leaseNotKept: lease !== undefined && memory.leasePut?.terms === lease.terms && !memory.leasePut.kept,
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

  /** Contents of File variables go up before the record can name them. */
  async #upload(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
  ): Promise<Convergence<Instance> | undefined> {
    if (phaseOf(pairOf(record)) === 'Terminated') return undefined;
    for (const variable of desired.variables) {
      const { file } = variable;
      if (file === undefined || urlOf(pass, record, variable, desired) !== undefined) continue;
      const write = await upload(pass.handle, file, pass.memory.uploads, pass.signal);
      if (write.kind === 'ok') {
        return {
          verdict: verdict('Updating', 'Files are being uploaded'),
          fields: {},
          again: true,
          quiet: true,
        };
      }
      const delay = backoffMs(pass.memory.failures++, pass.random);
      const said =
        write.kind === 'refused'
          ? verdict('Refused', `${file.path}: ${write.error.message}`)
          : failureVerdict(write.error, delay);
      return { verdict: said, fields: {} };
    }
    return undefined;
  }

  async #act(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    seen: InstanceObservation,
    step: InstanceStep,
    fields: Fields,
  ): Promise<Convergence<Instance>> {
    switch (step.do) {
      case 'report':
        return this.#report(pass, record, desired, seen, step, fields);
      case 'noteLease':
        return this.#note({ ...fields, ...leaseNote(seen) }, 'The lease is being put on the instance');
      case 'dropLeaseSource':
        return this.#note({ ...fields, lease: withoutSource(fields.lease, record) }, 'The lease is let go');
      case 'noteManaged':
        return this.#note(
          { ...fields, managed: managedUnion(pass, seen.plan, desired) },
          'The change is being put on the record',
        );
      case 'put':
        return this.#put(pass, record, desired, seen, fields);
      case 'begin':
        return this.#begin(pass, record, desired, step, fields);
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
          fields: { ...fields, appliedHash: desired.hash, managed: managedOf(desired) },
          again: true,
          quiet: false,
        };
      case 'renounce':
        return { verdict: verdict('Creating', 'The instance is deployed again'), fields, renounce: true };
      default:
        return step satisfies never;
    }
  }

  #note(fields: Fields, message: string): Convergence<Instance> {
    return { verdict: verdict('Updating', message), fields, again: true };
  }

  async #report(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    seen: InstanceObservation,
    step: Extract<InstanceStep, { do: 'report' }>,
    fields: Fields,
  ): Promise<Convergence<Instance>> {
    const { resource } = pass;
    const phase = phaseOf(pairOf(record));
    if (reasonOfRunning(phase) !== undefined) {
      // In between status is written only when the phase changes.
      const said = resource.status.phase === phase && resource.status.id === record.id;
      return { verdict: step.verdict, fields: said ? {} : { ...fields, managed: managedOf(desired) } };
    }
    const extra = this.#extras(pass, seen, step);
    const ended = await this.#deployEnded(pass, record, desired);
    const failedNow = ended?.outcome === 'Failed' && step.verdict.reason === 'OperationFailed';
    const said = failedNow
      ? {
          ...step.verdict,
          message: `deploy failed: ${ended.message ?? 'no log'}. Mend the cause, then change the resource or ask again with boxwright.dev/request-redeploy`,
        }
      : step.verdict;
    const released =
      step.released === undefined ? {} : { releasedExpire: new Date(step.released).toISOString() };
    const hash = seen.armedHash;
    const inForce =
      step.released !== undefined || resource.status.armed === `released:${hash}` ? `released:${hash}` : hash;
    const settled =
      said.reason === 'Settled' || said.reason === 'ShutDown' || said.reason === 'LeaseReleased';
    const lease =
      fields.lease === undefined || step.released === undefined
        ? fields.lease
        : { ...fields.lease, released: true };
    const due = untilLease(seen, pass.now);
    const recheckAfterMs = Math.min(said.recheckAfterMs ?? seen.poll.settledMs, due);
    return {
      verdict: { ...said, extra, recheckAfterMs },
      fields: {
        ...fields,
        ...(lease === undefined
          ? {}
          : { lease: seen.leaseNotKept ? { ...lease, by: 'Operator' } : { ...lease, by: 'Service' } }),
        ...(settled ? { armed: inForce, managed: managedOf(desired) } : {}),
        ...released,
        ...(ended === undefined ? {} : { lastOperation: ended }),
        drift: step.drifted === true ? driftList(seen.plan) : undefined,
      },
    };
  }

  #extras(
    pass: InstancePass,
    seen: InstanceObservation,
    step: Extract<InstanceStep, { do: 'report' }>,
  ): ExtraCondition[] {
    const extra: ExtraCondition[] = [];
    if (step.drifted === true) {
      const names = seen.plan.differences.map(({ field }) => field).toSorted();
      const message = `The record differs in ${names.slice(0, 10).join(', ') || 'powerState'}: see status.drift`;
      extra.push({ type: 'Drifted', reason: 'Drifted', message });
    }
    const expiring = leaseExpiring(seen, pass.now);
    if (expiring !== undefined) extra.push(expiring);
    return extra;
  }

  /** The first deploy has no currentOperation; its end is told once, when its phase is left. */
  async #deployEnded(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
  ): Promise<Fields['lastOperation']> {
    const { status } = pass.resource;
    const pair = pairOf(record);
    if (status.lastOperation !== undefined || pair.event !== 'deploy') return undefined;
    const failed = pair.state === 'unavailable';
    const message = failed ? await this.#told(pass, record, desired, 'deploy') : undefined;
    return {
      event: 'deploy',
      outcome: failed ? 'Failed' : 'Succeeded',
      endedAt: new Date(pass.now).toISOString(),
      ...(message === undefined ? {} : { message }),
    };
  }

  async #told(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    operation: string,
  ): Promise<string | undefined> {
    const { handle, priority, signal } = pass;
    const read = await handle.client.instances.activity(record.id, operation, { priority, signal });
    if (read.kind !== 'found') return undefined;
    const told = tellingLines(read.record, [...desired.secrets, ...handle.client.secretValues()]);
    return told === '' ? undefined : told;
  }

  async #put(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    seen: InstanceObservation,
    fields: Fields,
  ): Promise<Convergence<Instance>> {
    const { memory, handle } = pass;
    const fingerprint = sha256Base32(
      'put',
      canonicalJson({ hash: desired.hash, tags: desired.tags, lease: seen.lease }),
    );
    const held = memory.refusals.holds(fingerprint, this.#context.clock.monotonic());
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
    noteWrite(memory, write, this.#context.clock.monotonic());
    if (write.kind !== 'ok') return this.#notPut(pass, write, fingerprint, fields);
    memory.failures = 0;
    memory.refusals.clear();
    memory.putHash = desired.hash;
    const answer = write.record;
    if (answer === undefined) memory.observed = undefined;
    else if (seen.lease !== undefined) {
      memory.leasePut = { terms: seen.lease.terms, kept: sameLease(readLease(answer.lease), seen.lease) };
    }
    return {
      verdict: verdict('Updating', 'The change is on the record'),
      fields: { managed: managedOf(desired) },
      again: true,
      quiet: true,
    };
  }

  #notPut(
    pass: InstancePass,
    write: Exclude<Write<InstanceRecord>, { kind: 'ok' }>,
    fingerprint: string,
    fields: Fields,
  ): Convergence<Instance> {
    const { memory } = pass;
    memory.observed = undefined;
    const { error } = write;
    if (
      write.kind === 'refused' &&
      error.class !== 'Conflict' &&
      error.code !== 'Forbidden' &&
      error.code !== 'NotFound'
    ) {
      const said = verdict(
        'Refused',
        `${error.message}. Change what it speaks of; it is tried again on a change`,
      );
      const wait = memory.refusals.refuse(fingerprint, said, this.#context.clock.monotonic());
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

  /** Notes an operation in status, with what the record and its operations were before: then it may be sent. */
  async #begin(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    step: Extract<InstanceStep, { do: 'begin' }>,
    fields: Fields,
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
      ...(step.token === undefined ? {} : { token: `${step.token.of}:${step.token.value}`.slice(0, 256) }),
      ...(record.updated === undefined ? {} : { updatedBefore: record.updated }),
      ...(lastOperationId === undefined ? {} : { lastOperationId }),
      startedAt: new Date(now).toISOString(),
      deadline: new Date(now + desired.operationTimeoutMs).toISOString(),
      try: 1,
      ...(step.hash === undefined ? {} : { changeHash: step.hash }),
    };
    memory.operation = this.#unsent(current, record);
    return {
      verdict: verdict(runningReason(step.operation), `${step.operation} is about to be sent`),
      fields: {
        ...fields,
        currentOperation: current,
        ...(step.released === undefined
          ? {}
          : {
              releasedExpire: new Date(step.released).toISOString(),
              armed: `released:${armedHashOf(pass, desired)}`,
              lease: fields.lease === undefined ? undefined : { ...fields.lease, by: 'Operator' },
            }),
      },
      again: true,
    };
  }

  async #follow(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    current: CurrentOperation,
    shown: Fields,
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
          fields: { ...shown, currentOperation: undefined },
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
    shown: Fields,
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
        ? await instances.remove(record.id, 'terminate', options)
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
    if (write.error.class === 'Conflict')
      return this.#conflict(pass, record, desired, current, write.error.message);
    const said = verdict('Refused', `${current.event}: ${write.error.message}`);
    return this.#refuse(pass, record, desired, current, said);
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
    const pair = pairOf(record);
    const at = `${current.event}/${pair.state}/${pair.event}`;
    const count = memory.conflicts?.at === at ? memory.conflicts.count + 1 : 1;
    memory.conflicts = { at, count };
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
    return { verdict: { ...said, recheckAfterMs: wait }, fields: { currentOperation: undefined } };
  }

  /** One write moves the operation to the past, with the request or the change that it carried out. */
  async #end(
    pass: InstancePass,
    record: InstanceRecord,
    desired: DesiredInstance,
    current: CurrentOperation,
    outcome: 'Succeeded' | 'Failed' | 'Superseded',
    shown: Fields,
  ): Promise<Convergence<Instance>> {
    const { memory, resource, now } = pass;
    memory.operation = undefined;
    const told = outcome === 'Failed' ? await this.#told(pass, record, desired, current.event) : undefined;
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
          endedAt: new Date(now).toISOString(),
          ...(message === undefined ? {} : { message }),
        },
        ...handled,
        ...(carried && current.changeHash !== undefined ? { appliedHash: current.changeHash } : {}),
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

/** What a first look at a record makes of status: nothing that was asked for before counts as open. */
function attach(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
  context: OperatorContext,
): Fields {
  const { resource, memory, now } = pass;
  const { status } = resource;
  if (status.appliedHash !== undefined) return {};
  const source =
    desired.lease.kind === 'source' && !desired.lease.source.paused ? desired.lease.source : undefined;
  const lease =
    source === undefined
      ? undefined
      : wantedLease(source, { noted: status.lease?.source, deployed: record.lease ?? undefined, now });
  const shown = projectInstance(resource, record).lease;
  const applied = memory.deployedHash ?? hashOnRecord(pass, record, desired, context);
  return {
    appliedHash: applied,
    handledRequests: { ...desired.requests },
    ...(lease === undefined || lease.isNew || status.lease?.source !== undefined
      ? {}
      : {
          lease: {
            operation: lease.operation,
            released: shown?.released ?? false,
            ...(shown?.expire === undefined ? {} : { expire: shown.expire }),
            source: sourceNote(lease),
          },
        }),
  };
}

/** The hash to start from on a record that was there before: ours when it shows what is declared. */
function hashOnRecord(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
  context: OperatorContext,
): string {
  const managed = { tags: [], variables: [] };
  const urlOnRecord = (variable: DesiredVariable): string => urlOnly(record, variable) ?? '';
  const { variablesDiffer } = planPut(
    record,
    { marker: pass.marker, tags: [], variables: desired.variables, urlOf: urlOnRecord },
    managed,
  );
  return variablesDiffer
    ? context.digest.of('on record', canonicalJson(record.variables ?? []))
    : desired.hash;
}

function urlOf(
  pass: InstancePass,
  record: InstanceRecord,
  variable: DesiredVariable,
  desired: DesiredInstance,
): string | undefined {
  const own = variable.file === undefined ? undefined : pass.memory.uploads.get(variable.file.path);
  if (own !== undefined && own.hmac === variable.file?.hmac) return own.blob.url;
  const { appliedHash } = pass.resource.status;
  // Nothing was uploaded by this process: while the declaration is what was applied last, the record is right.
  if (appliedHash === undefined || appliedHash === desired.hash) return urlOnly(record, variable);
  return undefined;
}

function urlOnly(record: InstanceRecord, variable: DesiredVariable): string | undefined {
  const found = record.variables?.find(
    (other) => other.name === variable.name && (other.scope ?? '') === variable.scope,
  );
  return typeof found?.value === 'string' ? found.value : undefined;
}

function leaseNote(seen: InstanceObservation): Fields {
  const { lease, status } = seen;
  if (lease === undefined) return {};
  const shown = readLease(seen.record.lease);
  return {
    lease: {
      operation: shown?.operation ?? lease.operation,
      released: false,
      ...(lease.expire === undefined ? {} : { expire: new Date(lease.expire).toISOString() }),
      ...(status.lease?.by === undefined ? {} : { by: status.lease.by }),
      source: sourceNote(lease),
    },
  };
}

/** What status says of a lease that nobody here declares any more: what the record shows, or nothing. */
function withoutSource(lease: Fields['lease'], record: InstanceRecord): Fields['lease'] {
  if (lease === undefined || readLease(record.lease) === undefined) return undefined;
  const { operation, expire, released } = lease;
  return { operation, released, ...(expire === undefined ? {} : { expire }) };
}

function sourceNote(lease: WantedLease): NonNullable<NonNullable<Instance['status']['lease']>['source']> {
  const { kind, name, uid, deletionPolicy } = lease.source;
  return {
    kind,
    name,
    uid,
    deletionPolicy,
    terms: lease.terms,
    ...(lease.expire === undefined ? {} : { expire: new Date(lease.expire).toISOString() }),
  };
}

function managedOf(desired: DesiredInstance): Fields['managed'] {
  const tags = desired.tags.toSorted();
  const variables = desired.variables.map(({ key }) => key).toSorted();
  if (tags.length === 0 && variables.length === 0) return undefined;
  return {
    ...(tags.length === 0 ? {} : { tags }),
    ...(variables.length === 0 ? {} : { variables }),
  };
}

function managedUnion(pass: InstancePass, plan: PutPlan, desired: DesiredInstance): Fields['managed'] {
  const { managed } = pass.resource.status;
  const union = (a: readonly string[] | undefined, b: readonly string[]): string[] =>
    [...new Set([...(a ?? []), ...b])].toSorted();
  const tags = union(managed?.tags, plan.newTags);
  const variables = union(managed?.variables, [
    ...plan.newVariables,
    ...desired.variables.map(({ key }) => key),
  ]);
  return { tags, variables };
}

function armedHash(instance: Instance, lease: WantedLease | undefined): string {
  const { powerState } = instance.spec;
  return sha256Base32(canonicalJson({ powerState, lease: lease?.terms })).slice(0, 24);
}

function armedHashOf(pass: InstancePass, desired: DesiredInstance): string {
  const source = desired.lease.kind === 'source' ? desired.lease.source : undefined;
  const { powerState } = pass.resource.spec;
  const lease = source === undefined ? undefined : termsHash(source);
  return sha256Base32(canonicalJson({ powerState, lease })).slice(0, 24);
}

function runningReason(event: string): NonNullable<ReturnType<typeof reasonOfRunning>> {
  return reasonOfRunning(phaseOf({ state: 'processing', event })) ?? 'Reconfiguring';
}

function jittered(ms: number, pass: InstancePass): number {
  return ms * (0.9 + 0.2 * pass.random());
}
