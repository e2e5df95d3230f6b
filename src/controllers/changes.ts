import type { AnyResource } from '../api/kinds.ts';
import type { Change, KubeObject } from '../kube/index.ts';
import { sameMeaning } from './record/resource.ts';

/** A change of a resource of ours. */
export type ResourceChange = Change<AnyResource & KubeObject>;

/** Whether a change is one that its own controller acts upon: not the echo of a status write. */
export function hasNewMeaning(change: ResourceChange): boolean {
  return change.type !== 'updated' || !sameMeaning(change.old.metadata, change.object.metadata);
}

/** Whether a resource has come, is gone, or is being deleted from now on. */
export function comesOrGoes(change: ResourceChange): boolean {
  if (change.type !== 'updated') return true;
  return change.old.metadata.deletionTimestamp !== change.object.metadata.deletionTimestamp;
}

/** Whether a resource comes or goes, or one of these status fields has changed. */
export function showsAnother(change: ResourceChange, fields: readonly string[]): boolean {
  if (change.type !== 'updated' || comesOrGoes(change)) return true;
  const [before, now] = [change.old.status, change.object.status] as Record<string, unknown>[];
  return fields.some((field) => before?.[field] !== now?.[field]);
}
