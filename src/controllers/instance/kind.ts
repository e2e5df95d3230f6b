import { rfc3339 } from '../../base/rfc3339.ts';
import type { Instance } from '../../api/instance.ts';
import type { RequestedOperation } from '../../api/names.ts';
import { canonicalJson, sha256Base32 } from '../../base/hash.ts';
import type { ResourceType } from '../../kube/index.ts';
import type { InstanceRecord, Write } from '../../service/index.ts';
import { uploadFirst } from '../content/uploads.ts';
import type { DesiredVariable } from '../content/variables.ts';
import type { OperatorContext } from '../context.ts';
import type { CreateIntent } from '../record/identity/intent.ts';
import { ofWorkspace } from '../record/listing.ts';
import type { IntentExtras, Pass, RecordKind, RemovalStep } from '../record/kind.ts';
import { policiesOf } from '../record/policies.ts';
import { aspectIn } from './aspects/state.ts';
import { misfitOf, resolveInstance, type DesiredInstance, type InstanceReferences } from './desired.ts';
import { InstanceConvergence } from './converge.ts';
import { armedHash, deployedLease, releasedMark, sourceNote } from './lease/note.ts';
import { expireOf, operationOf, termsHash, wireLease } from './lease/terms.ts';
import type { InstanceMemory } from './memory.ts';
import { Durations } from './operation/durations.ts';
import { noteRunning, ranMs } from './operation/running.ts';
import { pairOf, phaseOf, sameOperation } from './pair.ts';
import { managedOf } from './put/managed.ts';
import { decideRemoval } from './removal.ts';
import { INSTANCE_FORGOTTEN, INSTANCE_GONE, projectInstance } from './status.ts';

type InstancePass = Pass<Instance, InstanceRecord, InstanceMemory>;

/** An Instance as a record of the service. */
export function instanceKind(options: {
  context: OperatorContext;
  type: ResourceType;
  references: InstanceReferences;
}): RecordKind<Instance, InstanceRecord, DesiredInstance, InstanceMemory> {
  const { context, references } = options;
  const durations = new Durations();
  const convergence = new InstanceConvergence(context, durations);
  return {
    type: options.type,
    listing: ofWorkspace('instances'),
    noun: 'instance',
    onMissing: 'Hold',
    forgotten: INSTANCE_FORGOTTEN,
    gone: INSTANCE_GONE,
    candidate: (record, marker) => {
      const phase = phaseOf(pairOf(record));
      return {
        id: record.id,
        marked: record.tags?.includes(marker),
        named: false, // names of instances are not unique
        ...(phase === 'Terminating' ? { ending: 'terminating' } : {}),
        ...(phase === 'Terminated' ? { ending: 'terminated' } : {}),
      };
    },
    showsNothingNew: instanceUnchanged,
    ended: instanceEnded,
    runs: (record) => pairOf(record).state === 'processing',
    meant: meantBy,
    aspectIn,
    stateOf,
    misfit: (record, pass) => misfitOf(record, pass.resource, references),
    unseen: { phase: 'Unknown' },
    read: (handle, id, read) => handle.client.instances.read(id, read),
    resolve: (pass) => resolveInstance(pass, context, references),
    intentExtras,
    claimExtras: (intent, claimed) => deployedLease(intent?.lease, claimed),
    create: (pass, desired, intent) => deploy(pass, desired, intent),
    converge: (pass, record, desired) => convergence.converge(pass, record, desired),
    observe: (pass, record) => projectInstance(pass.resource, record),
    follow: (pass, record) => convergence.follow(pass, record),
    underway: ({ status }) => status.currentOperation !== undefined,
    isProtected: ({ spec }) => spec.terminationProtection,
    isUp: (record) => {
      const phase = phaseOf(pairOf(record));
      return phase === 'Online' || phase === 'ShutDown';
    },
    isOver: (instance, desired) => instance.status.armed === releasedMark(armedNow(instance, desired)),
    inStep: instanceInStep,
    users: () => ({ names: [], others: false }),
    forgetUnwritten: (memory) => {
      if (memory.operation?.outcome === 'unsent') memory.operation = undefined;
    },
    asks: 'terminate',
    // Only what was terminated is deleted.
    mayBeDeleted: ({ status }) =>
      phaseOf({ state: status.state ?? '', event: status.operation?.event ?? '' }) === 'Terminated',
    removal: (pass, record) => Promise.resolve(removal(pass, record, durations)),
    remove,
  };
}

/**
 * While an operation runs only its end matters, though `updated` moves with every machine; afterwards whatever
 * moves `updated` does. An entry without its operation says too little.
 */
function instanceUnchanged(entry: InstanceRecord, known: InstanceRecord): boolean {
  const [now, before] = [pairOf(entry), pairOf(known)];
  if (now.event === '' || now.state !== before.state || now.event !== before.event) return false;
  return now.state === 'processing' || (entry.updated !== undefined && entry.updated === known.updated);
}

/** What a deploy brings, and the service may have kept in another way: an entry without it shows too little. */
const BROUGHT = ['tags', 'variables', 'lease'] as const;

/**
 * The record once what ran has brought the instance online, or, while it is deleted, has ended at all: the rest of it is
 * then as it was, or of no matter, and the machines are read with their addresses.
 */
function instanceEnded(
  entry: InstanceRecord,
  known: InstanceRecord,
  deleting: boolean,
): InstanceRecord | undefined {
  const [now, before] = [pairOf(entry), pairOf(known)];
  if (now.event === '' || before.state !== 'processing') return undefined;
  if (!sameOperation(now.event, before.event)) return undefined;
  const isWhole = BROUGHT.every((part) => known[part] === undefined || entry[part] !== undefined);
  const isEnd = deleting ? now.state !== 'processing' : phaseOf(now) === 'Online' && isWhole;
  return isEnd ? { ...known, ...entry, operation: { ...known.operation, ...entry.operation } } : undefined;
}

/** Whether variables, tags, power, lease and requests are those that were carried out. */
function instanceInStep(instance: Instance, desired: DesiredInstance): boolean {
  const { status } = instance;
  const armed = armedNow(instance, desired);
  return (
    desired.contentWaits === undefined &&
    status.appliedHash === desired.hash &&
    canonicalJson(status.managed) === canonicalJson(managedOf(desired)) &&
    (status.armed === armed || status.armed === releasedMark(armed)) &&
    Object.entries(desired.requests).every(
      ([of, token]) => status.handledRequests?.[of as RequestedOperation] === token,
    )
  );
}

/** Hash of what says when machines run, as declared now. */
function armedNow(instance: Instance, { lease, scheduled }: DesiredInstance): string {
  const isAway = lease.kind === 'unreadable' || lease.kind === 'waiting';
  const kept = isAway ? instance.status.lease?.source?.terms : undefined;
  return armedHash(instance, lease.kind === 'source' ? termsHash(lease.source) : kept, scheduled);
}

/** The lease's end counts from the intent and is noted there, as is where the lease comes from. */
function intentExtras(desired: DesiredInstance, at: number): IntentExtras {
  if (desired.lease.kind !== 'source') return {};
  const { source } = desired.lease;
  const expire = expireOf(source.terms, at);
  const lease = sourceNote({ source, terms: termsHash(source), expire });
  return { ...(expire === undefined ? {} : { expire: rfc3339(expire) }), lease };
}

async function deploy(
  pass: InstancePass,
  desired: DesiredInstance,
  intent: CreateIntent,
): Promise<Write<InstanceRecord>> {
  const { handle, memory, marker, owner, signal, priority, resource } = pass;
  const { client } = handle;
  const files = [...desired.variables, ...desired.policyVariables].map(({ file }) => file);
  const unsent = await uploadFirst(pass, files);
  if (unsent !== undefined) return unsent;
  const wire = ({ wire: variable, file }: DesiredVariable): DesiredVariable['wire'] =>
    file === undefined ? variable : { ...variable, value: memory.uploads.get(file.path)?.blob.url };
  const source = desired.lease.kind === 'source' ? desired.lease.source : undefined;
  // Counted from the intent, so that every try sends the same end.
  const expire = source === undefined ? undefined : expireOf(source.terms, Date.parse(intent.at));
  memory.deployedHash = desired.hash;
  const write = await client.instances.deploy(
    {
      schema: `${handle.schemaBase}/deploy-instance-request`,
      owner,
      name: desired.name,
      box: { id: desired.boxId ?? '', variables: desired.variables.map(wire) },
      policy_box: { id: desired.policyBoxId ?? '', variables: desired.policyVariables.map(wire) },
      automatic_updates: 'off',
      instance_tags: [marker, ...desired.tags.filter((tag) => tag !== marker)],
      ...(source === undefined ? {} : { lease: wireLease({ operation: operationOf(source.terms), expire }) }),
      ...(resource.spec.ipv4Address === undefined ? {} : { ipv4_address: resource.spec.ipv4Address }),
    },
    { signal, priority },
  );
  // Whatever the words: the blobs may be gone, as after a restore of the service.
  if (write.kind === 'refused') memory.uploads.clear();
  return write;
}

function removal(pass: InstancePass, record: InstanceRecord, durations: Durations): RemovalStep<Instance> {
  const { resource, memory, handle } = pass;
  const now = handle.client.stamp();
  noteRunning(pass, record, durations, now);
  const step = decideRemoval({
    instance: resource,
    record,
    deletion: policiesOf(resource, handle, 'Hold').deletion,
    isRefused: (how) => memory.attempts.conflicts('deletion', how, stateOf(record)) > 0,
    terminateNoted: memory.terminateNoted,
    waitedMs: now - memory.deletes.begin(false, now),
    poll: handle.poll,
    nextLook: durations.nextLook(handle.endpoint, record, {
      ranMs: ranMs(memory, now),
      pollMs: handle.poll.processingMs,
    }),
  });
  if (step.kind === 'note') memory.terminateNoted = step.fields.terminateTries;
  return step;
}

async function remove(
  { memory, handle, priority, signal }: InstancePass,
  id: string,
  how: string,
): Promise<Write<InstanceRecord | undefined>> {
  if (how !== 'terminate' && how !== 'force_terminate' && how !== 'delete') {
    throw new Error(`no such removal: ${how}`);
  }
  const noted = memory.terminateNoted;
  memory.terminateNoted = undefined;
  const write = await handle.client.instances.remove(id, how, { priority, signal });
  if (write.kind === 'notSent') memory.terminateNoted = noted;
  return write;
}

/** What a 409 speaks of: it says nothing about what has changed since. */
function stateOf({ state, operation, updated }: InstanceRecord): string {
  return `${state}/${operation?.event}/${updated}`;
}

/** Everything that a deploy would carry. */
function meantBy(desired: DesiredInstance): string {
  const { name, boxId, boxDraft, policyBoxId, hash, policyVariables, tags, lease } = desired;
  const terms = lease.kind === 'source' ? termsHash(lease.source) : undefined;
  const policy = policyVariables.map(({ key, wire, hmac }) => [key, hmac ?? wire]);
  return sha256Base32(canonicalJson({ name, boxId, boxDraft, policyBoxId, hash, policy, tags, terms }));
}
