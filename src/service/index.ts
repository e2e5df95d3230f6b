export type { CallReport } from './call/caller.ts';
export type { Credentials } from './call/session.ts';
export { createServiceClient } from './client.ts';
export type {
  HeaderNames,
  LimitSettings,
  PaceSettings,
  ServiceClient,
  ServiceClientOptions,
} from './client.ts';
export { ServiceError, serviceErrorClasses } from './errors.ts';
export type { ServiceErrorClass, ServiceErrorCode, ServiceErrorDetails } from './errors.ts';
export type { Blobs, Upload } from './families/blobs.ts';
export type { Boxes } from './families/boxes.ts';
export type { Instances, MachineLogQuery } from './families/instances.ts';
export type { Providers } from './families/providers.ts';
export type { ListOptions, Workspaces } from './families/workspaces.ts';
export type { AnyObject, ProviderRecord, WorkspaceRecord } from './models/account.ts';
export type { BoxBody, BoxFields, BoxRecord, EventRecord, VersionRecord } from './models/box.ts';
export type { ActivityRecord, AnyRecord, BlobRecord, MemberRecord, VariableRecord } from './models/common.ts';
export { operationEvent } from './models/instance.ts';
export type {
  DeployBody,
  InstanceOperation,
  InstanceOperationName,
  InstanceRecord,
  InstanceRemoval,
  InstanceServiceRecord,
  LeaseRecord,
  MachineRecord,
  OperationRecord,
} from './models/instance.ts';
export { ServiceTransportError } from './port.ts';
export type { PortAnswer, PortRequest, ServicePort } from './port.ts';
export type { CallOptions, Read, Write } from './results.ts';
export type { SharedListOptions, SharedLists, SharedReads } from './shared-reads.ts';
export { formatTimestamp, parseTimestamp } from './timestamps.ts';
export { canonicalEndpoint, EndpointError, parseEndpoint } from './transport/endpoint.ts';
export { createUndiciPort } from './transport/undici-port.ts';
export type { ClosablePort, UndiciPortOptions } from './transport/undici-port.ts';
