import { KubeApiError } from '../../kube/index.ts';
import { GROUP } from '../../api/names.ts';
import { mayDo } from './access-review.ts';
import type { Cluster } from './cluster.ts';
import type { OperatorFacts } from './operator-facts.ts';
import { isHolder, podsOf } from './pods.ts';

/** Namespaces of one Lease that are asked about. */
const NAMESPACES = 20;

/**
 * As much of what a Lease says as the rights of its holder bear out: an operator may write the status of resources, which
 * no author may, and whose rights those are is for an administrator to decide. Undefined: nothing of it, or the person may
 * not ask.
 */
export async function borneOut(
  cluster: Cluster,
  told: OperatorFacts,
  signal: AbortSignal,
): Promise<OperatorFacts | undefined> {
  const pods = await podsOf(cluster, told.namespace, signal);
  const holder = 'gap' in pods ? undefined : pods.find(({ metadata }) => isHolder(told, metadata.name));
  if (holder === undefined) return undefined;
  const account = { namespace: told.namespace, name: holder.spec?.serviceAccountName ?? 'default' };
  const writesIn = (namespace: string | undefined): Promise<boolean> =>
    mayDo(
      cluster,
      account,
      { group: GROUP, resource: 'instances', subresource: 'status', verb: 'patch', namespace },
      signal,
    );
  try {
    if (told.namespaces === undefined) return (await writesIn(undefined)) ? told : undefined;
    const asked = told.namespaces.slice(0, NAMESPACES);
    const answers = await Promise.all(asked.map(writesIn));
    const namespaces = asked.filter((_, index) => answers[index]);
    return namespaces.length === 0 ? undefined : { ...told, namespaces };
  } catch (error) {
    if (error instanceof KubeApiError && error.status === 403) return undefined;
    throw error;
  }
}
