import type { Box } from '../../api/box.ts';
import type { Instance } from '../../api/instance.ts';
import type { InstanceLease } from '../../api/instance-lease.ts';
import type { PolicyBox } from '../../api/policy-box.ts';
import { ANNOTATIONS, REQUEST_ANNOTATIONS, type RequestedOperation } from '../../api/names.ts';
import { tokenOf } from '../../api/tokens.ts';
import type { Unsuited } from '../../api/unsuited.ts';
import { parseDuration } from '../../base/duration.ts';
import { parseRfc3339 } from '../../base/rfc3339.ts';
import type { Schedules } from '../../base/weekly.ts';
import type { InstanceRecord } from '../../service/index.ts';
import { nestedIn } from '../box/index.ts';
import type { KindCache } from '../cache.ts';
import { hashOfVariables, resolveVariables, type DesiredVariable } from '../content/variables.ts';
import type { OperatorContext } from '../context.ts';
import { domainOf, type Digest } from '../digest.ts';
import { conditionOf, type Misfit, type Pass, type Resolution } from '../record/kind.ts';
import { plainIdProblem } from '../record/plain-id.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';
import { finalNameOf } from '../record/resource.ts';
import { scheduledBy, type Scheduled } from './lease/scheduled.ts';
import { awaitedLease, leaseSourceOf, type LeaseChoice } from './lease/source.ts';
import { doubtsOf, unfitFor } from './fit.ts';
import type { LeaseSource } from './lease/terms.ts';
import type { InstanceMemory } from './memory.ts';
import { nestedDrafts, type NestedDraft } from './nested.ts';
import { idOf } from './status.ts';

/** An Instance as declared, references and contents resolved. */
export interface DesiredInstance {
  name: string;
  /** Undefined once the record exists: what was deployed cannot change. */
  boxId: string | undefined;
  policyBoxId: string | undefined;
  /** The content of the Box as it is now; undefined when it is not one of ours, or not in place. */
  boxDraft: string | undefined;
  /** The record that the Box named by `boxRef` has by now. */
  boxRecord: string | undefined;
  /** The content of the boxes below it, at any depth. */
  nested: readonly NestedDraft[];
  variables: DesiredVariable[];
  /** What the variables wait for, where nothing else waits with them: then there are none here, and `hash` says so. */
  contentWaits: Verdict | undefined;
  policyVariables: DesiredVariable[];
  /** Keyed hash of `variables`; while they cannot be told, of what was applied last. */
  hash: string;
  tags: readonly string[];
  lease: LeaseChoice;
  /** What the schedule of the lease says of the machines. */
  scheduled: Scheduled | undefined;
  requests: Partial<Record<RequestedOperation, string>>;
  /** What boxes do not have that are known only by their ids. */
  doubts: readonly Unsuited[];
  operationTimeoutMs: number;
}

type InstancePass = Pass<Instance, InstanceRecord, InstanceMemory>;

/** The caches that an Instance's references are looked up in. */
export interface InstanceReferences {
  boxes: KindCache<Box>;
  policyBoxes: KindCache<PolicyBox>;
  leases: KindCache<InstanceLease>;
  schedules: Schedules;
}

const NONE = { kind: 'ready' as const, variables: [] };

/** Resolves what an Instance refers to. References are needed to deploy; never afterwards, least of all to delete. */
export async function resolveInstance(
  pass: InstancePass,
  context: OperatorContext,
  references: InstanceReferences,
): Promise<Resolution<DesiredInstance>> {
  const { resource, signal, secretsAfter } = pass;
  const { spec, metadata, status } = resource;
  const exists = status.id !== undefined || metadata.annotations?.[ANNOTATIONS.externalId] !== undefined;
  let boxId = spec.boxId;
  let policyBoxId = spec.policyBoxId;
  if (!exists) {
    const box = inPlace('boxRef', references.boxes, resource);
    if (box?.kind === 'waiting') return box;
    const policyBox = inPlace('policyBoxRef', references.policyBoxes, resource);
    if (policyBox?.kind === 'waiting') return policyBox;
    boxId ??= box?.id;
    policyBoxId ??= policyBox?.id;
    const unknown = await unknownId(pass);
    if (unknown !== undefined) return { kind: 'waiting', verdict: unknown };
  }
  if (!exists) {
    const unfit = await unfitFor('deploy', pass, references);
    if (unfit !== undefined) return { kind: 'waiting', verdict: unfit };
  }
  const { digest } = context;
  const domain = domainOf(resource);
  const resolveContext = {
    domain,
    sources: context.sources,
    digest,
    secrets: pass.handle.secrets,
    signal,
    secretsAfter,
    sum: { files: 0, secrets: 0 },
  };
  const declared = { 'spec.variables': spec.variables, 'spec.overrides': spec.overrides };
  const variables = await resolveVariables(declared, resolveContext);
  // An instance that is in place waits for its variables with nothing but these.
  const applied = exists ? status.appliedHash : undefined;
  if (variables.kind === 'waiting' && applied === undefined) return variables;
  const all = variables.kind === 'waiting' ? [] : variables.variables;
  const hashed = digest.shown(domain, 'appliedHash', digest.of('variables', hashOfVariables(all)));
  const isChange =
    variables.kind === 'ready' && applied !== undefined && applied !== hashed && digest.knows(applied);
  const unfit = isChange ? await unfitFor('change', pass, references) : undefined;
  const contentWaits = variables.kind === 'waiting' ? variables.verdict : unfit;
  const resolved = contentWaits === undefined ? all : [];
  // Once deployed they are read once more a process, and are not missed: the service may still quote them.
  const policyVariables =
    exists && pass.memory.policySecretsKnown
      ? NONE
      : await resolveVariables({ 'spec.policyVariables': spec.policyVariables }, resolveContext);
  if (policyVariables.kind === 'waiting' && !exists) return policyVariables;
  pass.memory.policySecretsKnown = true;

  const lease = leaseSourceOf(resource, references.leases, pass.handle.defaults.deletionPolicy);
  const scheduled = scheduledBy(lease, status.lease?.source, references.schedules, pass.now);
  if (!exists) {
    const awaited = awaitedLease(resource, references.leases);
    if (awaited !== undefined) return waiting(`spec.leaseRef: ${awaited}`);
    const past = lease.kind === 'source' ? pastLease(lease.source, pass.now) : undefined;
    if (past !== undefined) return { kind: 'waiting', verdict: verdict('Refused', past) };
    if (scheduled?.kind === 'unknownZone') {
      return { kind: 'waiting', verdict: verdict('NotSupported', scheduled.message) };
    }
  }
  return {
    kind: 'ready',
    desired: {
      name: finalNameOf(resource),
      boxId,
      policyBoxId,
      ...contentOf(resource, references, digest),
      variables: resolved,
      contentWaits,
      policyVariables: exists || policyVariables.kind === 'waiting' ? [] : policyVariables.variables,
      hash: contentWaits !== undefined && applied !== undefined ? applied : hashed,
      tags: spec.tags,
      lease,
      scheduled,
      requests: requestsOf(resource),
      doubts: await doubtsOf(pass, references),
      operationTimeoutMs: parseDuration(spec.operationTimeout),
    },
  };
}

/** Why a record is not adopted: it is of another type, or was deployed from another box or policy box. */
export function misfitOf(
  record: InstanceRecord,
  { spec, metadata }: Instance,
  { boxes, policyBoxes }: InstanceReferences,
): Misfit | undefined {
  if (record.schema !== undefined && !record.schema.endsWith('/instance')) {
    return { kind: 'misfit', why: `it is no instance (${record.schema})` };
  }
  const { namespace } = metadata;
  const compare = <R extends Box | PolicyBox>(
    noun: string,
    deployed: string | undefined,
    { id, ref, cache }: { id: string | undefined; ref: { name: string } | undefined; cache: KindCache<R> },
  ): Misfit | undefined => {
    const named = ref === undefined ? undefined : cache.get(`${namespace}/${ref.name}`);
    const declared = ref === undefined ? id : named?.status.id;
    if (deployed === undefined || declared === deployed) return undefined;
    const words = ref === undefined ? `spec names ${id}` : `spec names ${cache.kind} "${ref.name}"`;
    if (declared !== undefined) {
      const known = ref === undefined ? '' : ` (${declared})`;
      return { kind: 'misfit', why: `it was deployed from ${noun} ${deployed}, and ${words}${known}` };
    }
    // What is only observed shows what is there, whether or not it is declared.
    if (spec.managementPolicy === 'Observe') return undefined;
    return {
      kind: 'uncompared',
      why: `${words}, which has no record yet to compare with ${noun} ${deployed}`,
    };
  };
  return (
    compare('box', idOf(record.box), { id: spec.boxId, ref: spec.boxRef, cache: boxes }) ??
    compare('policy box', idOf(record.policy_box), {
      id: spec.policyBoxId,
      ref: spec.policyBoxRef,
      cache: policyBoxes,
    })
  );
}

function contentOf(
  instance: Instance,
  { boxes }: InstanceReferences,
  digest: Digest,
): Pick<DesiredInstance, 'boxDraft' | 'boxRecord' | 'nested'> {
  const { boxRef } = instance.spec;
  const { namespace } = instance.metadata;
  const box = boxRef === undefined ? undefined : boxes.get(`${namespace}/${boxRef.name}`);
  if (box === undefined || box.problems !== undefined)
    return { boxDraft: undefined, boxRecord: undefined, nested: [] };
  // Its own controller may not have written it anew yet.
  const present = (name: string, hash: string): string =>
    digest.present({ kind: 'Box', namespace, name }, 'draftHash', hash);
  const { draftHash, id } = box.status;
  return {
    boxRecord: id,
    boxDraft: draftHash === undefined ? undefined : present(box.metadata.name, draftHash),
    nested: nestedDrafts(box, nestedIn(box, boxes)).map((one) => ({
      ...one,
      draftHash: present(one.name, one.draftHash),
    })),
  };
}

/** What is wrong with the plain ids that the deploy names. */
async function unknownId(pass: InstancePass): Promise<Verdict | undefined> {
  const { resource, handle, priority, signal } = pass;
  for (const [field, noun] of [
    ['boxId', 'box'],
    ['policyBoxId', 'policy box'],
  ] as const) {
    const id = resource.spec[field];
    if (id === undefined) continue;
    const problem = await plainIdProblem(pass, { field: `spec.${field}`, noun, id }, () =>
      handle.client.boxes.read(id, { priority, signal }),
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Why a lease cannot be deployed with; one that is on a record already may well be past. */
function pastLease({ kind, name, terms }: LeaseSource, now: number): string | undefined {
  if (terms.expireAt === undefined || parseRfc3339(terms.expireAt) > now) return undefined;
  const field = kind === 'Instance' ? 'spec.lease' : `InstanceLease "${name}"`;
  return `${field}: expireAt is in the past, so the instance is not deployed: set a later time`;
}

/** The one-shot operations that annotations ask for, with their tokens. */
function requestsOf(instance: Instance): Partial<Record<RequestedOperation, string>> {
  const requests: Partial<Record<RequestedOperation, string>> = {};
  for (const operation of Object.keys(REQUEST_ANNOTATIONS) as RequestedOperation[]) {
    const token = tokenOf(instance.metadata.annotations?.[REQUEST_ANNOTATIONS[operation]]);
    if (token !== undefined) requests[operation] = token;
  }
  return requests;
}

/** The id of the box that a field refers to, once it is in place; undefined where the field is absent. */
function inPlace(
  field: 'boxRef' | 'policyBoxRef',
  cache: KindCache<Box> | KindCache<PolicyBox>,
  { spec, metadata }: Instance,
): { kind: 'found'; id: string } | Waiting | undefined {
  const name = spec[field]?.name;
  if (name === undefined) return undefined;
  const box = cache.get(`${metadata.namespace}/${name}`);
  const what = `spec.${field}: ${cache.kind} "${name}"`;
  if (box === undefined) return waiting(`${what} does not exist`);
  const { id, draftHash } = box.status;
  if (box.metadata.deletionTimestamp !== undefined) return waiting(`${what} is being deleted`);
  const observed = box.spec.managementPolicy === 'Observe' && id !== undefined;
  if (id !== undefined && (draftHash !== undefined || observed)) return { kind: 'found', id };
  const reason = conditionOf(box, 'Ready')?.reason;
  return waiting(`${what} is not in place yet${reason === undefined ? '' : ` (${reason})`}`);
}

type Waiting = Extract<Resolution<DesiredInstance>, { kind: 'waiting' }>;

function waiting(message: string): Waiting {
  return { kind: 'waiting', verdict: verdict('WaitingForReference', message) };
}
