import type { KindDeps, WiredKind } from '../wired-kind.ts';
import { usersOf } from '../users.ts';
import { KeptCredentials } from './kept-credentials.ts';
import { ConnectionReconciler } from './reconciler.ts';

/** A Connection: it has no record, and keeps the pool of clients that all other kinds call through. */
export function wireConnection(deps: KindDeps): WiredKind {
  const { context, caches, queues, pool } = deps;
  const cache = caches.of('Connection');
  const reconciler = new ConnectionReconciler({
    context,
    pool,
    cache,
    users: (connection) => usersOf(caches, connection).names,
    kept: keptCredentials(deps),
  });
  pool.onChange((key) => {
    const [namespace = '', name = ''] = key.split('/');
    queues.addReferrers('Connection', namespace, name);
  });
  pool.attend({
    exists: (key) => cache.get(key) !== undefined,
    trouble: (key) => queues.add('Connection', key, 'normal'),
    rejected: (key) => {
      reconciler.lookAnew(key);
      queues.add('Connection', key, 'normal', true);
    },
  });
  // The pool tells who refers to it what changes.
  return { reconcile: (key, run) => reconciler.reconcile(key, run), matters: () => false };
}

function keptCredentials({
  context,
  caches,
  namespace,
  keepCredentials,
}: KindDeps): KeptCredentials | undefined {
  if (!keepCredentials) return undefined;
  const { kube, digest, clock, log } = context;
  return new KeptCredentials({
    kube,
    namespace,
    key: digest.keyFor('kept credentials'),
    clock,
    log,
    isLiving: (uid) => caches.of('Connection').isLiving(uid),
  });
}
