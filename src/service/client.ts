import type { Clock, Random } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { unlimitedMemory, type MemoryShare } from '../base/memory-budget.ts';
import { SecretSet } from '../base/masking/secret-set.ts';
import { Priority } from '../base/priority.ts';
import { noTurns, type Turns } from '../base/turns.ts';
import { Caller } from './call/caller.ts';
import type { CallReport } from './call/caller.ts';
import { ClockSkew } from './call/clock-skew.ts';
import { Session } from './call/session.ts';
import type { Credentials } from './call/session.ts';
import { Stamps } from './call/stamps.ts';
import type { ServiceError } from './errors.ts';
import { createBlobs } from './families/blobs.ts';
import type { Blobs } from './families/blobs.ts';
import { createBoxes } from './families/boxes.ts';
import type { Boxes } from './families/boxes.ts';
import { createDecoders } from './families/decoders.ts';
import { createInstances } from './families/instances.ts';
import type { Instances } from './families/instances.ts';
import { createProviders } from './families/providers.ts';
import type { Providers } from './families/providers.ts';
import { login } from './families/security.ts';
import { createWorkspaces } from './families/workspaces.ts';
import type { Workspaces } from './families/workspaces.ts';
import { Breaker } from './pace/breaker.ts';
import { Pace } from './pace/pace.ts';
import type { PaceState } from './pace/pace.ts';
import type { ServicePort } from './port.ts';
import type { Read } from './results.ts';
import { createSharedReads } from './shared-reads.ts';
import type { ListReader, SharedReads } from './shared-reads.ts';

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
  /** Values in one record's answer, commas and names in its JSON: what it takes once it is parsed. @default 50 000 */
  recordValues?: number | undefined;
  /** Nesting of JSON in an answer. @default 64 */
  jsonDepth?: number | undefined;
  /** Milliseconds for one call. @default 30 s */
  timeoutMs?: number | undefined;
  /** Consecutive failures that open the breaker. @default 5 */
  breakerFailures?: number | undefined;
}

export interface ServiceClientOptions {
  port: ServicePort;
  credentials: Credentials;
  headers?: HeaderNames | undefined;
  /** Value of the release header. @default '4.0' */
  release?: string | undefined;
  pace?: PaceSettings | undefined;
  limits?: LimitSettings | undefined;
  /** The memory that answers may take. @default as much as they want */
  memory?: MemoryShare | undefined;
  /** When long answers may be parsed. @default at once */
  turns?: Turns | undefined;
  clock: Clock;
  random: Random;
  log?: Logger | undefined;
  /**
   * Secret values that the service might quote, which no error shows. The credential and every token got with it are
   * noted here. @default a set of its own
   */
  secrets?: SecretSet | undefined;
  onCall?: ((report: CallReport) => void) | undefined;
}

/** Everything that is said to one service with one credential: one budget, one breaker, one login. */
export interface ServiceClient {
  readonly boxes: Boxes;
  readonly instances: Instances;
  readonly workspaces: Workspaces;
  readonly providers: Providers;
  readonly blobs: Blobs;
  readonly shared: SharedReads;
  /** A stamp of now, in order with all `startedAt` and `endedAt` of this client. */
  stamp(): number;
  /** Whether calls go out at present. */
  breakerState(): 'closed' | 'open' | 'halfOpen';
  /** How busy the budget is. */
  paceState(): PaceState;
  /** How far the service's clock is ahead of ours, milliseconds; undefined while no answer has told. */
  clockSkewMs(): number | undefined;
  /** The next call logs in anew, where there is a login: a refusal may have been of its session. */
  loginAgain(): void;
  /** Calls that wait for their turn end with `Closed`; those under way are left to their time-outs. */
  close(): void;
}

/** Makes the client of one service for one credential. Starts nothing: the first call logs in if it must. */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const { clock, random, port, pace: paceSettings = {}, limits = {}, log } = options;
  const secrets = options.secrets ?? new SecretSet();
  const clockSkew = new ClockSkew();
  const stamps = new Stamps(clock);
  const pace = new Pace({
    requestsPerSecond: paceSettings.requestsPerSecond ?? 10,
    burst: paceSettings.burst ?? 20,
    inFlight: paceSettings.inFlight ?? 16,
    clock,
    random,
  });
  const breaker = new Breaker<ServiceError>({ failures: limits.breakerFailures ?? 5, clock, random });
  const { memory = unlimitedMemory, turns = noTurns } = options;
  const recordBytes = limits.recordBytes ?? 10 * MiB;
  const recordValues = limits.recordValues ?? 50_000;
  const decoders = createDecoders(limits.listBytes ?? 64 * MiB, {
    bytes: recordBytes,
    values: recordValues,
    depth: limits.jsonDepth ?? 64,
  });
  const session: Session = new Session({
    credentials: options.credentials,
    secrets,
    login: (email, password) => login(caller, decoders, email, password, { priority: new Priority('edit') }),
    clock,
    random,
  });
  const caller: Caller = new Caller({
    port,
    session,
    pace,
    breaker,
    stamps,
    clock,
    clockSkew,
    headersFor: (token) => headersFor(options, token),
    recordBytes,
    recordValues,
    memory,
    turns,
    timeoutMs: limits.timeoutMs ?? 30_000,
    secrets,
    report: (call) => {
      log?.debug({ ...call }, 'service call');
      options.onCall?.(call);
    },
  });
  const workspaces = createWorkspaces(caller, decoders);
  const shared = createSharedReads(listReader(workspaces), {
    stamp: () => stamps.next(),
    clock,
    memory,
    turns,
  });
  return {
    boxes: createBoxes(caller, decoders),
    instances: createInstances(caller, decoders),
    workspaces,
    providers: createProviders(caller, decoders),
    blobs: createBlobs(caller, decoders),
    shared,
    stamp: () => stamps.next(),
    breakerState: () => breaker.state(),
    paceState: () => pace.state(),
    clockSkewMs: () => clockSkew.ms,
    loginAgain: () => session.startOver(),
    close: () => {
      pace.close();
      caller.close();
      shared.close();
    },
  };
}

const MiB = 1_048_576;

function headersFor(options: ServiceClientOptions, token: string | undefined): Record<string, string> {
  const names = options.headers ?? {};
  const headers: Record<string, string> = {
    accept: 'application/json, text/plain, */*',
    'user-agent': 'boxwright',
    [(names.release ?? 'Service-Release').toLowerCase()]: options.release ?? '4.0',
  };
  if (token === undefined) return headers;
  if (names.tokenScheme === undefined) headers[(names.token ?? 'Service-Token').toLowerCase()] = token;
  else headers['authorization'] = `${names.tokenScheme} ${token}`;
  // Interface document section 5: also as a cookie; a token that would break the cookie travels in the header only.
  if (!/[",;\\]/.test(token)) headers['cookie'] = `token=${token}`;
  return headers;
}

/** One record as a list. */
async function inList<T>(reading: Promise<Read<T>>): Promise<Read<readonly T[]>> {
  const read = await reading;
  return read.kind === 'found' ? { ...read, record: [read.record] } : read;
}

function listReader(workspaces: Workspaces): ListReader {
  return (family, workspaceId, options) => {
    switch (family) {
      case 'boxes':
        return workspaces.boxes(workspaceId, options);
      case 'instances':
        return workspaces.instances(workspaceId, options);
      case 'providers':
        return workspaces.providers(workspaceId, options);
      case 'workspaces':
        return workspaces.list(options);
      case 'workspace':
        return inList(workspaces.read(workspaceId, options));
      default:
        return family satisfies never;
    }
  };
}
