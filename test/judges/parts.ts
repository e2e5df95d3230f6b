import { ANNOTATIONS, FINALIZER } from '../../src/api/names.ts';
import { markerOf } from '../../src/controllers/record/identity/marker.ts';
import type { Shown } from '../support/world.ts';
import type { Court, RecordTable, StoredRecord } from './judge.ts';

/** The kinds whose resources stand for a record, by plural. */
export const RECORD_KINDS: Readonly<Record<string, { kind: string; table: RecordTable }>> = {
  boxes: { kind: 'Box', table: 'boxes' },
  policyboxes: { kind: 'PolicyBox', table: 'boxes' },
  instances: { kind: 'Instance', table: 'instances' },
};

/** The kinds of ours, by plural. */
export const OUR_KINDS: ReadonlySet<string> = new Set([
  ...Object.keys(RECORD_KINDS),
  'connections',
  'clusterconnections',
  'instanceleases',
]);

/** What a resource's metadata and status say of its record. */
export interface Standing {
  finalizer: boolean;
  intent: string | undefined;
  /** The id that the annotations claim for this very resource. */
  claimed: string | undefined;
  statusId: string | undefined;
  deleting: boolean;
}

export function standingOf(resource: Shown | undefined): Standing {
  const { annotations = {}, finalizers = [], deletionTimestamp, uid } = resource?.metadata ?? {};
  const claim = annotations[ANNOTATIONS.claim]?.split('/');
  return {
    finalizer: finalizers.includes(FINALIZER),
    intent: annotations[ANNOTATIONS.createIntent],
    claimed: claim?.[2] === uid ? annotations[ANNOTATIONS.externalId] : undefined,
    statusId: resource?.status?.id,
    deleting: deletionTimestamp !== undefined,
  };
}

/** Whether a resource holds a record: by its status, or by a claim of its own. */
export function holds(resource: Shown, id: string): boolean {
  const { claimed, statusId } = standingOf(resource);
  return statusId === id || (statusId === undefined && claimed === id);
}

/** The endpoint where status says that a resource has its record. */
export function homeOf(resource: Shown | undefined): string | undefined {
  return (resource?.status?.['home'] as { endpoint?: string } | undefined)?.endpoint;
}

/** An earlier record that status names. */
interface FormerRecord {
  id: string;
  endpoint: string;
  why: string;
}

/** The earlier records of a resource. */
export function formerOf(resource: Shown | undefined): FormerRecord[] {
  return (resource?.status?.['former'] as FormerRecord[] | undefined) ?? [];
}

/**
 * Whether an earlier record may be removed for a resource: one that was given up for another, or any once the
 * resource is being deleted.
 */
export function mayRemoveFormer(resource: Shown, id: string): boolean {
  const former = formerOf(resource).find((one) => one.id === id);
  return former?.why === 'Surplus' || (former !== undefined && standingOf(resource).deleting);
}

/** All that looks like a marker in a text. */
export function markersIn(text: string): string[] {
  return [...text.matchAll(/(?<![A-Za-z0-9-])bw-[a-z2-7]{8}-[a-z2-7]{16}(?![A-Za-z0-9-])/g)].map(
    ([marker]) => marker,
  );
}

/** The marker of a resource in the installation that the judges watch. */
export function markerFor(court: Court, plural: string, key: string): string | undefined {
  const installation = court.installation();
  const { kind } = RECORD_KINDS[plural] ?? {};
  const [namespace = '', name = ''] = key.split('/');
  return installation === undefined || kind === undefined
    ? undefined
    : markerOf(installation, { kind, namespace, name });
}

/** Whether a record carries the marker of a resource: as a tag, or as its provisional name. */
export function isMarked(court: Court, record: StoredRecord, plural: string, key: string): boolean {
  const marker = markerFor(court, plural, key);
  if (marker === undefined) return false;
  const { table } = RECORD_KINDS[plural] ?? {};
  return table === 'boxes'
    ? record.name === marker
    : ((record['tags'] ?? []) as readonly string[]).includes(marker);
}

export function keyOfShown({ metadata }: Shown): string {
  const { namespace = '', name } = metadata as { namespace?: string; name: string };
  return `${namespace}/${name}`;
}

export function readyOf(resource: Shown | undefined): { status: string; reason: string } | undefined {
  return resource?.status?.conditions?.find(({ type }) => type === 'Ready');
}

/** Which records are over: nothing of them runs, and a resource may be given another. */
export function hasEnded(record: Readonly<Record<string, unknown>>): boolean {
  const { event } = (record['operation'] ?? {}) as { event?: string };
  return record['state'] === 'done' && (event === 'terminate' || event === 'terminate_service');
}
