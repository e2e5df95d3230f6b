import { ANNOTATIONS } from '../../src/api/names.ts';
import type { Shown } from '../support/world.ts';
import type { Court, Judge } from './judge.ts';
import { formerOf, keyOfShown, RECORD_KINDS, standingOf, type Standing } from './parts.ts';

/**
 * The state machine of a resource's finalizer (F), create-intent (I), claim (C) and `status.id` (S): every write
 * of the operator to the object takes exactly one of these paths. Nobody else writes these, but a user can.
 *
 * | path | from | to |
 * |---|---|---|
 * | begin | no I, no C | F, I |
 * | try again | F, I | F, another I of the same start |
 * | claim | no C, or a claim that does not count | F, C, no I |
 * | take back | I, no C, no S | no I, F gone too or as before |
 * | clear | I beside C or S | no I |
 * | renounce | C, no S | no C, F stays |
 * | observe | managementPolicy Observe, adopted | C without F |
 * | release | deleting, F | no F |
 * | note | | F, I, C as before |
 *
 * An InstanceLease has no record and only a finalizer:
 *
 * | path | from | to |
 * |---|---|---|
 * | hold | no F, and an Instance has named it by leaseRef | F |
 * | let go | deleting, F, and no Instance that names it has it | no F |
 */
export function legalPaths(court: Court): Judge {
  /** Leases that an Instance has named, by key: the operator may know less of the Instances than is stored. */
  const named = new Set<string>();
  return {
    changed({ resource, now }) {
      const leaseRef = resource === 'instances' ? leaseOf(now) : undefined;
      if (leaseRef !== undefined) named.add(leaseRef);
    },
    wrote({ resource, key, part, before, after, request }) {
      const isLease = resource === 'instanceleases';
      if (!isLease && RECORD_KINDS[resource] === undefined) return;
      if (before === undefined || after === undefined) return;
      const [from, to] = [standingOf(before), standingOf(after)];
      if (part === 'object') {
        if (request.method !== 'PATCH') court.object(`${request.method} of ${resource} ${key}`);
        if (versionOf(request.body) === undefined)
          court.object(`${resource} ${key}: its metadata is patched without a resourceVersion`);
        const path = isLease
          ? leasePathOf(from, to, {
              isNamed: named.has(key),
              isHad: court.resources('instances').some((instance) => hasLease(instance, before)),
            })
          : pathOf(from, to, before, after);
        if (path === undefined) court.object(`${resource} ${key}: no legal path ${step(from, to)}`);
      } else if (!isLease) {
        const isBack = takesBack(before, after);
        const changes = from.statusId !== undefined && to.statusId !== from.statusId;
        if (changes && to.statusId !== undefined && !isBack)
          court.object(`${resource} ${key}: status.id goes from ${from.statusId} to ${to.statusId}`);
        const follows = formerOf(after).some(({ id }) => id === to.claimed);
        if (to.statusId !== undefined && to.claimed !== undefined && to.statusId !== to.claimed && !follows)
          court.object(`${resource} ${key}: status.id is ${to.statusId}, the claim says ${to.claimed}`);
        const sent = after.status?.['deleteSentAt'];
        if (sent !== undefined && before.status?.['deleteSentAt'] === undefined && !to.deleting)
          court.object(`${resource} ${key}: notes a delete although nobody deletes it`);
      }
    },
  };
}

/** An earlier record is the resource's again, and the one that was made in its place is given up for it. */
function takesBack(before: Shown, after: Shown): boolean {
  const [was, is] = [standingOf(before).statusId, standingOf(after).statusId];
  return (
    formerOf(before).some(({ id, why }) => id === is && why !== 'Surplus') &&
    formerOf(after).some(({ id, why }) => id === was && why === 'Surplus')
  );
}

/** The path that a write of the object takes; undefined when there is none. */
export function pathOf(from: Standing, to: Standing, before: Shown, after: Shown): string | undefined {
  const sameClaim = claimText(before) === claimText(after);
  const sameIntent = from.intent === to.intent;
  const hadClaim = before.metadata.annotations?.[ANNOTATIONS.externalId] !== undefined;
  const hasClaim = after.metadata.annotations?.[ANNOTATIONS.externalId] !== undefined;
  if (sameClaim && sameIntent && from.finalizer === to.finalizer) return 'note';
  if (from.finalizer && !to.finalizer) {
    if (from.deleting && sameClaim) return 'release';
    return !hadClaim && !hasClaim && from.statusId === undefined && to.intent === undefined
      ? 'take back'
      : undefined;
  }
  if (sameClaim && from.intent === undefined && to.intent !== undefined)
    return to.finalizer && from.claimed === undefined && from.statusId === undefined ? 'begin' : undefined;
  if (sameClaim && from.intent !== undefined && to.intent !== undefined)
    return to.finalizer && isNext(from.intent, to.intent) ? 'try again' : undefined;
  if (sameClaim && to.intent === undefined)
    return hadClaim || from.statusId !== undefined ? 'clear' : 'take back';
  if (hasClaim && before.spec['managementPolicy'] === 'Observe' && from.finalizer === to.finalizer)
    return 'observe';
  if (hasClaim && to.finalizer && to.intent === undefined) {
    const settled =
      from.claimed !== undefined && from.statusId === from.claimed && to.claimed !== from.claimed;
    return to.claimed !== undefined && !settled ? 'claim' : undefined;
  }
  if (!hasClaim && from.statusId === undefined && sameIntent && to.finalizer) return 'renounce';
  return undefined;
}

/** The path that a write of an InstanceLease takes; undefined when there is none. */
function leasePathOf(
  from: Standing,
  to: Standing,
  { isNamed, isHad }: { isNamed: boolean; isHad: boolean },
): string | undefined {
  if (from.intent !== to.intent || from.claimed !== to.claimed || from.finalizer === to.finalizer)
    return undefined;
  if (to.finalizer) return isNamed && !from.deleting ? 'hold' : undefined;
  return from.deleting && !isHad ? 'let go' : undefined;
}

/** The key of the InstanceLease that an Instance names. */
function leaseOf(instance: Shown | undefined): string | undefined {
  const { namespace = '' } = (instance?.metadata ?? {}) as { namespace?: string };
  const { leaseRef } = (instance?.spec ?? {}) as { leaseRef?: { name: string } };
  return leaseRef === undefined ? undefined : `${namespace}/${leaseRef.name}`;
}

/** Whether an Instance names a lease and has it, and the operator knows that. */
function hasLease(instance: Shown, lease: Shown): boolean {
  const { metadata, status } = instance;
  const { source } = (status?.['lease'] ?? {}) as { source?: { uid?: string } };
  return (
    leaseOf(instance) === keyOfShown(lease) &&
    source?.uid === lease.metadata.uid &&
    status?.observedGeneration === metadata.generation
  );
}

function claimText({ metadata }: Shown): string {
  const { annotations = {} } = metadata;
  return JSON.stringify([annotations[ANNOTATIONS.externalId], annotations[ANNOTATIONS.claim]]);
}

/** Tries only grow, and what is skipped stays skipped, unless somebody has damaged the text, or it was never sealed. */
function isNext(before: string, after: string): boolean {
  try {
    const [was, is] = [JSON.parse(before), JSON.parse(after)] as {
      try?: number;
      skip?: string[];
      seal?: string;
    }[];
    if (typeof was?.try !== 'number' || was.seal === undefined) return true;
    return (is?.try ?? 0) >= was.try && (was.skip ?? []).every((id) => is?.skip?.includes(id) === true);
  } catch {
    return true;
  }
}

function step(from: Standing, to: Standing): string {
  return `from [${inWords(from)}] to [${inWords(to)}]`;
}

function inWords({ finalizer, intent, claimed, statusId, deleting }: Standing): string {
  return [
    ...(deleting ? ['deleting'] : []),
    finalizer ? 'F' : '-',
    intent === undefined ? '-' : `I ${intent}`,
    claimed === undefined ? '-' : `C ${claimed}`,
    statusId === undefined ? '-' : `S ${statusId}`,
  ].join(' ');
}

export function versionOf(body: unknown): string | undefined {
  return (body as { metadata?: { resourceVersion?: string } } | undefined)?.metadata?.resourceVersion;
}
