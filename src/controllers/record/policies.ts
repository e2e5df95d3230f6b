import { ANNOTATIONS } from '../../api/names.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import type { ManagedResource } from './resource.ts';

/** The policies in force for a resource: its own words, then the connection's, then the defaults. */
export interface Policies {
  deletion: string;
  drift: 'Correct' | 'Report' | 'Ignore';
  missing: 'Recreate' | 'Hold';
}

/** Works out the policies. Without a connection at hand, what status noted last stands for its defaults. */
export function policiesOf(
  resource: ManagedResource,
  handle: ConnectionHandle | undefined,
  onMissing: 'Recreate' | 'Hold',
): Policies {
  const noted = resource.status.policies;
  const drift = resource.spec.driftPolicy ?? handle?.defaults.driftPolicy ?? noted?.drift ?? 'Correct';
  return {
    deletion: resource.spec.deletionPolicy ?? handle?.defaults.deletionPolicy ?? noted?.deletion ?? 'Delete',
    drift: drift === 'Report' || drift === 'Ignore' ? drift : 'Correct',
    missing: resource.spec.onMissing ?? onMissing,
  };
}

/**
 * Paused by the field or by the annotation. Whoever writes `True` or `yes` into the annotation wants a pause as
 * well: only an empty one and `false` are none.
 */
export function isPaused({
  spec,
  metadata,
}: Pick<ManagedResource, 'metadata'> & { spec: { paused: boolean } }): boolean {
  return spec.paused || !['', 'false'].includes(metadata.annotations?.[ANNOTATIONS.paused] ?? '');
}
