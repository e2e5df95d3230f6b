import type { CliIo } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { Board } from '../../watch/board.ts';
import { Watched } from '../../watch/watched.ts';
import type { Cluster } from '../cluster.ts';
import type { Named } from '../kind-name.ts';
import { readAll } from '../read.ts';
import { chosen } from './chosen.ts';
import { forestOf, type Tree } from './forest.ts';
import { statusShown } from './text.ts';

/** Shows what happens until ^C. */
export async function follow(
  cluster: Cluster,
  io: CliIo,
  options: { allNamespaces: boolean; named: readonly Named[] },
): Promise<number> {
  const { allNamespaces, named } = options;
  const { clock, random, interrupt } = io;
  const namespace = allNamespaces ? undefined : cluster.namespace;
  // An informer tries a refusal again for ever: what cannot be read at all is told at once.
  const { gaps } = await readAll(cluster, namespace, interrupt.signal);
  for (const gap of gaps) io.stderr.write(`${gap}\n`);
  const watched = new Watched({ port: cluster.port, clock, random, namespace });
  const trees = (): readonly Tree[] => chosen(forestOf(watched.resources()), named).trees;
  const board = new Board({
    stream: io.stdout,
    env: io.env,
    clock,
    startedAt: clock.monotonic(),
    shown: statusShown(trees, () => clock.now(), allNamespaces),
  });
  await watched
    .follow(interrupt.signal, () => {
      if (gaps.length > 0 || watched.hasSynced) board.refresh();
    })
    .catch((error: unknown) => {
      if (!interrupt.signal.aborted) throw error;
    });
  board.end();
  // Whoever follows ends it by ^C: that is how it is meant.
  return EXIT.ok;
}
