import type { AnyResource } from '../../api/kinds.ts';
import type { Box } from '../../api/box.ts';
import type { Caches } from '../caches.ts';
import { showsAnother } from '../changes.ts';
import { IN_PLACE } from '../draft/kind.ts';
import { RecordReconciler } from '../record/reconciler.ts';
import { usersOf } from '../users.ts';
import type { KindDeps, WiredKind } from '../wired-kind.ts';
import { containedIn } from './cycle.ts';
import { boxKind } from './kind.ts';
import { nestedIn } from './nested-in.ts';

/** So many boxes above a box are followed to the Instances that have to hear of it. */
const ABOVE_LIMIT = 200;

/** A Box: its record is a box of the service, and it may contain others. */
export function wireBox({ context, caches, queues, holdings }: KindDeps): WiredKind {
  const cache = caches.of('Box');
  const kind = boxKind({
    context,
    type: cache.informer.type,
    boxes: cache,
    users: (box) => usersOf(caches, box, goesWith(box, caches)),
  });
  const boxes = new RecordReconciler({
    context,
    holdings,
    wake: (key) => queues.add('Box', key, 'normal'),
    kind,
    cache,
    memory: (base) => ({
      ...base,
      uploads: new Map(),
      refusedFiles: undefined,
      put: undefined,
      begun: undefined,
      provider: undefined,
      publishing: undefined,
      versionsOf: undefined,
    }),
  });
  return {
    reconcile: (key, run) => boxes.reconcile(key, run),
    seen: (resource) => boxes.seen(resource as Box),
    matters: (change) => showsAnother(change, IN_PLACE),
    alsoConcerned: ({ metadata }) =>
      [...instancesAbove(metadata, caches)].map((key) => ({ kind: 'Instance', key })),
  };
}

/** Boxes that contain each other and are all deleted would wait for each other for ever. */
function goesWith(box: Box, caches: Caches): (user: AnyResource) => boolean {
  const contains = containedIn(box, nestedIn(box, caches.of('Box')));
  return ({ kind, metadata }) =>
    kind === 'Box' && metadata.deletionTimestamp !== undefined && contains(metadata.name);
}

/** Keys of the Instances of boxes that contain a box, at any depth as far as Instances follow it. */
function instancesAbove({ namespace, name }: Box['metadata'], caches: Caches): Set<string> {
  const seen = new Set([name]);
  const keys = new Set<string>();
  for (const below of seen) {
    for (const { metadata } of caches.of('Box').referrers('Box', namespace, below)) {
      if (seen.size > ABOVE_LIMIT) return keys;
      if (seen.has(metadata.name)) continue;
      seen.add(metadata.name);
      for (const user of caches.of('Instance').referrers('Box', namespace, metadata.name)) {
        keys.add(`${namespace}/${user.metadata.name}`);
      }
    }
  }
  return keys;
}
