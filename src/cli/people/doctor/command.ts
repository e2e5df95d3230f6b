import { defineCommand } from '../../command.ts';
import type { FlagTable } from '../../flags.ts';
import { ALL_NAMESPACES_FLAG, CLUSTER_FLAGS, FORMAT_FLAG, SYSTEM_NAMESPACE_FLAG } from '../flags.ts';

const DOCTOR_FLAGS = {
  ...CLUSTER_FLAGS,
  allNamespaces: ALL_NAMESPACES_FLAG,
  systemNamespace: SYSTEM_NAMESPACE_FLAG,
  output: FORMAT_FLAG,
} as const satisfies FlagTable;

/** `boxwright doctor`. */
export const doctorCommand = defineCommand({
  flags: DOCTOR_FLAGS,
  notes: `
Checks the installation: the version of the cluster and of the kinds, who looks after which namespace, the operator's pods
and rights, connections, and resources that wait for a person. It reads only. What your user may not see is left out, and
the check says so.
  boxwright doctor
  boxwright doctor -A
  boxwright doctor -A -o json | jq '.checks[] | select(.state == "Wrong")'
Exit code 3 means that something is wrong.`,
  async run(flags, io) {
    const [{ withCluster }, { examine }] = await Promise.all([
      import('../cluster.ts'),
      import('./examine.ts'),
    ]);
    return withCluster(flags, io, (cluster) => examine(cluster, io, flags));
  },
});
