import { comesOrGoes, hasNewMeaning } from '../changes.ts';
import type { KindDeps, WiredKind } from '../wired-kind.ts';
import { InstanceLeaseReconciler } from './reconciler.ts';

/** An InstanceLease: it has no record, and says what its Instance puts on one. */
export function wireInstanceLease({ context, caches }: KindDeps): WiredKind {
  const leases = new InstanceLeaseReconciler({
    context,
    leases: caches.of('InstanceLease'),
    instances: caches.of('Instance'),
  });
  return {
    reconcile: (key, run) => leases.reconcile(key, run),
    matters: (change) => comesOrGoes(change) || hasNewMeaning(change),
    tells: ['Instance'],
  };
}
