import type { CliIo } from '../../command.ts';
import { CommandFailedError, EXIT } from '../../exit-codes.ts';
import { paintFor, tableWidth } from '../../terminal.ts';
import type { Cluster } from '../cluster.ts';
import type { Named } from '../kind-name.ts';
import { writeLines, writeObject } from '../output.ts';
import { readAll } from '../read.ts';
import { chosen } from './chosen.ts';
import { forestOf } from './forest.ts';
import { isWell, statusObject } from './report.ts';
import { statusLines } from './text.ts';

/** Shows what there is now. @throws CommandFailedError when something that was named is not there */
export async function once(
  cluster: Cluster,
  io: CliIo,
  options: { allNamespaces: boolean; output: string; named: readonly Named[] },
): Promise<number> {
  const { allNamespaces, output, named } = options;
  const namespace = allNamespaces ? undefined : cluster.namespace;
  const { resources, gaps } = await readAll(cluster, namespace, io.interrupt.signal);
  for (const gap of gaps) io.stderr.write(`${gap}\n`);
  const { trees, absent } = chosen(forestOf(resources), named);
  const where = namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`;
  if (absent.length > 0) throw new CommandFailedError(`there is no ${absent.join(' and no ')} ${where}`);
  if (output !== 'text') {
    writeObject(io, output, statusObject(trees));
  } else if (trees.length === 0) {
    const more = namespace === undefined ? '' : '; -A looks in all';
    writeLines(io, [`There are no resources of Boxwright ${where}${more}.`]);
  } else {
    const width = tableWidth(io.stdout, io.env);
    const paint = paintFor(io.stdout, io.env);
    writeLines(io, statusLines(trees, { width, paint, now: io.clock.now(), byNamespace: allNamespaces }));
  }
  return isWell(trees) ? EXIT.ok : EXIT.findings;
}
