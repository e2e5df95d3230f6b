import { tokenOf } from '../../../api/tokens.ts';
import type { InstanceRecord } from '../../../service/index.ts';
import type { DesiredVariable } from '../../content/variables.ts';

/** Longest `status.pendingHash`, characters. */
const LIMIT = 128;
/** In the place of `updated`: whether the PUT has come to the record is not known yet. */
const BEGUN = '?';

/** What `status.pendingHash` says: the hash of the variables that are on the record, and `updated` of that record. */
export function pendingMark(hash: string, record: InstanceRecord): string {
  const updated = tokenOf(record.updated, LIMIT - hash.length - 1);
  return updated === undefined ? hash : `${hash}@${updated}`;
}

/** The same before the PUT that brings the variables. */
export function begunMark(hash: string): string {
  return `${hash}@${BEGUN}`;
}

/**
 * Whether the mark says that these variables are on this record. Where the service shows none of a value, the
 * mark counts only for the record as it was then: a status that was restored from a backup may be older than
 * what was put there afterwards.
 */
export function isPending(
  mark: string | undefined,
  hash: string,
  record: InstanceRecord,
  variables: readonly Pick<DesiredVariable, 'secret'>[],
): boolean {
  if (mark === undefined || mark === begunMark(hash)) return false;
  const [of, updated] = mark.split('@', 2);
  if (of !== hash) return false;
  if (updated === undefined || !variables.some(({ secret }) => secret === true)) return true;
  return mark === pendingMark(hash, record);
}
