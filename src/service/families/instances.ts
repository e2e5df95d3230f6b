import type { Caller } from '../call/caller.ts';
import type { Decoders } from './decoders.ts';
import type { ActivityRecord } from '../models/common.ts';
import type {
  DeployBody,
  InstanceOperationName,
  InstanceRecord,
  InstanceRemoval,
  InstanceServiceRecord,
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
  /** The running service, where the addresses of its machines are (service-behaviour.md 2.7). */
  service(id: string, options?: CallOptions): Promise<Read<InstanceServiceRecord>>;
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

function of(id: string): { instance_id: string } {
  return { instance_id: id };
}

export function createInstances(caller: Caller, decoders: Decoders): Instances {
  const template = '/services/instances/{instance_id}';
  return {
    deploy: (body, options) =>
      caller.write(
        { method: 'POST', template: '/services/instances', body: { json: body } },
        decoders.instance(),
        options,
      ),
    read: (id, options) =>
      caller.read({ method: 'GET', template, params: of(id) }, decoders.instance(id), options),
    service: (id, options) =>
      caller.read(
        { method: 'GET', template: `${template}/service`, params: of(id) },
        decoders.runningService,
        options,
      ),
    update: (id, body, options) =>
      caller.write(
        { method: 'PUT', template, params: of(id), body: { json: body } },
        decoders.optional(decoders.instance(id)),
        options,
      ),
    operate: (id, operation, options) =>
      caller.write(
        {
          method: 'PUT',
          template: `${template}/${operation}`,
          params: of(id),
          // Only reconfigure has a body (interface document section 4.2).
          ...(operation === 'reconfigure' ? { body: { json: { id, method: operation } } } : {}),
        },
        decoders.ifInstance(id),
        options,
      ),
    pull: (id, versionId, options) =>
      caller.write(
        {
          method: 'PUT',
          template: `${template}/pull`,
          params: of(id),
          body: { json: { box_id: versionId } },
        },
        decoders.ifInstance(id),
        options,
      ),
    remove: (id, removal, options) =>
      caller.write(
        { method: 'DELETE', template, params: of(id), query: { operation: removal } },
        decoders.ifInstance(id),
        options,
      ),
    operations: (id, options) =>
      caller.readList(
        { method: 'GET', template: `${template}/operations`, params: of(id), maxBytes: decoders.listBytes },
        decoders.operations,
        options,
      ),
    activity: (id, operation, options) =>
      caller.readList(
        {
          method: 'GET',
          template: `${template}/activity`,
          params: of(id),
          query: { operation },
          maxBytes: decoders.listBytes,
        },
        decoders.activity,
        options,
      ),
    machineLogs: (id, query = {}, options) =>
      caller.read(
        {
          method: 'GET',
          template: `${template}/machine_logs`,
          params: of(id),
          query: {
            machine_name: query.machineName,
            box: query.box,
            event: query.event,
            operation: query.operation,
          },
          isText: true,
        },
        decoders.text,
        options,
      ),
  };
}
