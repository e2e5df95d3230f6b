import type { ActivityRecord, AnyRecord, MemberRecord, VariableRecord } from './common.ts';

/** Interface document section 2.6. */
export interface LeaseRecord {
  /** shutdown, terminate, alwayson. */
  operation?: string;
  expire?: string | null;
  /** True once the scheduled operation has run. */
  released?: boolean;
  [field: string]: unknown;
}

/** The operation that is running or ran last; `event` with `state` makes the pair of service-behaviour.md 2.1. */
export interface InstanceOperation {
  event?: string;
  workspace?: string;
  created?: string;
  [field: string]: unknown;
}

export interface MachineRecord {
  name?: string;
  state?: string;
  address?: Record<string, unknown>;
  [field: string]: unknown;
}

/** The running service: of an instance record a part without addresses, read by itself with them. */
export interface InstanceServiceRecord {
  type?: string;
  id?: string;
  machines?: MachineRecord[];
  [field: string]: unknown;
}

/** An instance as read (interface document section 2.6). */
export interface InstanceRecord extends AnyRecord {
  /** Id of the deployed box; an object in some builds' answers is kept as it is. */
  box?: unknown;
  policy_box?: unknown;
  boxes?: AnyRecord[];
  automatic_updates?: string;
  service?: InstanceServiceRecord;
  /** Overrides only (service-behaviour.md 2.5). */
  variables?: VariableRecord[];
  tags?: string[];
  members?: MemberRecord[];
  /** processing, done, unavailable. */
  state?: string;
  operation?: InstanceOperation;
  lease?: LeaseRecord | null;
  icon?: string | null;
  deleted?: string | null;
}

/** One record of `/operations` (interface document section 2.6), oldest first in the list. */
export interface OperationRecord extends AnyRecord {
  username?: string;
  instance?: string;
  state?: string;
  workspace?: string;
  /** The event's name, or an object with `event`: see {@link operationEvent}. */
  operation?: unknown;
  activity?: ActivityRecord[];
}

/** Which event an operation record is about; undefined when it does not say. */
export function operationEvent(record: OperationRecord): string | undefined {
  const { operation } = record;
  if (typeof operation === 'string') return operation;
  if (operation !== null && typeof operation === 'object' && 'event' in operation) {
    return typeof operation.event === 'string' ? operation.event : undefined;
  }
  return undefined;
}

/** The deploy request (interface document section 4.2). */
export interface DeployBody {
  /** `{schema_base}/deploy-instance-request`. */
  schema: string;
  owner: string;
  name: string;
  box: { id: string; variables: VariableRecord[] };
  policy_box: { id: string; variables: VariableRecord[] };
  automatic_updates?: string;
  /** Become `tags` of the instance; 30 characters each at most. */
  instance_tags?: string[];
  lease?: { operation: string; expire?: string };
  ipv4_address?: string;
  [field: string]: unknown;
}

/** Operations that are started by `PUT /services/instances/{instance_id}/<operation>`. */
export type InstanceOperationName = 'deploy' | 'poweron' | 'shutdown' | 'reinstall' | 'reconfigure';

/** Values of the `operation` query of DELETE (service-behaviour.md 2.2). */
export type InstanceRemoval = 'terminate' | 'force_terminate' | 'delete';
