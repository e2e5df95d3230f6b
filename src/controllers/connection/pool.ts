import type { Connection } from '../../api/connection.ts';
import { parseDuration } from '../../base/duration.ts';
import type { Turns } from '../../base/turns.ts';
import { canonicalJson, sha256Base32 } from '../../base/hash.ts';
import {
  canonicalEndpoint,
  createServiceClient,
  type CallReport,
  type ClosablePort,
  type ServiceClient,
  type ServiceErrorCode,
} from '../../service/index.ts';
import {
  isAccount,
  type ConnectionHandle,
  type Connections,
  type ConnectionState,
} from '../connection-handle.ts';
import type { OperatorContext } from '../context.ts';
import type { ClientStanding } from '../metrics/index.ts';
import type { Access } from './kept-credentials.ts';

/** Makes the port to an endpoint; throws EndpointError for one that may not be called. */
export type PortFactory = (options: {
  endpoint: string;
  ca: string | undefined;
  connections: number;
  turns: Turns;
  /** Whose it is, a namespace. */
  owner: string;
}) => ClosablePort;

/** What a probe that went well has found. */
interface Ready {
  workspace: string;
  schemaBase: string;
  user: string | undefined;
  account: string | undefined;
}

interface Entry {
  /** Of everything that the client was made from; another fingerprint means another client. */
  fingerprint: string;
  client: ServiceClient;
  access: Access;
  port: ClosablePort;
  /** In its one spelling. */
  endpoint: string;
  spec: Connection['spec'];
  /** Undefined until a probe went well with this client. */
  ready: Ready | undefined;
  /** What was ready last, for deletions. */
  lastGood: Ready | undefined;
  /** Calls in a row that brought no answer worth the name, and the first of them. */
  failing: { count: number; first: CallReport } | undefined;
}

/** So many such calls in a row are trouble of the service, not of one call. */
const TROUBLE = 3;
/** How calls end that say that the service is out, or cannot be reached. */
const OUT: ReadonlySet<string> = new Set([
  'Unreachable',
  'Tls',
  'Timeout',
  'Broken',
  'ServerError',
] satisfies ServiceErrorCode[]);

/** What a Connection that is not ready says. */
interface NotReady {
  message: string;
  credentialsMissing: boolean;
}

/** Who keeps the connections whose clients are in the pool. */
interface PoolKeeper {
  /** Whether a Connection of that key is in the cluster. */
  exists(key: string): boolean;
  /** The calls over a connection begin to fail, or work again. */
  trouble(key: string): void;
  /** The service does not let in the credentials of a connection. */
  rejected(key: string): void;
}

type Pool = Pick<OperatorContext, 'clock' | 'random' | 'log' | 'secrets' | 'memory' | 'turns'>;

/**
 * The clients of all connections: one per endpoint and credential, with the budget and the breaker that all
 * kinds share. Keeps the last good credential in memory for deletions until the Connection itself is gone.
 */
export class ConnectionPool implements Connections {
  readonly #context: Pool;
  readonly #portFor: PortFactory;
  readonly #entries = new Map<string, Entry>();
  readonly #notReady = new Map<string, NotReady>();
  readonly #listeners: ((key: string) => void)[] = [];
  readonly #onCall: ((key: string, report: CallReport) => void) | undefined;
  readonly #onGone: ((key: string) => void) | undefined;
  #keeper: PoolKeeper | undefined;

  constructor(options: {
    context: Pool;
    portFor: PortFactory;
    onCall?: (key: string, report: CallReport) => void;
    /** Hears when a connection is gone; no call is told of afterwards. */
    onGone?: (key: string) => void;
  }) {
    this.#context = options.context;
    this.#portFor = options.portFor;
    this.#onCall = options.onCall;
    this.#onGone = options.onGone;
  }

  /** Whoever keeps the connections knows of them, and hears of them, from now on. */
  attend(keeper: PoolKeeper): void {
    this.#keeper = keeper;
  }

  resolve(namespace: string, ref: { name: string }): ConnectionState {
    const key = `${namespace}/${ref.name}`;
    const entry = this.#entries.get(key);
    const not = this.#notReady.get(key);
    if (entry?.ready !== undefined && not === undefined) {
      return { kind: 'ready', handle: this.#handleOf(key, entry, entry.ready) };
    }
    if (not === undefined && entry?.lastGood === undefined && this.#keeper?.exists(key) === true)
      return { kind: 'pending' };
    const waiting: ConnectionState = {
      kind: 'waiting',
      message:
        not?.message ??
        `spec.connectionRef: Connection "${ref.name}" does not exist in this namespace: create it, or correct the name`,
      credentialsMissing: not?.credentialsMissing ?? entry === undefined,
    };
    const good = entry?.ready ?? entry?.lastGood;
    return entry === undefined || good === undefined
      ? waiting
      : { ...waiting, handle: this.#handleOf(key, entry, good) };
  }

  alike(namespace: string, home: { endpoint: string; account: string }): ConnectionHandle | undefined {
    for (const [key, entry] of this.#entries) {
      const isReady = entry.ready !== undefined && !this.#notReady.has(key);
      if (!isReady || !key.startsWith(`${namespace}/`) || entry.endpoint !== home.endpoint) continue;
      if (entry.ready !== undefined && isAccount(home.account, entry.ready))
        return this.#handleOf(key, entry, entry.ready);
    }
    return undefined;
  }

  /** Tells when a connection's state has changed. */
  onChange(listener: (key: string) => void): void {
    this.#listeners.push(listener);
  }

  /** The client for a spec and a credential; the one in use when nothing about it changed. */
  client(key: string, spec: Connection['spec'], access: Access): { client: ServiceClient; fresh: boolean } {
    const { headers, release, pace } = spec;
    const endpoint = canonicalEndpoint(spec.endpoint);
    const { credentials, ca } = access;
    const fingerprint = sha256Base32(canonicalJson({ endpoint, headers, release, pace, credentials, ca }));
    const known = this.#entries.get(key);
    if (known?.fingerprint === fingerprint) {
      known.spec = spec;
      return { client: known.client, fresh: false };
    }
    const { clock, random, log, secrets, memory } = this.#context;
    const [namespace = ''] = key.split('/');
    const turns = this.#context.turns.of(namespace);
    const port = this.#portFor({ endpoint, ca, connections: pace.inFlight, turns, owner: namespace });
    const client = createServiceClient({
      port,
      credentials,
      headers,
      release,
      pace,
      memory: memory.share(namespace),
      turns,
      clock,
      random,
      log: log.child({ connection: key }),
      secrets: secrets.of(key),
      onCall: (report) => this.#called(key, report),
    });
    const lastGood = known?.endpoint === endpoint ? (known.ready ?? known.lastGood) : undefined;
    if (known !== undefined) this.#close(known);
    this.#entries.set(key, {
      fingerprint,
      client,
      access,
      port,
      endpoint,
      spec,
      ready: undefined,
      lastGood,
      failing: undefined,
    });
    return { client, fresh: true };
  }

  /** A probe went well. */
  setReady(key: string, ready: Ready): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    const changed = this.#notReady.delete(key) || canonicalJson(entry.ready) !== canonicalJson(ready);
    entry.ready = ready;
    entry.lastGood = ready;
    if (changed) this.#tell(key);
  }

  /** A probe with kept credentials went well: only deletions may use it. */
  setGood(key: string, good: Ready): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || canonicalJson(entry.lastGood) === canonicalJson(good)) return;
    entry.lastGood = good;
    this.#tell(key);
  }

  /** What the client in memory was made from, where it was let in. */
  goodAccess(key: string): Access | undefined {
    const entry = this.#entries.get(key);
    return entry?.ready === undefined && entry?.lastGood === undefined ? undefined : entry.access;
  }

  /** The connection cannot be used for the reason given. */
  setNotReady(key: string, not: NotReady): void {
    const before = this.#notReady.get(key);
    this.#notReady.set(key, not);
    if (before?.message !== not.message) this.#tell(key);
  }

  /** Whether a client with a good credential is in memory. */
  isReady(key: string): boolean {
    return this.#entries.get(key)?.ready !== undefined && !this.#notReady.has(key);
  }

  /** Whether the last call over a connection failed. */
  isFailing(key: string): boolean {
    return this.#entries.get(key)?.failing !== undefined;
  }

  /** The first of the calls over a connection that fail in a row; undefined while they work. */
  trouble(key: string): CallReport | undefined {
    const failing = this.#entries.get(key)?.failing;
    return failing !== undefined && failing.count >= TROUBLE ? failing.first : undefined;
  }

  /** How far the service's clock is ahead of ours, milliseconds; undefined where it is not known. */
  clockSkewMs(key: string): number | undefined {
    return this.#entries.get(key)?.client.clockSkewMs();
  }

  /** How every client stands, for metrics. */
  standings(): ClientStanding[] {
    return [...this.#entries].map(([key, { client }]) => ({
      key,
      breaker: client.breakerState(),
      ...client.paceState(),
    }));
  }

  /** The Connection is gone. */
  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#close(entry);
    this.#entries.delete(key);
    this.#notReady.delete(key);
    this.#onGone?.(key);
    this.#context.secrets.drop(key);
    this.#tell(key);
  }

  closeAll(): void {
    for (const entry of this.#entries.values()) this.#close(entry);
    this.#entries.clear();
  }

  #called(key: string, report: CallReport): void {
    const entry = this.#entries.get(key);
    // Of a call that ended after its connection had gone, nobody may hear: its metric series would come back.
    if (entry === undefined) return;
    this.#onCall?.(key, report);
    if (report.outcome === 'CredentialsRejected') this.#keeper?.rejected(key);
    const before = this.trouble(key) !== undefined;
    if (OUT.has(report.outcome)) {
      entry.failing = { count: (entry.failing?.count ?? 0) + 1, first: entry.failing?.first ?? report };
    } else if (report.status !== undefined) {
      entry.failing = undefined;
    }
    if ((this.trouble(key) !== undefined) !== before) this.#keeper?.trouble(key);
  }

  #close(entry: Entry): void {
    entry.client.close();
    entry.port
      .close()
      .catch((error: unknown) => this.#context.log.debug({ error }, 'closing a service port failed'));
  }

  #tell(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }

  #handleOf(key: string, entry: Entry, good: Ready): ConnectionHandle {
    const { poll, defaults } = entry.spec;
    return {
      key,
      endpoint: entry.endpoint,
      client: entry.client,
      secrets: this.#context.secrets.of(key),
      workspace: good.workspace,
      user: good.user,
      account: good.account,
      schemaBase: good.schemaBase,
      poll: {
        processingMs: Math.max(parseDuration(poll.processing), 100),
        settledMs: Math.max(parseDuration(poll.settled), 1_000),
        lagWindowMs: parseDuration(poll.lagWindow),
      },
      defaults,
    };
  }
}
