import type { ActivityRecord } from '../models/common.ts';
import type {
  DeployBody,
  InstanceOperationName,
  InstanceRecord,
  InstanceRemoval,
  OperationRecord,
} from '../models/instance.ts';
import type { CallOptions, Read, Write } from '../results.ts';

/** Which part of a machine's log is wanted (service-behaviour.md 2.7). */
export interface MachineLogQuery {
  machineName?: string;
  /** Scope path of the box; "" is the main box. */
  box?: string;
  event?: string;
  operation?: string;
}

/** Instances and their operations (interface document section 4.2). */
export interface Instances {
  deploy(body: DeployBody, options?: CallOptions): Promise<Write<InstanceRecord>>;
  read(id: string, options?: CallOptions): Promise<Read<InstanceRecord>>;
  /** Of the body only boxes, tags, lease, members and variables are taken. */
  update(id: string, body: InstanceRecord, options?: CallOptions): Promise<Write<InstanceRecord>>;
  operate(
    id: string,
    operation: InstanceOperationName,
    options?: CallOptions,
  ): Promise<Write<InstanceRecord>>;
  /** Applies a box version; the version must belong to the deployed box. */
  pull(id: string, versionId: string, options?: CallOptions): Promise<Write<InstanceRecord>>;
  /** Always with the query, since a bare DELETE is read in two ways (service-behaviour.md 2.2). */
  remove(id: string, removal: InstanceRemoval, options?: CallOptions): Promise<Write<InstanceRecord>>;
  /** Oldest first. */
  operations(id: string, options?: CallOptions): Promise<Read<readonly OperationRecord[]>>;
  activity(id: string, operation?: string, options?: CallOptions): Promise<Read<readonly ActivityRecord[]>>;
  /** Plain text. */
  machineLogs(id: string, query?: MachineLogQuery, options?: CallOptions): Promise<Read<string>>;
}
