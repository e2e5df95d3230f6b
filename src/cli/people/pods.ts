import { KubeApiError, type KubeObject, type ResourceType } from '../../kube/index.ts';
import { refusalOf, type Cluster } from './cluster.ts';
import type { OperatorFacts } from './operator-facts.ts';

const PODS: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
/** The labels of the chart’s pods. */
const OPERATOR_LABELS = 'app.kubernetes.io/component=operator,app.kubernetes.io/part-of=boxwright';
/** A pod, as far as it matters here. */
export interface Pod extends KubeObject {
  spec?: { serviceAccountName?: string };
  status?: {
    phase?: string;
    containerStatuses?: {
      name?: string;
      ready?: boolean;
      restartCount?: number;
      state?: { waiting?: { reason?: string; message?: string } };
      lastState?: { terminated?: { reason?: string; exitCode?: number } };
    }[];
  };
}

/** The operator’s pods of a namespace, or why the person may not see them. */
export async function podsOf(
  { kube }: Cluster,
  namespace: string,
  signal: AbortSignal,
): Promise<Pod[] | { gap: string }> {
  try {
    return await kube.list<Pod>(PODS, { namespace, labelSelector: OPERATOR_LABELS, signal });
  } catch (error) {
    if (!(error instanceof KubeApiError) || error.status !== 403) throw error;
    return { gap: refusalOf(error) };
  }
}

/** The holder of a Lease is the pod, with a random part where there may be two of a name. */
export function isHolder({ holder }: Pick<OperatorFacts, 'holder'>, pod: string): boolean {
  return holder === pod || holder?.startsWith(`${pod}_`) === true;
}
