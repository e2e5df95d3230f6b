import type { LeaseTerms } from '../../../api/instance-lease.ts';
import type { Instance } from '../../../api/instance.ts';
import { tokenOf } from '../../../api/tokens.ts';
import { LEASE_OPERATIONS } from '../../../api/words.ts';
import { parseDuration } from '../../../base/duration.ts';
import { parseRfc3339, wholeMinute, wholeSecond } from '../../../base/rfc3339.ts';
import { canonicalJson, sha256Base32 } from '../../../base/hash.ts';
import { formatTimestamp, parseTimestamp, type LeaseRecord } from '../../../service/index.ts';
import type { Scheduled } from './scheduled.ts';

/** Where an instance's lease comes from, and what it says. */
export interface LeaseSource {
  kind: 'Instance' | 'InstanceLease';
  name: string;
  uid: string;
  deletionPolicy: 'Delete' | 'Orphan';
  terms: LeaseTerms;
  /** The renewal token in force. */
  renew: string | undefined;
  /** The lease is to be left as it is for now. */
  paused: boolean;
  /** How long before its end it warns, a duration. */
  warnBefore: string | undefined;
}

/** The lease as it shall stand on the record. */
export interface WantedLease {
  source: LeaseSource;
  /** Hash of what the source says, renewal included. */
  terms: string;
  operation: LeaseTerms['operation'];
  /** Milliseconds since the epoch, a whole minute; absent for AlwaysOn. */
  expire: number | undefined;
  /** The end was worked out just now and is not noted in status yet. */
  isNew: boolean;
  /** What its schedule says of the machines. */
  scheduled: Scheduled | undefined;
}

/** What an instance's status notes of its lease's source. */
export type NotedSource = NonNullable<NonNullable<Instance['status']['lease']>['source']>;

const MINUTE_MS = 60_000;

/** Hash of what a source says: another hash is another lease, with an end of its own. */
export function termsHash(source: LeaseSource): string {
  const { uid, terms } = source;
  const { operation, expireAt, after, schedule } = terms;
  const renew = tokenOf(source.renew);
  return sha256Base32(canonicalJson({ uid, operation, expireAt, after, schedule, renew })).slice(0, 24);
}

/** What happens at the end, on the record: a schedule has no end, and the operator carries it out. */
export function operationOf({ operation, schedule }: LeaseTerms): LeaseTerms['operation'] {
  return schedule === undefined ? operation : 'AlwaysOn';
}

/**
 * When a lease ends that is counted from `from` (milliseconds): a whole minute, since the service keeps no seconds
 * (service-behaviour.md 2.6).
 */
export function expireOf(terms: LeaseTerms, from: number): number | undefined {
  if (operationOf(terms) === 'AlwaysOn') return undefined;
  if (terms.expireAt !== undefined) return wholeMinute(parseRfc3339(terms.expireAt));
  return terms.after === undefined ? undefined : wholeMinute(from + parseDuration(terms.after));
}

/** The lease as wanted: the end that was noted for these terms, else worked out from now. */
export function wantedLease(
  source: LeaseSource,
  context: {
    noted: NotedSource | undefined;
    /** The record's lease, taken as the answer to these terms on an instance that was never settled before. */
    deployed: LeaseRecord | undefined;
    now: number;
    scheduled?: Scheduled | undefined;
  },
): WantedLease {
  const terms = termsHash(source);
  const { scheduled } = context;
  const operation = operationOf(source.terms);
  if (context.noted?.terms === terms) {
    const expire = context.noted.expire === undefined ? undefined : Date.parse(context.noted.expire);
    return { source, terms, operation, expire, isNew: false, scheduled };
  }
  const onRecord = context.deployed === undefined ? undefined : readLease(context.deployed);
  const counted = expireOf(source.terms, context.now);
  const fits =
    onRecord?.operation === operation && (source.terms.after !== undefined || onRecord.expire === counted);
  return { source, terms, operation, expire: fits ? onRecord.expire : counted, isNew: !fits, scheduled };
}

/** A record's lease in our words. */
export interface ShownLease {
  operation: LeaseTerms['operation'];
  expire: number | undefined;
  released: boolean;
}

/** Reads a record's lease; undefined for none, and for words that are not known here. */
export function readLease(lease: LeaseRecord | null | undefined): ShownLease | undefined {
  if (lease === null || lease === undefined) return undefined;
  const operation = LEASE_OPERATIONS.fromService(lease.operation ?? '');
  if (operation === undefined) return undefined;
  const expire = typeof lease.expire === 'string' ? parseTimestamp(lease.expire) : undefined;
  // Status keeps whole seconds, and what it notes is compared with this.
  return {
    operation,
    expire: expire === undefined ? undefined : wholeSecond(expire),
    released: lease.released === true,
  };
}

/** A lease as it travels; undefined takes it off (an always-on instance has no lease key in some builds). */
export function wireLease(wanted: Pick<WantedLease, 'operation' | 'expire'>): {
  operation: string;
  expire?: string;
} {
  const operation = LEASE_OPERATIONS.toService(wanted.operation);
  return wanted.expire === undefined ? { operation } : { operation, expire: formatTimestamp(wanted.expire) };
}

/** No lease, and one that is always on, are the same (service-behaviour.md 2.6). */
function endless(lease: { operation: string } | undefined): boolean {
  return lease === undefined || lease.operation === 'AlwaysOn';
}

/** Whether the record's lease says what is wanted, by the minute. */
export function sameLease(
  shown: ShownLease | undefined,
  wanted: Pick<WantedLease, 'operation' | 'expire'> | undefined,
): boolean {
  if (endless(shown) || endless(wanted)) return endless(shown) && endless(wanted);
  return shown?.operation === wanted?.operation && minuteOf(shown?.expire) === minuteOf(wanted?.expire);
}

function minuteOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.floor(ms / MINUTE_MS);
}
