import type { InstanceLease } from '../../../api/instance-lease.ts';
import type { Instance } from '../../../api/instance.ts';
import { ANNOTATIONS } from '../../../api/names.ts';
import type { Cached, KindCache } from '../../cache.ts';
import { isOlder } from '../../record/identity/rank.ts';
import { isPaused } from '../../record/policies.ts';
import type { LeaseSource, NotedSource } from './terms.ts';

/** Which lease an Instance has. */
export type LeaseChoice =
  | { kind: 'none' }
  | { kind: 'source'; source: LeaseSource }
  /** The lease that the instance has is there, in words that cannot be read here: it stays as it is. */
  | { kind: 'unreadable' }
  /** `leaseRef` names a lease that is not there, or not for this instance. */
  | { kind: 'waiting'; message: string };

/**
 * The leases that name an Instance, oldest first. A lease on its way out counts no more, unless the instance has it and
 * names it by leaseRef: then it stays until the instance lets go of it.
 */
export function leasesOf(instance: Instance, leases: KindCache<InstanceLease>): Cached<InstanceLease>[] {
  const { namespace, name } = instance.metadata;
  return leases
    .referrers('Instance', namespace, name)
    .filter(
      (lease) =>
        lease.problems === undefined &&
        (lease.metadata.deletionTimestamp === undefined || isKept(instance, lease)),
    )
    .toSorted((a, b) => (isEarlier(a, b, instance.status.lease?.source?.uid) ? -1 : 1));
}

/** Whether an instance has a lease and names it by leaseRef. */
export function isKept({ spec, status }: Instance, { metadata: { name, uid } }: InstanceLease): boolean {
  return spec.leaseRef?.name === name && status.lease?.source?.uid === uid;
}

/** The older one; of two made in the same second the one that the instance has already. */
function isEarlier(a: InstanceLease, b: InstanceLease, holder: string | undefined): boolean {
  const sameSecond = a.metadata.creationTimestamp === b.metadata.creationTimestamp;
  if (sameSecond && a.metadata.uid === holder) return true;
  if (sameSecond && b.metadata.uid === holder) return false;
  return isOlder(a.metadata, b.metadata);
}

/** What `leaseRef` still waits for, in words; undefined when the lease that it names is there. */
export function awaitedLease(instance: Instance, leases: KindCache<InstanceLease>): string | undefined {
  const { name } = instance.spec.leaseRef ?? {};
  if (name === undefined) return undefined;
  if (leasesOf(instance, leases).some(({ metadata }) => metadata.name === name)) return undefined;
  const named = leases.get(`${instance.metadata.namespace}/${name}`);
  const other = named?.problems === undefined ? named?.spec.instanceRef.name : undefined;
  if (named?.problems !== undefined) return `InstanceLease "${name}" does not fit its schema`;
  if (other === undefined) return `InstanceLease "${name}" does not exist`;
  if (other === instance.metadata.name) return `InstanceLease "${name}" is being deleted`;
  return `InstanceLease "${name}" is for Instance "${other}": set its instanceRef to "${instance.metadata.name}"`;
}

/** Whether the lease that an instance has is there and does not fit its schema, which does not say that it is gone. */
function isUnreadable(
  source: NotedSource | undefined,
  namespace: string,
  leases: KindCache<InstanceLease>,
): boolean {
  if (source?.kind !== 'InstanceLease') return false;
  const named = leases.get(`${namespace}/${source.name}`);
  return (
    named?.problems !== undefined &&
    named.metadata.uid === source.uid &&
    named.metadata.deletionTimestamp === undefined
  );
}

/**
 * Chooses between spec.lease and InstanceLeases: spec.lease, or else the oldest, keeps what it has.
 *
 * @param deletionPolicy - the connection's, for a lease that names none.
 */
export function leaseSourceOf(
  instance: Instance,
  leases: KindCache<InstanceLease>,
  deletionPolicy: string | undefined,
): LeaseChoice {
  const { spec, metadata } = instance;
  if (spec.lease !== undefined) {
    return {
      kind: 'source',
      source: {
        kind: 'Instance',
        name: metadata.name,
        uid: metadata.uid,
        deletionPolicy: 'Delete',
        terms: spec.lease,
        renew: metadata.annotations?.[ANNOTATIONS.renew],
        paused: false,
        warnBefore: undefined,
      },
    };
  }
  if (isUnreadable(instance.status.lease?.source, metadata.namespace, leases)) return { kind: 'unreadable' };
  const [oldest] = leasesOf(instance, leases);
  const awaited = oldest === undefined ? awaitedLease(instance, leases) : undefined;
  if (awaited !== undefined) return { kind: 'waiting', message: awaited };
  if (oldest === undefined) return { kind: 'none' };
  return {
    kind: 'source',
    source: {
      kind: 'InstanceLease',
      name: oldest.metadata.name,
      uid: oldest.metadata.uid,
      deletionPolicy: oldest.spec.deletionPolicy ?? (deletionPolicy === 'Orphan' ? 'Orphan' : 'Delete'),
      terms: oldest.spec,
      renew: oldest.metadata.annotations?.[ANNOTATIONS.renew],
      paused: isPaused(oldest),
      warnBefore: oldest.spec.warnBefore,
    },
  };
}
