import type { KubeObject, StoredMeta } from '../../kube/index.ts';

/** metav1.Condition, as far as the API server guarantees nothing more. */
export interface SeenCondition {
  type: string;
  status: string;
  reason: string;
  message: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
}

/** A resource of ours as the API server holds it: what all kinds share, and what an Instance adds. */
export interface WatchedResource extends KubeObject {
  metadata: StoredMeta;
  spec?: Readonly<Record<string, unknown>>;
  status?: {
    observedGeneration?: number;
    conditions?: SeenCondition[];
    phase?: string;
    address?: string;
    currentOperation?: { event?: string; startedAt?: string; deadline?: string };
  };
}

/** The conditions that speak of the present generation: what was said of an older one counts as unknown. */
export function presentConditions({ status, metadata }: WatchedResource): readonly SeenCondition[] {
  return (status?.conditions ?? []).filter(
    (condition) => (condition.observedGeneration ?? status?.observedGeneration) === metadata.generation,
  );
}

/** The status of a condition, in one of its three words. */
export function readyOf(status: string | undefined): 'True' | 'False' | 'Unknown' {
  return status === 'True' || status === 'False' ? status : 'Unknown';
}
