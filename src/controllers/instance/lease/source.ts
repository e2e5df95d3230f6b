import type { InstanceLease } from '../../../api/instance-lease.ts';
import type { Instance } from '../../../api/instance.ts';
import { ANNOTATIONS } from '../../../api/names.ts';
import type { Cached, KindCache } from '../../cache.ts';
import { isOlderClaimant } from '../../record/identity/claimants.ts';
import type { LeaseSource } from './terms.ts';

/** Which lease an Instance has. */
export type LeaseChoice =
  | { kind: 'none' }
  | { kind: 'source'; source: LeaseSource }
  /** `leaseRef` names a lease that is not there, or not for this instance. */
  | { kind: 'waiting'; message: string };

/** The leases that name an Instance, oldest first. A lease on its way out counts no more. */
export function leasesOf(instance: Instance, leases: KindCache<InstanceLease>): Cached<InstanceLease>[] {
  const { namespace, name } = instance.metadata;
  return leases
    .referrers('Instance', namespace, name)
    .filter((lease) => lease.problems === undefined && lease.metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (isOlderClaimant(a, b) ? -1 : 1));
}

/** Chooses between spec.lease and InstanceLeases: spec.lease, or else the oldest, keeps what it has. */
export function leaseSourceOf(instance: Instance, leases: KindCache<InstanceLease>): LeaseChoice {
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
  const [oldest] = leasesOf(instance, leases);
  if (spec.leaseRef !== undefined && oldest === undefined) {
    const { name } = spec.leaseRef;
    const named = leases.get(`${metadata.namespace}/${name}`);
    const other = named?.problems === undefined ? named?.spec.instanceRef.name : undefined;
    return {
      kind: 'waiting',
      message:
        other === undefined
          ? `InstanceLease "${name}" does not exist`
          : `InstanceLease "${name}" is for Instance "${other}": set its instanceRef to "${metadata.name}"`,
    };
  }
  if (oldest === undefined) return { kind: 'none' };
  return {
    kind: 'source',
    source: {
      kind: 'InstanceLease',
      name: oldest.metadata.name,
      uid: oldest.metadata.uid,
      deletionPolicy: oldest.spec.deletionPolicy ?? 'Delete',
      terms: oldest.spec,
      renew: oldest.metadata.annotations?.[ANNOTATIONS.renew],
      paused: oldest.spec.paused,
      warnBefore: oldest.spec.warnBefore,
    },
  };
}
