import { systemClock, type Clock, type Random } from '../base/clock.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ScriptHost } from './instances/scripts/script-host.ts';
import {
  DEFAULT_WEBHOOKS,
  WebhookCaller,
  type WebhookSettings,
} from './instances/webhooks/webhook-caller.ts';
import { createAccount, type AccountSpec } from './accounts.ts';
import { Admin } from './admin/admin.ts';
import { Calls } from './edge/calls.ts';
import type { Answer } from './edge/chunks.ts';
import { Edge } from './edge/edge.ts';
import { Faults } from './edge/faults.ts';
import { headerReader, type HeaderNames } from './edge/header-names.ts';
import { Hidden } from './edge/hidden.ts';
import { Lag } from './edge/lag.ts';
import { compileRules, type ReadingChoice } from './edge/readings.ts';
import { Router } from './edge/router.ts';
import { Unread } from './edge/unread.ts';
import { validation } from './edge/validate.ts';
import { Engine, type JobResumer, type JobRunner } from './engine.ts';
import type { SandboxAnswer, SandboxRequest } from './http.ts';
import { Ids, strongRandom } from './ids.ts';
import { runLease } from './instances/lease.ts';
import { OperationFaults } from './instances/run/operation-faults.ts';
import { resumeOperation, runOperation } from './instances/run/steps.ts';
import { runGroups } from './organizations/routes.ts';
import { PAGE_HEADER } from './page/lists/calls.ts';
import { Page } from './page/page.ts';
import { isLoopback } from './page/session.ts';
import { runProvider } from './providers/lifecycle.ts';
import { ROUTES } from './routes.ts';
import { startServers, type Address, type ListenOptions, type Servers } from './server.ts';
import type { Service } from './service.ts';
import { DEFAULT_DURATIONS, type Durations } from './settings.ts';
import type { AccountDoc } from './model.ts';
import { grantToken, passwordHash } from './security/tokens.ts';
import type { StateDocument } from './state/document.ts';
import { Store } from './store/store.ts';
import { ServiceTime } from './time.ts';
import { ViewCache } from './view-cache.ts';
import { workspaceId } from './workspaces/view.ts';

/** Told about what a person running the sandbox may want to know. */
export type SandboxLog = (message: string, fields: Record<string, unknown>) => void;

export interface SandboxOptions {
  /** @default the real clock */
  clock?: Clock;
  /** Source of ids and tokens; a seeded one makes them reproducible. @default a strong one */
  random?: Random;
  /** A directory, or `:memory:`. @default :memory: */
  data?: string;
  /** Start of all schema identifiers. @default http://sandbox.boxwright.dev/schemas */
  schemaBase?: string;
  /** The first user, made when the data are new. Password and token are generated when not given. */
  account?: Partial<AccountSpec>;
  /** Further users. */
  accounts?: readonly AccountSpec[];
  /** Names of team workspaces that the first user owns, made when the data are new. */
  teams?: readonly string[];
  /** Names of headers beside the interface's own, for clients of other installations. */
  headers?: HeaderNames;
  /** How long operations take, milliseconds. */
  durations?: Partial<Durations>;
  /** Added to each call, milliseconds; a pair is a range. @default 0 */
  latency?: number | readonly [number, number];
  /** Stands in the place of everything, the first user's password and token excepted. */
  state?: StateDocument;
  /** Readings of open points; the others keep their defaults. */
  readings?: ReadingChoice;
  /** Really runs event scripts, as the user who runs the sandbox. @default false: they are simulated */
  runScripts?: boolean;
  /** Time for one script, milliseconds. @default 300000 */
  scriptTimeoutMs?: number;
  /** Webhooks: allowed hosts (loopback by default), time-out, tries. */
  webhooks?: Partial<WebhookSettings>;
  /** @default nothing is logged */
  log?: SandboxLog;
}

/** What somebody needs to log in. Password and token are there only when the data are new. */
export interface Credentials {
  email: string;
  password: string | undefined;
  token: string | undefined;
  /** Id of the personal workspace. */
  workspace: string;
  /** Ids of the team workspaces. */
  teams: readonly string[];
}

/** The embedded service. */
export interface Sandbox {
  /** One request, one answer; rejects with ConnectionLost when a fault breaks the connection. */
  handle(request: SandboxRequest): Promise<SandboxAnswer>;
  /** Every control that a real service does not have. */
  readonly admin: Admin;
  readonly credentials: Credentials;
  readonly schemaBase: string;
  /** Where the data are. */
  readonly data: string;
  /** Opens the two ports. */
  start(options?: ListenOptions): Promise<Address>;
  /**
   * An address that logs a browser on this machine in as the first user, once, while this sandbox runs.
   * @throws Error when the service's port is not open, or open to others
   */
  loginLink(): string;
  /** Closes ports and data; what waits is broken off. */
  stop(): Promise<void>;
}

const DEFAULT_BASE = 'http://sandbox.boxwright.dev/schemas';

/** Makes an embedded service. @throws DataError when the data directory cannot be used */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const log = options.log ?? ((): void => undefined);
  const data = options.data ?? ':memory:';
  const store = new Store(data);
  const time = new ServiceTime(options.clock ?? systemClock, Number(store.settings.get('skew')?.value ?? 0));
  const random = options.random ?? strongRandom;
  const runners: Record<string, JobRunner> = {
    operation: (job, at) => runOperation(service, job, at),
    lease: (job, at) => runLease(service, job, at),
    provider: (job, at) => runProvider(service, job, at),
    groups: (job, at) => runGroups(service, job, at),
  };
  const resumers: Record<string, JobResumer> = {
    operation: (job, result, at) => resumeOperation(service, job, result, at),
  };
  const engine = new Engine(store, time, runners, resumers, (job, error) =>
    log('a job failed', { job: job.id, error: String(error) }),
  );
  const stopping = new AbortController();
  const scripts =
    options.runScripts === true ? scriptHost(data, time.clock, options.scriptTimeoutMs) : undefined;
  const service: Service = {
    store,
    time,
    ids: new Ids(random),
    random,
    engine,
    schemaBase: schemaBase(options.schemaBase ?? DEFAULT_BASE),
    views: new ViewCache(),
    calls: new Calls(),
    scripts: scripts?.host,
    webhooks: new WebhookCaller({ ...DEFAULT_WEBHOOKS, ...options.webhooks }, time.clock, stopping.signal),
    operationFaults: new OperationFaults(),
    rules: compileRules(options.readings ?? {}),
    settings: {
      durations: { ...DEFAULT_DURATIONS, ...options.durations },
      latency: options.latency ?? 0,
    },
  };
  const parts = {
    service,
    router: new Router(ROUTES),
    validation,
    faults: new Faults(random),
    lag: new Lag(store, time),
    hidden: new Hidden(),
    calls: service.calls,
    unread: new Unread(
      [...(options.headers?.token ?? []), ...(options.headers?.release ?? []), PAGE_HEADER],
      (record) =>
        log(record.kind === 'path' ? 'nothing answers here' : 'nothing reads this header', { ...record }),
    ),
    readHeaders: headerReader(options.headers ?? {}),
    stopped: stopping.signal,
    onError: (error: unknown): void =>
      log('a call failed', { error: String((error as Error)?.stack ?? error) }),
  };
  const edge = new Edge(parts);
  const page = new Page(service, (request) => edge.handle(request), parts.onError);
  const handle: Sandbox['handle'] = (request) => page.handle(request) ?? edge.handle(request);
  // Over the wire long lists go out as they are made.
  const open = (request: SandboxRequest): Promise<Answer> => page.handle(request) ?? edge.open(request);
  const credentials = firstRun(service, options);
  engine.load();
  const admin = new Admin({ ...parts, readings: options.readings ?? {} });
  if (options.state !== undefined) admin.importState(options.state);
  let servers: Servers | undefined;
  return {
    handle,
    admin,
    credentials,
    schemaBase: service.schemaBase,
    data,
    async start(listen = {}) {
      const { onError, stopped } = parts;
      const { ids } = service;
      servers = await startServers(open, admin, {
        ...listen,
        makeToken: () => ids.uuid(),
        onError,
        stopped,
      });
      return servers.address;
    },
    loginLink() {
      const url = servers?.address.url ?? '';
      const account = store.accounts.by('workspace', credentials.workspace)[0];
      if (account === undefined || !isLoopback(url.replace('http://', ''))) {
        throw new Error(`only a service that listens on loopback has a link that logs in, not "${url}"`);
      }
      return `${url}${page.loginPath(account.id)}`;
    },
    async stop() {
      stopping.abort(new Error('the sandbox was stopped'));
      engine.stop();
      scripts?.stop();
      await servers?.close();
      store.close();
    },
  };
}

/** An absolute URI without a trailing slash (service-behaviour.md 1). @throws Error */
function schemaBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || /[\s?#]/.test(text)) {
    throw new Error(`schema base "${text}": give an absolute URI, such as ${DEFAULT_BASE}`);
  }
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}

/** Machines live beside the data, or in a temporary folder that goes with the sandbox. */
function scriptHost(data: string, clock: Clock, limit = 300_000): { host: ScriptHost; stop: () => void } {
  const temporary = data === ':memory:' ? mkdtempSync(join(tmpdir(), 'boxwright-machines-')) : undefined;
  const host = new ScriptHost(temporary ?? resolve(data, 'machines'), clock, limit);
  return {
    host,
    stop: () => {
      host.stop();
      if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
    },
  };
}

function firstRun(service: Service, options: SandboxOptions): Credentials {
  const { store, ids } = service;
  const known = store.accounts.all()[0];
  if (known !== undefined && known.hash !== '') {
    return {
      email: known.email,
      password: undefined,
      token: undefined,
      workspace: known.workspace,
      teams: teamsOf(service, known.workspace),
    };
  }
  const email = options.account?.email ?? 'admin@sandbox.example';
  const password = options.account?.password ?? ids.text('abcdefghijkmnpqrstuvwxyz23456789', 16);
  const token = options.account?.token ?? ids.uuid();
  if (known !== undefined) return store.database.run(() => adopt(service, known, password, token));
  return store.database.run(() => {
    const account = createAccount(service, { ...options.account, email, password, token });
    for (const spec of options.accounts ?? []) createAccount(service, spec);
    const teams = (options.teams ?? []).map((name) => createTeam(service, account.workspace, name));
    return { email, password, token, workspace: account.workspace, teams };
  });
}

/** The first user of an imported state that came without passwords gets these. */
function adopt(service: Service, known: AccountDoc, password: string, token: string): Credentials {
  const { store, ids } = service;
  const salt = ids.hex(16);
  store.accounts.put({ ...known, salt, hash: passwordHash(password, salt) });
  grantToken(service, known.id, token);
  const { email, workspace } = known;
  return { email, password, token, workspace, teams: teamsOf(service, workspace) };
}

function teamsOf({ store }: Service, workspace: string): string[] {
  const owned = store.workspaces.by('owner', workspace);
  return owned.filter(({ kind }) => kind === 'team').map(({ id }) => id);
}

function createTeam(service: Service, owner: string, name: string): string {
  const now = service.time.stamp();
  const organization = service.store.workspaces.get(owner)?.organizations ?? [];
  return service.store.workspaces.put({
    id: workspaceId(service, name),
    kind: 'team',
    name,
    icon: '',
    created: now,
    updated: now,
    deleted: null,
    organizations: organization,
    owner,
    members: [],
    ldap_groups: [],
    fields: {},
  }).id;
}
