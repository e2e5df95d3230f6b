import { KubeApiError, type Result } from '../../kube/index.ts';

/** A pass that met somebody else's change begins anew after so long, milliseconds. */
const CONFLICT_MS = 200;

/**
 * What follows when a pass has thrown: where somebody changed the resource meanwhile, nothing of the pass counts,
 * and the watch brings the new version. Anything else is thrown again.
 */
export function afterConflict(error: unknown): Result {
  if (!(error instanceof KubeApiError && error.isConflict)) throw error;
  return { requeueAfterMs: CONFLICT_MS, lane: 'kept' };
}
