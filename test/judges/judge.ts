import type { KubeRequest } from '../../src/kube/index.ts';
import type { Shown } from '../support/world.ts';

/** A write of the operator to one object of ours, as it saw it go. */
export interface KubeWrite {
  /** Milliseconds on the world's monotonic clock. */
  at: number;
  request: KubeRequest;
  /** The plural, such as `instances`. */
  resource: string;
  /** `shop/web-eu`; without a name for creates. */
  key: string;
  part: 'status' | 'object';
  /** The object as it was when the write went out. */
  before: Shown | undefined;
  /** The object as the API server answered it; undefined when it refused, or when the answer was lost. */
  after: Shown | undefined;
  /** Status of the answer; undefined when there was none. */
  status: number | undefined;
}

/** A call of the operator to the service. */
export interface ServiceCall {
  /** Milliseconds on the world's monotonic clock. */
  at: number;
  /** Of the service that it is sent to. */
  endpoint: string;
  method: string;
  /** With query. */
  path: string;
  /** The parsed body; undefined when there is none or it is no JSON. */
  body: unknown;
  /** The id in the path of `/services/instances/{id}` or `/services/boxes/{id}`, and which of the two. */
  record: { table: RecordTable; id: string } | undefined;
  /** For which resource it is sent, as `instances shop/web-eu`. */
  by: string | undefined;
  /** Status of the answer; undefined while there is none, and when there was none. */
  status: number | undefined;
  /** The parsed body of the answer. */
  answer: unknown;
  /** When it ended, on the same clock. */
  endedAt: number | undefined;
}

/** The tables of the service that hold records of ours. */
export type RecordTable = 'instances' | 'boxes';

/** A change of an object in the API server, whoever made it. */
export interface Change {
  at: number;
  resource: string;
  key: string;
  now: Shown | undefined;
  before: Shown | undefined;
}

/** A record as the embedded service stores it: what is true, whatever its answers say. */
export type StoredRecord = { id: string; name: string } & Readonly<Record<string, unknown>>;

/** What a judge may look at, and where it says what it saw. */
export interface Court {
  /** Milliseconds on the world's monotonic clock. */
  now(): number;
  /** Wall-clock milliseconds. */
  wall(): number;
  /** The installation id of the operator, once there is one. */
  installation(): string | undefined;
  /** Tells of a broken rule. */
  object(what: string): void;
  /** Objects as stored now. */
  resources(resource: string): readonly Shown[];
  resource(resource: string, key: string): Shown | undefined;
  /** A record as it is on the service at an endpoint. `at`: @default wherever it is */
  record(table: RecordTable, id: string, at?: string): StoredRecord | undefined;
  records(table: RecordTable, at?: string): readonly StoredRecord[];
  /** Operations of an instance, the oldest first. */
  operations(instance: string): readonly StoredOperation[];
  /** The text of a blob, by the URL in a record. */
  blob(url: string): string | undefined;
}

/** An operation as the embedded service stores it. */
export interface StoredOperation {
  operation: string;
  state: string;
  created: string;
}

/** Looks while a world runs, and says what must never be seen. It keeps what it needs to remember to itself. */
export interface Judge {
  /** A write goes out. */
  writing?(write: KubeWrite): void;
  /** A write has ended, whatever it came to. */
  wrote?(write: KubeWrite): void;
  /** A call goes out. */
  calling?(call: ServiceCall): void;
  /** A call has ended, whatever it came to. */
  called?(call: ServiceCall): void;
  /** Something changed in the API server. */
  changed?(change: Change): void;
  /** One kind more can be watched again, after so many milliseconds in which the API server could not be reached. */
  reached?(outageMs: number): void;
  /** Somebody is about to change the service by hand. */
  byHand?(): void;
  /** An operator process starts. */
  started?(): void;
  /** The world ends. */
  ended?(): void;
}

/** What a judge found. */
export interface Objection {
  judge: string;
  /** Seconds since the world began. */
  at: number;
  said: string;
}

export function describeObjection({ judge, at, said }: Objection): string {
  return `${judge} (+${at.toFixed(1)} s): ${said}`;
}
