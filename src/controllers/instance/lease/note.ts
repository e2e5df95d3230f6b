import { rfc3339 } from '../../../base/rfc3339.ts';
import type { Instance } from '../../../api/instance.ts';
import { ANNOTATIONS } from '../../../api/names.ts';
import { canonicalJson, sha256Base32 } from '../../../base/hash.ts';
import type { InstanceRecord } from '../../../service/index.ts';
import { isNote } from '../../record/identity/intent.ts';
import type { InstanceObservation } from '../decide.ts';
import type { InstanceFields } from '../pass.ts';
import type { Scheduled } from './scheduled.ts';
import { readLease, type NotedSource, type WantedLease } from './terms.ts';

/** Begins the mark of a lease whose end was carried out. */
const RELEASED = 'released:';

/** What status says of a lease before it goes onto the record: where it comes from and when it ends. */
export function leaseNote(seen: InstanceObservation): InstanceFields {
  const { lease, status } = seen;
  if (lease === undefined) return {};
  const shown = readLease(seen.record.lease);
  return {
    lease: {
      operation: shown?.operation ?? lease.operation,
      released: false,
      ...(lease.expire === undefined ? {} : { expire: rfc3339(lease.expire) }),
      ...(status.lease?.by === undefined ? {} : { by: status.lease.by }),
      source: sourceNote(lease),
    },
  };
}

/** What status says of a lease that nobody here declares any more: what the record shows, or nothing. */
export function withoutSource(
  lease: InstanceFields['lease'],
  record: InstanceRecord,
): InstanceFields['lease'] {
  if (lease === undefined || readLease(record.lease) === undefined) return undefined;
  const { operation, expire, released } = lease;
  return { operation, released, ...(expire === undefined ? {} : { expire }) };
}

/** The resource and the record that a note speaks of. */
export interface NotedFor {
  uid: string;
  record: string;
}

/**
 * The annotation that hands the note of a deployed lease from the intent to status; none takes it off. It is
 * sealed for the resource and the record that it was written for, so that a copy on another resource, or one
 * that was edited, counts for nothing.
 */
export function deployedLease(
  note: Readonly<Record<string, string>> | undefined,
  noted: NotedFor,
): Record<string, string | null> {
  const source = asSource(note);
  const text = source === undefined ? null : JSON.stringify({ ...source, seal: sealOf(source, noted) });
  return { [ANNOTATIONS.deployedLease]: text };
}

/** A note as read back. */
export interface DeployedNote {
  source: NotedSource;
  /** Whether it is known to have been written for this resource and this record. */
  sealed: boolean;
}

/**
 * Reads that annotation; undefined for none, for what was damaged by hand, and for what is of another resource.
 * Earlier versions wrote it without a seal: such a note says nothing of whom it was written for.
 */
export function deployedSource(
  { metadata }: Pick<Instance, 'metadata'>,
  record: string,
): DeployedNote | undefined {
  const text = metadata.annotations?.[ANNOTATIONS.deployedLease];
  let value: unknown;
  try {
    value = text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // written by nobody that this operator knows: the lease is shown, not touched
  }
  const source = asSource(value);
  if (source === undefined || !isNote(value)) return undefined;
  const { seal } = value;
  if (seal === undefined) return { source, sealed: false };
  return seal === sealOf(source, { uid: metadata.uid, record }) ? { source, sealed: true } : undefined;
}

function sealOf(source: NotedSource, { uid, record }: NotedFor): string {
  return sha256Base32('deployed lease', canonicalJson(source), uid, record).slice(0, 24);
}

function asSource(value: unknown): NotedSource | undefined {
  if (!isNote(value)) return undefined;
  const { kind, name, uid, deletionPolicy, terms, expire } = value;
  if (kind !== 'Instance' && kind !== 'InstanceLease') return undefined;
  if (deletionPolicy !== 'Delete' && deletionPolicy !== 'Orphan') return undefined;
  if (name === undefined || uid === undefined || terms === undefined) return undefined;
  if (expire !== undefined && Number.isNaN(Date.parse(expire))) return undefined;
  return { kind, name, uid, deletionPolicy, terms, ...(expire === undefined ? {} : { expire }) };
}

/** What status notes of a lease's source. */
export function sourceNote(
  lease: Pick<WantedLease, 'source' | 'terms' | 'expire'> & Partial<Pick<WantedLease, 'scheduled'>>,
): NotedSource {
  const { kind, name, uid, deletionPolicy } = lease.source;
  const { power, since } = saidBy(lease.scheduled);
  return {
    kind,
    name,
    uid,
    deletionPolicy,
    terms: lease.terms,
    ...(lease.expire === undefined ? {} : { expire: rfc3339(lease.expire) }),
    ...(power === undefined ? {} : { power }),
    ...(since === undefined ? {} : { since }),
  };
}

/** What a schedule says of the machines, and since when. */
function saidBy(scheduled: Scheduled | undefined): Pick<NotedSource, 'power' | 'since'> {
  if (scheduled === undefined || scheduled.kind === 'unknownZone') return {};
  const { power, since } = scheduled;
  return { ...(power === undefined ? {} : { power }), ...(since === undefined ? {} : { since }) };
}

/**
 * Hash of what says when machines run: while it is the same, a lease that was carried out stays carried out. Each switch
 * of a schedule makes another.
 */
export function armedHash(instance: Instance, terms: string | undefined, scheduled?: Scheduled): string {
  const { powerState } = instance.spec;
  return sha256Base32(canonicalJson({ powerState, lease: terms, ...saidBy(scheduled) })).slice(0, 24);
}

/** What `status.armed` says once the end of a lease was carried out. */
export function releasedMark(armed: string): string {
  return `${RELEASED}${armed}`;
}

/** The hash that such a mark speaks of, or the hash itself. */
export function armedIn(mark: string): string {
  return mark.startsWith(RELEASED) ? mark.slice(RELEASED.length) : mark;
}

/**
 * Status fields before something is done about another declaration than the one that is in force: it is in force no
 * more, so that one that is taken back meanwhile is carried out, and does not pass for what somebody else has changed.
 */
export function disarmed({
  status,
  armedHash: armed,
  drift,
}: InstanceObservation): Pick<InstanceFields, 'armed'> {
  const { armed: before } = status;
  if (drift === 'Correct' || before === undefined || before.startsWith(RELEASED)) return {};
  return before === armed ? {} : { armed: undefined };
}
