import type { Instance } from '../../api/instance.ts';
import { jittered } from '../../base/backoff.ts';
import { parseDuration } from '../../base/duration.ts';
import { canonicalJson, sha256Base32 } from '../../base/hash.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { OperatorContext } from '../context.ts';
import { Digest } from '../digest.ts';
import { policiesOf } from '../record/policies.ts';
import type { InstanceObservation } from './decide.ts';
import type { DesiredInstance } from './desired.ts';
import { armedHash } from './lease/note.ts';
import { readLease, sameLease, termsHash, wantedLease, type WantedLease } from './lease/terms.ts';
import { changedBelow } from './nested.ts';
import { idOf } from './status.ts';
import type { Durations } from './operation/durations.ts';
import { noteRunning, ranMs } from './operation/running.ts';
import type { InstanceFields, InstancePass } from './pass.ts';
import { missingFile, urlOf } from './put/files.ts';
import { begunMark, isPending } from './put/pending.ts';
import { planPut, type PutPlan } from './put/plan.ts';

/** Makes out what an instance is decided by. */
export class InstanceObservations {
  readonly #context: Pick<OperatorContext, 'clock' | 'digest'>;
  readonly #durations: Durations;

  constructor(context: Pick<OperatorContext, 'clock' | 'digest'>, durations: Durations) {
    this.#context = context;
    this.#durations = durations;
  }

  of(
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
      lease = wantedLease(source, { noted, deployed: undefined, now, scheduled: desired.scheduled });
    }
    // Edited while it is paused, or into what cannot be read here: what stands on the record, and what it has carried out, stays.
    const isAway = choice.kind === 'unreadable' || choice.kind === 'waiting';
    const waits = isAway || (source?.paused === true && lease === undefined);
    const held = waits && noted !== undefined;
    const sourceGone = noted !== undefined && source === undefined && !held;
    if (lease !== undefined && memory.leasePut?.terms === lease.terms && memory.leasePut.kept === undefined) {
      memory.leasePut = { terms: lease.terms, kept: sameLease(readLease(record.lease), lease) };
    }
    const monotonic = this.#context.clock.monotonic();
    noteRunning(pass, record, this.#durations, monotonic);
    const processingMs = jittered(handle.poll.processingMs, pass.random);
    const appliedHash = status.appliedHash;
    const lastPut = memory.put?.id === record.id ? memory.put : undefined;
    const put = lastPut?.hash === desired.hash ? lastPut : undefined;
    const pending = isPending(status.pendingHash, desired.hash, record, desired.variables);
    return {
      spec: resource.spec,
      status,
      record,
      now,
      lease,
      leaseHeld: held,
      scheduled: desired.scheduled,
      leaseMissing: choice.kind === 'waiting' ? choice.message : undefined,
      leaseToTakeOff: sourceGone && noted.deletionPolicy === 'Delete',
      armedHash: armedHash(resource, lease?.terms ?? (held ? noted.terms : undefined), desired.scheduled),
      plan: plan(pass, record, desired, status),
      contentWaits: desired.contentWaits,
      missingFile: missingFile(pass, record, desired),
      hash: desired.hash,
      tagsHash: tagsHash(desired),
      contentHash: `${desired.hash} ${tagsHash(desired)}`,
      replacedBox: replacedBox(record, desired),
      boxChanged: replacedBox(record, desired) === undefined && boxChanged(status, desired),
      changedBelow: changedBelow(status.box, desired.nested),
      hashIsKnown: appliedHash === undefined || this.#context.digest.knows(appliedHash),
      appliedHash,
      variablesPut: put !== undefined || pending,
      putWhileDown: put?.whileDown === true || pending,
      othersPut:
        put === undefined &&
        (lastPut === undefined ? status.pendingHash !== undefined && !pending : lastPut.hash !== appliedHash),
      isBegunNoted: status.pendingHash === begunMark(desired.hash),
      hasSecrets: desired.variables.some(({ secret }) => secret === true),
      requests: desired.requests,
      handled: status.handledRequests ?? {},
      drift: policiesOf(resource, handle, 'Hold').drift,
      onMissing: policiesOf(resource, handle, 'Hold').missing,
      timeoutMs: desired.operationTimeoutMs,
      runningSince: memory.running === undefined ? undefined : now - (monotonic - memory.running.since),
      nextLook: this.#durations.nextLook(handle.endpoint, record, {
        ranMs: ranMs(memory, monotonic),
        pollMs: processingMs,
      }),
      poll: {
        processingMs,
        settledMs: jittered(handle.poll.settledMs, pass.random),
      },
      leaseNotKept:
        lease !== undefined && memory.leasePut?.terms === lease.terms && memory.leasePut.kept === false,
      warnBeforeMs: source?.warnBefore === undefined ? undefined : parseDuration(source.warnBefore),
    };
  }
}

function plan(
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

/** No operation of an instance brings it to another record of a box. */
function replacedBox(record: InstanceRecord, { boxRecord }: DesiredInstance): string | undefined {
  const deployed = idOf(record.box);
  return boxRecord === undefined || deployed === boxRecord ? undefined : deployed;
}

/** Whether the content of the box is another one, as far as hashes under the present key can tell. */
function boxChanged({ box }: Instance['status'], { boxDraft, nested }: DesiredInstance): boolean {
  const installed = box?.draftHash;
  if (installed === undefined || boxDraft === undefined) return false;
  return Digest.differ(installed, boxDraft) || changedBelow(box, nested).length > 0;
}

function tagsHash({ tags }: DesiredInstance): string {
  return sha256Base32(canonicalJson(tags.toSorted())).slice(0, 24);
}
