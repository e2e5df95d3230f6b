import type { Connection } from '../../api/connection.ts';
import type { Instance } from '../../api/instance.ts';
import type { AnyResource } from '../../api/kinds.ts';
import type { Phase } from '../../api/phases.ts';
import { CONDITIONS, REASONS } from '../../api/reasons.ts';
import type { Condition } from '../../api/resource.ts';
import type { Cached } from '../cache.ts';
import { conditionOf } from '../record/kind.ts';
import { leadingCondition } from '../record/status/next-status.ts';

/** Operations of instances as the metrics name them: the service's words without the second phases. */
export const OPERATIONS = ['deploy', 'reconfigure', 'reinstall', 'shutdown', 'poweron', 'terminate'] as const;

/** What a lease does at its end. */
export const LEASE_ENDS = ['Shutdown', 'Terminate'] as const;

/** How a resource stands, in closed lists of words. */
export interface Standing {
  ready: string;
  state: string;
  reason: string;
}

/** How a resource stands by its conditions. */
export function standingOf(resource: Cached<AnyResource>): Standing {
  // Of what does not fit its schema not even the conditions can be trusted.
  if (resource.problems !== undefined) return { ready: 'False', state: 'Stalled', reason: 'NeedsUser' };
  const conditions = resource.status.conditions ?? [];
  const leading = leadingCondition(conditions);
  if (leading === undefined) return { ready: 'Unknown', state: CONDITIONS.reconciling, reason: 'Pending' };
  return {
    ready: conditionOf(resource, CONDITIONS.ready)?.status ?? 'Unknown',
    state: leading.type,
    reason: Object.hasOwn(REASONS, leading.reason) ? leading.reason : 'Other',
  };
}

/** Since when a resource has not been Ready (ms), where it is on its way and nobody has to act. */
export function notReadySince(resource: Cached<AnyResource>): number | undefined {
  const { ready, state, reason } = standingOf(resource);
  if (ready === 'True' || state === CONDITIONS.stalled || reason === 'Paused') return undefined;
  if (resource.metadata.deletionTimestamp !== undefined) return undefined;
  return timeOf(
    conditionOf(resource, CONDITIONS.ready)?.lastTransitionTime ?? resource.metadata.creationTimestamp,
  );
}

/** When the deletion of a resource was asked for (ms). */
export function deletingSince({ metadata }: AnyResource): number | undefined {
  return metadata.deletionTimestamp === undefined ? undefined : timeOf(metadata.deletionTimestamp);
}

/** The operation that runs on an instance, ours or somebody else's. */
export function runningOperation({ status }: Instance): string | undefined {
  const noted = status.currentOperation?.event;
  if (noted !== undefined) return operationWord(noted);
  return status.phase === undefined ? undefined : RUNNING[status.phase];
}

const RUNNING: Partial<Record<Phase, (typeof OPERATIONS)[number]>> = {
  Deploying: 'deploy',
  Reconfiguring: 'reconfigure',
  Reinstalling: 'reinstall',
  ShuttingDown: 'shutdown',
  PoweringOn: 'poweron',
  Terminating: 'terminate',
};

/** An operation by a word of the closed list. */
export function operationWord(event: string): string {
  const word = event === 'redeploy' ? 'deploy' : event.replace(/_service$/, '');
  return OPERATIONS.find((known) => known === word) ?? 'other';
}

/** A lease that was declared here and has not ended. */
export interface ArmedLease {
  operation: (typeof LEASE_ENDS)[number];
  /** Milliseconds since the epoch. */
  expire: number;
  expiring: boolean;
}

/** The lease of an instance that will end; one that only the service knows of is the service's business. */
export function armedLease(instance: Cached<Instance>): ArmedLease | undefined {
  const { lease } = instance.status;
  if (lease?.source === undefined || lease.released || lease.operation === 'AlwaysOn') return undefined;
  const expire = lease.expire === undefined ? undefined : timeOf(lease.expire);
  if (expire === undefined) return undefined;
  const expiring = isTrue(conditionOf(instance, CONDITIONS.leaseExpiring));
  return { operation: lease.operation, expire, expiring };
}

/** Whether the record differs from the declaration, as status says. */
export function isDrifted(resource: Cached<AnyResource>): boolean {
  return isTrue(conditionOf(resource, CONDITIONS.drifted));
}

/** Since when the credentials of a connection have been refused or missing (ms). */
export function credentialsFailingSince(connection: Cached<Connection>): number | undefined {
  const valid = conditionOf(connection, CONDITIONS.credentialsValid);
  if (valid?.status === 'False') return timeOf(valid.lastTransitionTime);
  const ready = conditionOf(connection, CONDITIONS.ready);
  const missing = ready?.status === 'False' && ready.reason === 'WaitingForSecret';
  return missing ? timeOf(ready.lastTransitionTime) : undefined;
}

/** A moment in milliseconds; undefined for what is none. */
export function timeOf(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

function isTrue(condition: Condition | undefined): boolean {
  return condition?.status === 'True';
}
