import { defineCommand } from '../../command.ts';
import type { FlagTable } from '../../flags.ts';
import { CLUSTER_FLAGS, FORMAT_FLAG, SYSTEM_NAMESPACE_FLAG } from '../flags.ts';
import { KIND_NAME, readOne } from '../kind-name.ts';

const EXPLAIN_FLAGS = {
  ...CLUSTER_FLAGS,
  systemNamespace: SYSTEM_NAMESPACE_FLAG,
  output: FORMAT_FLAG,
} as const satisfies FlagTable;

/** `boxwright explain`. */
export const explainCommand = defineCommand({
  flags: EXPLAIN_FLAGS,
  argument: { name: 'kind/name', description: KIND_NAME },
  notes: `
One page about a resource: whether it is Ready and why, what to do, what is under way and until when, what went wrong
last, what is declared, what is on the service and what differs, who claims the record, and which operator looks after
the resource, or why none does. It also works for a resource that no operator has ever seen.
  boxwright explain instance/web
  boxwright explain connection/main -o yaml
Secrets are not shown: a resource refers to them, and the operator masks them in status.`,
  async run({ output, systemNamespace, ...flags }, io, [word = '']) {
    const named = readOne(word);
    const [{ withCluster }, { explain }] = await Promise.all([import('../cluster.ts'), import('./run.ts')]);
    return withCluster(flags, io, (cluster) => explain(cluster, io, named, { output, systemNamespace }));
  },
});
