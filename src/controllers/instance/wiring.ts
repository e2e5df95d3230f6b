import type { Instance } from '../../api/instance.ts';
import type { AnyResource } from '../../api/kinds.ts';
import { Schedules } from '../../base/weekly.ts';
import { comesOrGoes } from '../changes.ts';
import { RecordReconciler } from '../record/reconciler.ts';
import type { KindDeps, WiredKind } from '../wired-kind.ts';
import { instanceKind } from './kind.ts';

/** An Instance: its record is an instance of the service. */
export function wireInstance({ context, caches, queues, holdings }: KindDeps): WiredKind {
  const cache = caches.of('Instance');
  const references = {
    boxes: caches.of('Box'),
    policyBoxes: caches.of('PolicyBox'),
    leases: caches.of('InstanceLease'),
    schedules: new Schedules(),
  };
  const instances = new RecordReconciler({
    context,
    holdings,
    wake: (key) => queues.add('Instance', key, 'normal'),
    kind: instanceKind({ context, type: cache.informer.type, references }),
    cache,
    memory: (base) => ({
      ...base,
      uploads: new Map(),
      deployedHash: undefined,
      policySecretsKnown: false,
      declared: new Map(),
      operation: undefined,
      put: undefined,
      terminateNoted: undefined,
      leasePut: undefined,
      powerOnSince: undefined,
      switched: undefined,
      addresses: undefined,
      running: undefined,
    }),
  });
  return {
    reconcile: (key, run) => instances.reconcile(key, run),
    seen: (resource) => instances.seen(resource as Instance),
    // Leases refer to it, and say how they stand on it.
    matters: (change) =>
      change.type !== 'updated' ||
      comesOrGoes(change) ||
      JSON.stringify(leaseOf(change.old)) !== JSON.stringify(leaseOf(change.object)),
    tells: ['InstanceLease'],
  };
}

function leaseOf({ status, metadata }: AnyResource): unknown {
  return 'lease' in status ? [status.lease, metadata.generation] : undefined;
}
