import { defineCommand } from '../../command.ts';
import { UsageError } from '../../exit-codes.ts';
import type { FlagTable } from '../../flags.ts';
import { ALL_NAMESPACES_FLAG, CLUSTER_FLAGS, FORMAT_FLAG } from '../flags.ts';
import { readKindName } from '../kind-name.ts';

const STATUS_FLAGS = {
  ...CLUSTER_FLAGS,
  allNamespaces: ALL_NAMESPACES_FLAG,
  watch: {
    flag: '-w, --watch [boolean]',
    env: 'BOXWRIGHT_WATCH',
    type: 'boolean',
    default: false,
    description: 'follow until ^C: drawn anew on a terminal, a line for each change elsewhere',
  },
  output: FORMAT_FLAG,
} as const satisfies FlagTable;

/** `boxwright status`. */
export const statusCommand = defineCommand({
  flags: STATUS_FLAGS,
  argument: {
    name: 'kind/name',
    description: 'only this resource with all above and below it, or only this kind',
    optional: true,
    several: true,
  },
  notes: `
Shows every resource of Boxwright as a tree: a connection, its boxes, their instances and the leases of those. The lines
below a resource say what it waits for and, if it waits for a person, what to do.
  boxwright status
  boxwright status instance/web -w
  boxwright status -A -o json | jq '.resources[] | select(.ready != "True")'
Exit code 3 means that something is not Ready.`,
  async run(flags, io, words) {
    const named = words.map(readKindName);
    if (flags.watch && flags.output !== 'text')
      throw new UsageError('--watch writes text only: leave --output out');
    const [{ withCluster }, { follow }, { once }] = await Promise.all([
      import('../cluster.ts'),
      import('./follow.ts'),
      import('./once.ts'),
    ]);
    const show = flags.watch ? follow : once;
    return withCluster(flags, io, (cluster) => show(cluster, io, { ...flags, named }));
  },
});
