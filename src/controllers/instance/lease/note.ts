import { rfc3339 } from '../../../base/rfc3339.ts';
import type { Instance } from '../../../api/instance.ts';
import { canonicalJson, sha256Base32 } from '../../../base/hash.ts';
import type { InstanceRecord } from '../../../service/index.ts';
import type { InstanceObservation } from '../decide.ts';
import type { InstanceFields } from '../pass.ts';
import { readLease, type NotedSource, type WantedLease } from './terms.ts';

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

/** What status notes of a lease's source. */
export function sourceNote(lease: WantedLease): NotedSource {
  const { kind, name, uid, deletionPolicy } = lease.source;
  return {
    kind,
    name,
    uid,
    deletionPolicy,
    terms: lease.terms,
    ...(lease.expire === undefined ? {} : { expire: rfc3339(lease.expire) }),
  };
}

/** Hash of what says when machines run: while it is the same, a lease that was carried out stays carried out. */
export function armedHash(instance: Instance, terms: string | undefined): string {
  const { powerState } = instance.spec;
  return sha256Base32(canonicalJson({ powerState, lease: terms })).slice(0, 24);
}
