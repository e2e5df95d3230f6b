import type { Clock, Random } from '../base/clock.ts';
import type { Blobs } from './families/blobs.ts';
import type { Boxes } from './families/boxes.ts';
import type { Instances } from './families/instances.ts';
import type { Providers } from './families/providers.ts';
import type { Security } from './families/security.ts';
import type { Workspaces } from './families/workspaces.ts';
import type { ServicePort } from './port.ts';
import type { SharedReads } from './shared-reads.ts';

/** What proves who calls. */
export type Credentials =
  { kind: 'token'; token: string } | { kind: 'password'; email: string; password: string };

/** Names that vary between installations (service-behaviour.md 1). */
export interface HeaderNames {
  /** @default 'Service-Token' */
  token?: string | undefined;
  /** @default 'Service-Release' */
  release?: string | undefined;
  /** `Bearer`: the token travels as `Authorization: Bearer …` instead of in the token header. */
  tokenScheme?: 'Bearer' | undefined;
}

/** The budget of one Connection. */
export interface PaceSettings {
  /** @default 10 */
  requestsPerSecond?: number | undefined;
  /** Calls that may go at once after a pause. @default 20 */
  burst?: number | undefined;
  /** Calls under way at one time. @default 16 */
  inFlight?: number | undefined;
}

export interface LimitSettings {
  /** Bytes of one record's answer. @default 10 MiB */
  recordBytes?: number | undefined;
  /** Bytes of a list. @default 64 MiB */
  listBytes?: number | undefined;
  /** Nesting of JSON in an answer. @default 64 */
  jsonDepth?: number | undefined;
  /** Milliseconds for one call. @default 30 s */
  timeoutMs?: number | undefined;
  /** Consecutive failures that open the breaker. @default 5 */
  breakerFailures?: number | undefined;
}

/** The part of pino that the client uses: fields first, then a constant message. */
export interface ServiceLog {
  debug(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

/** One finished call, for metrics. */
export interface CallReport {
  method: string;
  template: string;
  /** Undefined without an answer. */
  status: number | undefined;
  /** From sending to the end of the answer; 0 when it was not sent. */
  ms: number;
  /** `ok` for a 2xx, else the error's code (also `NotFound` for a read's 404). */
  outcome: string;
}

export interface ServiceClientOptions {
  port: ServicePort;
  credentials: Credentials;
  headers?: HeaderNames | undefined;
  /** Value of the release header. @default '4.0' */
  release?: string | undefined;
  pace?: PaceSettings | undefined;
  limits?: LimitSettings | undefined;
  clock: Clock;
  random: Random;
  log?: ServiceLog | undefined;
  onCall?: ((report: CallReport) => void) | undefined;
}

/** Everything that is said to one service with one credential: one budget, one breaker, one login. */
export interface ServiceClient {
  readonly boxes: Boxes;
  readonly instances: Instances;
  readonly workspaces: Workspaces;
  readonly providers: Providers;
  readonly blobs: Blobs;
  readonly security: Security;
  readonly shared: SharedReads;
  /** A stamp of now, in order with all `startedAt` and `endedAt` of this client. */
  stamp(): number;
  /** The credential and every token got with it, for masking. */
  secretValues(): readonly string[];
  /** Whether calls go out at present. */
  breakerState(): 'closed' | 'open' | 'halfOpen';
  /** Calls that wait for their turn end with `Closed`; those under way are left to their time-outs. */
  close(): void;
}

export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  throw new Error(`not built yet: ${Object.keys(options).join()}`);
}
