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

/** Paused by the field or by the annotation. */
export function isPaused(resource: ManagedResource): boolean {
  return resource.spec.paused || resource.metadata.annotations?.[ANNOTATIONS.paused] === 'true';
}
