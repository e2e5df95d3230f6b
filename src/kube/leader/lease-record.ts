import { microTime } from '../observe/micro-time.ts';
import type { ObjectMeta } from '../object.ts';

/** A Lease of coordination.k8s.io/v1; fields by the Kubernetes API reference, "LeaseSpec". */
export interface LeaseObject {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: LeaseSpec;
}

export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  /** MicroTime; for people only, never compared with a clock. */
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
  [unknown: string]: unknown;
}

/** Who holds it; undefined when it was released or never taken. */
export function holderOf(lease: LeaseObject): string | undefined {
  const holder = lease.spec?.holderIdentity;
  return holder === undefined || holder === '' ? undefined : holder;
}

/** The record with `identity` as its holder. A change of hands counts as one transition more. */
export function taken(
  before: LeaseSpec | undefined,
  identity: string,
  durationMs: number,
  now: number,
): LeaseSpec {
  const mine = before?.holderIdentity === identity;
  return {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1_000),
    acquireTime: mine && before.acquireTime !== undefined ? before.acquireTime : microTime(now),
    renewTime: microTime(now),
    leaseTransitions: before === undefined ? 0 : (before.leaseTransitions ?? 0) + (mine ? 0 : 1),
  };
}

/** The record without a holder and with the shortest duration, so that the next one need not wait. */
export function released(before: LeaseSpec, now: number): LeaseSpec {
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
}

/** So many starts are noted at the Lease. */
const STARTS_KEPT = 12;

/** When the last holders began, as the annotation tells, milliseconds; what does not read as a time tells nothing. */
export function startsIn(lease: LeaseObject | undefined, annotation: string): number[] {
  const text = lease?.metadata.annotations?.[annotation] ?? '';
  return text
    .split(' ')
    .map((time) => Date.parse(time))
    .filter((at) => !Number.isNaN(at))
    .slice(-STARTS_KEPT);
}

/** The text of the annotation. */
export function startsText(starts: readonly number[]): string {
  return starts
    .slice(-STARTS_KEPT)
    .map((at) => new Date(at).toISOString())
    .join(' ');
}
