import { CONDITIONS } from '../../api/reasons.ts';
import type { KubeObject, StoredMeta } from '../../kube/index.ts';
import { formatDuration } from '../../base/duration.ts';

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  observedGeneration?: number;
}

/** A resource of ours as the table sees it: what all kinds share, and what an Instance adds. */
export interface WatchedResource extends KubeObject {
  metadata: StoredMeta;
  status?: {
    observedGeneration?: number;
    conditions?: Condition[];
    phase?: string;
    address?: string;
  };
}

/** One line of the table. */
export interface Row {
  kind: string;
  name: string;
  ready: 'True' | 'False' | 'Unknown';
  /** It says that nothing helps until a person acts. */
  stalled: boolean;
  reason: string;
  /** The condition's message; empty when ready. */
  message: string;
  phase: string;
  address: string;
  age: string;
}

export const COLUMNS = ['KIND', 'NAME', 'READY', 'REASON', 'PHASE', 'ADDRESS', 'AGE'] as const;

/** `now`: wall clock, for the age. A condition of an older generation counts as unknown. */
export function rowOf(resource: WatchedResource, now: number): Row {
  const { status, metadata } = resource;
  const conditionOf = (type: string): Condition | undefined =>
    status?.conditions?.find(
      (condition) =>
        condition.type === type &&
        (condition.observedGeneration ?? status.observedGeneration) === metadata.generation,
    );
  const condition = conditionOf(CONDITIONS.ready);
  const ready = condition === undefined ? 'Unknown' : readyOf(condition.status);
  return {
    kind: resource.kind ?? '',
    name: metadata.name,
    ready,
    stalled: conditionOf(CONDITIONS.stalled)?.status === 'True',
    reason: condition?.reason ?? '',
    message: ready === 'True' ? '' : (condition?.message ?? ''),
    phase: status?.phase ?? '',
    address: status?.address ?? '',
    age: formatDuration(Math.max(0, now - Date.parse(metadata.creationTimestamp))),
  };
}

/** The cells of a row, in the order of {@link COLUMNS}. */
export function cellsOf(row: Row): string[] {
  const { kind, name, ready, reason, phase, address, age } = row;
  return [kind, name, ready, reason, phase, address, age];
}

function readyOf(status: string): Row['ready'] {
  return status === 'True' || status === 'False' ? status : 'Unknown';
}
