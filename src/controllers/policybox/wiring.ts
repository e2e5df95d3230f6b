import type { PolicyBox } from '../../api/policy-box.ts';
import { showsAnother } from '../changes.ts';
import { IN_PLACE } from '../draft/kind.ts';
import { RecordReconciler } from '../record/reconciler.ts';
import { usersOf } from '../users.ts';
import type { KindDeps, WiredKind } from '../wired-kind.ts';
import { policyBoxKind } from './kind.ts';

/** A PolicyBox: its record is a box of the service. */
export function wirePolicyBox({ context, caches, queues, holdings }: KindDeps): WiredKind {
  const cache = caches.of('PolicyBox');
  const kind = policyBoxKind({
    context,
    type: cache.informer.type,
    users: (policyBox) => usersOf(caches, policyBox),
  });
  const policyBoxes = new RecordReconciler({
    context,
    holdings,
    wake: (key) => queues.add('PolicyBox', key, 'normal'),
    kind,
    cache,
    memory: (base) => ({
      ...base,
      uploads: new Map(),
      refusedFiles: undefined,
      put: undefined,
      begun: undefined,
      provider: undefined,
    }),
  });
  return {
    reconcile: (key, run) => policyBoxes.reconcile(key, run),
    seen: (resource) => policyBoxes.seen(resource as PolicyBox),
    matters: (change) => showsAnother(change, IN_PLACE),
  };
}
