import { rfc3339 } from '../../base/rfc3339.ts';
import type { Connection } from '../../api/connection.ts';
import { ANNOTATIONS } from '../../api/names.ts';
import { tokenOf } from '../../api/tokens.ts';
import { parseDuration } from '../../base/duration.ts';
import { canonicalJson } from '../../base/hash.ts';
import { KubeApiError, type ReconcileContext, type Result } from '../../kube/index.ts';
import { EndpointError, type CallReport, type ServiceClient } from '../../service/index.ts';
import type { Cached, KindCache } from '../cache.ts';
import type { OperatorContext } from '../context.ts';
import type { WholeSecret } from '../sources.ts';
import { Attempts } from '../record/attempts.ts';
import { firstWord } from '../record/first-word.ts';
import { holding, isHeld, lettingGo, patchMetadata, type OwnMetadata } from '../record/metadata.ts';
import { PassGuard } from '../record/pass-guard.ts';
import { keyOf } from '../record/resource.ts';
import { inUse } from '../record/status/in-use.ts';
import { problemsVerdict } from '../record/status/problems.ts';
import { StatusWriter } from '../record/status/writer.ts';
import { verdict, type ExtraCondition, type Verdict } from '../record/status/verdict.ts';
import { wrongAuthorities } from './authorities.ts';
import { credentialsIn } from './credentials.ts';
import type { Access, KeptCredentials, Leaving } from './kept-credentials.ts';
import type { ConnectionPool } from './pool.ts';
import { accountOf, probe, type ProbeOutcome } from './probe.ts';
import { skewText, tellableSkew } from './skew.ts';

/** Where Secrets are not watched, credentials are looked at this often, milliseconds. */
const SECRET_LOOK_MS = 30_000;
/** What the user has to change is looked at again this often, milliseconds. */
const SLOW_MS = 600_000;
/** What is held because others use it is looked at again so often, milliseconds. */
const USE_LOOK_MS = 5_000;
const CA_LIMIT = 262_144;

/** What this process remembers of a connection. */
interface Memory {
  uid: string;
  /** What the last probe went well with, and what it found: status may not say so yet. */
  probed: { fingerprint: string; at: number; found: Found } | undefined;
  /** What the last probe found that did not go well: it is said until the next one is due. */
  unready: { fingerprint: string; found: Found } | undefined;
  /** The difference of the clocks that status tells, milliseconds: it is told anew only when it has moved. */
  skewMs: number | undefined;
  /** The Secret that was read last; a touched one is worth a look, whatever is in it. */
  secretVersion: string | undefined;
  /** When a person, or a touched Secret, was last heard. */
  heard: { asked: string | undefined; pending: boolean; at: number };
  /** A credential that was refused; not tried again before it changes, but slowly. */
  readonly attempts: Attempts;
}

/** Wishes of people and touches of the Secret are heard once in so long, milliseconds. */
const HEARD_MS = 10_000;
/** Marks the fingerprint of looks that a person has to do something about. */
const UNREADY = 'unready';
/** Fingerprint of looks at a service whose calls fail. */
const TROUBLE = 'trouble';

/** What a pass over a connection found. */
interface Found {
  verdict: Verdict;
  fields: Partial<Connection['status']>;
  /** Undefined: not known, so not shown. */
  reached?: boolean;
  letIn?: boolean;
  /** What a probe that went well has found. */
  ready?: Ready;
  /** The same with credentials that were kept for deletions, which nothing else may use. */
  good?: Ready;
}

interface Ready {
  workspace: string;
  schemaBase: string;
  user: string | undefined;
  account: string | undefined;
}

/** What a client is made from, and the version of the Secret with the credentials; or what is missing. */
type AccessFound =
  { kind: 'found'; access: Access; version?: string | undefined } | { kind: 'missing'; verdict: Verdict };

/** Keeps a Connection's client, and says whether it can be used. */
export class ConnectionReconciler {
  readonly #context: Omit<OperatorContext, 'connections'>;
  readonly #pool: ConnectionPool;
  readonly #cache: KindCache<Connection>;
  readonly #users: (connection: Connection) => string[];
  readonly #kept: KeptCredentials | undefined;
  readonly #status: StatusWriter<Cached<Connection>>;
  readonly #guard: PassGuard<Cached<Connection>>;
  readonly #memories = new Map<string, Memory>();

  constructor(options: {
    context: Omit<OperatorContext, 'connections'>;
    pool: ConnectionPool;
    cache: KindCache<Connection>;
    /** Resources that use a connection, as `Kind/name`. */
    users: (connection: Connection) => string[];
    /** Absent: credentials are kept in memory only. */
    kept?: KeptCredentials | undefined;
  }) {
    this.#context = options.context;
    this.#pool = options.pool;
    this.#cache = options.cache;
    this.#users = options.users;
    this.#kept = options.kept;
    const { type } = options.cache.informer;
    this.#status = new StatusWriter(options.context, type, options.cache);
    this.#guard = new PassGuard(options.context, type, this.#status);
  }

  /** What was found does not count any more: the next pass looks at the Secret, and asks the service. */
  lookAnew(key: string): void {
    const memory = this.#memories.get(key);
    if (memory?.probed !== undefined) memory.probed.at = Number.NEGATIVE_INFINITY;
  }

  async reconcile(key: string, run: ReconcileContext): Promise<Result> {
    const resource = this.#cache.get(key);
    if (resource === undefined) {
      const uid = this.#memories.get(key)?.uid;
      this.#memories.delete(key);
      this.#pool.drop(key);
      if (uid !== undefined) await this.#kept?.forget(uid, run.signal);
      return {};
    }
    const memory = this.#memory(key, resource.metadata.uid);
    return this.#guard.run(resource, memory.attempts, run, async () => {
      // An endpoint that does not answer must not keep a new generation without a word.
      const word = firstWord(this.#context, this.#status, resource, {
        since: this.#context.clock.monotonic(),
        message: () => 'Waits for the first answer of the service',
        signal: run.signal,
      });
      try {
        return await this.#pass(key, resource, run);
      } catch (error) {
        // Whoever waits for this connection is told where to look, unless all that failed is the last word on it.
        const isConflict = error instanceof KubeApiError && error.isConflict;
        if (!isConflict && !this.#pool.isReady(key)) this.#pool.setNotReady(key, brokenOff(resource));
        throw error;
      } finally {
        await word?.cancel();
      }
    });
  }

  async #pass(key: string, resource: Cached<Connection>, run: ReconcileContext): Promise<Result> {
    const users = this.#users(resource);
    const mayGo = resource.metadata.deletionTimestamp !== undefined && users.length === 0;
    if (resource.problems !== undefined && !mayGo) {
      const said = problemsVerdict(resource.problems);
      this.#pool.setNotReady(key, { message: notReady(resource, said), credentialsMissing: false });
      await this.#write(resource, { verdict: said, fields: {} }, run);
      return {};
    }
    if (resource.metadata.deletionTimestamp !== undefined) {
      if (!isHeld(resource.metadata)) return {};
      const { unconfirmed } = this.#context.installation;
      if (unconfirmed !== undefined) {
        await this.#write(resource, { verdict: verdict('Conflict', unconfirmed), fields: {} }, run);
        return { requeueAfterMs: SLOW_MS };
      }
      if (users.length === 0) {
        await this.#patch(resource, lettingGo(resource.metadata), run);
        return {};
      }
      await this.#check(key, resource, run);
      const access = this.#pool.goodAccess(key);
      if (access !== undefined) await this.#kept?.keep(leaving(resource), access, run.signal);
      const said = inUse(users, USE_LOOK_MS);
      await this.#write(resource, { verdict: said, fields: {} }, run);
      return { requeueAfterMs: USE_LOOK_MS };
    }
    if (!isHeld(resource.metadata)) {
      await this.#patch(resource, holding(resource.metadata), run);
      return { requeueAfterMs: 0, lane: 'kept' };
    }
    const found = await this.#check(key, resource, run);
    await this.#write(resource, found, run);
    const longest = this.#context.sources.followsSecrets(resource.metadata.namespace)
      ? Math.max(parseDuration(resource.spec.poll.settled), SECRET_LOOK_MS)
      : SECRET_LOOK_MS;
    return { requeueAfterMs: Math.min(found.verdict.recheckAfterMs ?? longest, longest) };
  }

  async #check(key: string, resource: Connection, run: ReconcileContext): Promise<Found> {
    const found = await this.#look(key, resource, run);
    if (found.ready !== undefined) {
      this.#pool.setReady(key, found.ready);
    } else {
      if (found.good !== undefined) this.#pool.setGood(key, found.good);
      this.#pool.setNotReady(key, {
        message: notReady(resource, found.verdict),
        credentialsMissing: found.verdict.reason === 'WaitingForSecret',
      });
    }
    return found;
  }

  async #look(key: string, resource: Connection, run: ReconcileContext): Promise<Found> {
    const { clock } = this.#context;
    const { spec, status } = resource;
    const memory = this.#memory(key, resource.metadata.uid);
    const given = await this.#access(resource, run);
    const kept =
      given.kind === 'missing' && this.#pool.goodAccess(key) === undefined
        ? await this.#keptFor(resource, run)
        : undefined;
    if (given.kind === 'missing' && kept === undefined) return { verdict: given.verdict, fields: {} };
    const { access, version } =
      given.kind === 'found' ? given : { access: kept as Access, version: undefined };

    let client;
    try {
      ({ client } = this.#pool.client(key, spec, access));
    } catch (error) {
      if (!(error instanceof EndpointError)) throw error;
      return { verdict: verdict('NeedsUser', `spec.endpoint: ${error.message}`, SLOW_MS), fields: {} };
    }
    const now = clock.monotonic();
    const fingerprint = this.#context.digest.of(
      canonicalJson({ spec: { ...spec, pace: undefined, poll: undefined, defaults: undefined } }),
      canonicalJson(access.credentials),
      access.ca ?? '',
    );
    const { probed, attempts } = memory;
    const heardInMs = this.#hear(resource, memory, version);
    if (heardInMs === 0) {
      attempts.clear();
      client.loginAgain();
    }
    const known = probed?.fingerprint === fingerprint ? probed.found : undefined;
    const isFresh =
      known !== undefined &&
      heardInMs !== 0 &&
      this.#pool.isReady(key) &&
      now - (probed?.at ?? 0) < parseDuration(spec.poll.settled);
    const trouble = this.#pool.trouble(key);
    if (isFresh && trouble === undefined) {
      attempts.succeeded('read', TROUBLE);
      return soon(known, heardInMs);
    }
    const held =
      attempts.held('read', fingerprint) ??
      (this.#pool.isFailing(key) ? attempts.held('read', TROUBLE) : undefined);
    if (held?.verdict !== undefined) {
      const said = { ...held.verdict, recheckAfterMs: held.retryAfterMs };
      return soon(heldBack(said, known), heardInMs);
    }
    const unready = `${UNREADY} ${fingerprint}`;
    const waits = attempts.held('read', unready);
    if (waits !== undefined && memory.unready?.fingerprint === fingerprint) {
      const { found } = memory.unready;
      const said = { ...found.verdict, recheckAfterMs: waits.retryAfterMs };
      return soon({ ...found, verdict: said }, heardInMs);
    }
    const outcome = await this.#ask(client, resource, fingerprint, memory, run);
    if (outcome.kind === 'not') {
      const { reason } = outcome.verdict;
      this.lookAnew(key);
      if (reason === 'CredentialsRejected') {
        if (attempts.tries('read', fingerprint) === 0) {
          const said = verdict(
            'Unknown',
            `${outcome.verdict.message}. The operator asks once more before it believes this`,
          );
          return heldBack(attempts.failed('read', fingerprint, said), known);
        }
        memory.probed = undefined;
        if (kept !== undefined) await this.#kept?.forget(resource.metadata.uid, run.signal);
        const said = attempts.refused('read', fingerprint, outcome.verdict);
        return { verdict: said, fields: {}, ...reachOf(outcome) };
      }
      if (known !== undefined && reason === 'ServiceUnavailable') {
        // Those who use the connection know as much by their own calls, and go on by themselves.
        const said = attempts.failed(
          'read',
          TROUBLE,
          verdict(reason, trouble === undefined ? outcome.verdict.message : troubleText(trouble)),
        );
        return { ...heldBack(said, known), reached: false };
      }
      memory.probed = undefined;
      const said = attempts.failed('read', unready, outcome.verdict, outcome.verdict.recheckAfterMs);
      const found = { verdict: said, fields: {}, ...reachOf(outcome) };
      memory.unready = { fingerprint, found };
      return found;
    }
    attempts.succeeded('read', TROUBLE);
    attempts.succeeded('read', unready);
    attempts.succeeded('read', fingerprint);
    const ready: Ready = {
      workspace: outcome.workspace,
      schemaBase: outcome.schemaBase,
      user: outcome.user,
      account: accountOf(outcome),
    };
    if (given.kind === 'missing') return { verdict: given.verdict, fields: {}, good: ready };
    const kind = access.credentials.kind === 'token' ? ('Token' as const) : ('Password' as const);
    const account = {
      workspace: outcome.workspace,
      ...(outcome.email === undefined ? {} : { email: outcome.email }),
    };
    const checkedAt =
      status.credential?.kind === kind && canonicalJson(status.account) === canonicalJson(account)
        ? status.credential.checkedAt
        : rfc3339(clock.now());
    const found: Found = {
      verdict: verdict('Settled', 'The service answers and lets the account in'),
      fields: {
        schemaBase: outcome.schemaBase,
        account,
        credential: { kind, ...(checkedAt === undefined ? {} : { checkedAt }) },
      },
      reached: true,
      letIn: true,
      ready,
    };
    memory.probed = { fingerprint, at: now, found };
    return found;
  }

  /** Reads what the client is to be made from. */
  async #access(resource: Connection, run: ReconcileContext): Promise<AccessFound> {
    const { name } = resource.spec.credentialsRef;
    let secret: WholeSecret | undefined;
    try {
      secret = await this.#context.sources.secret(resource.metadata.namespace, name, run.signal);
    } catch (error) {
      if (!(error instanceof KubeApiError && error.status === 403)) throw error;
      return missing(
        'WaitingForSecret',
        `The operator may not read Secret "${name}": grant it get in this namespace`,
      );
    }
    const read = credentialsIn(name, secret);
    if (read.kind === 'missing') return missing('WaitingForSecret', read.message);
    const ca = await this.#authorities(resource, run);
    if (ca.kind === 'missing') return missing('WaitingForReference', ca.message);
    return { kind: 'found', access: { credentials: read.credentials, ca: ca.pem }, version: secret?.version };
  }

  /** What was kept of a Connection that is being deleted. */
  async #keptFor(resource: Connection, run: ReconcileContext): Promise<Access | undefined> {
    if (resource.metadata.deletionTimestamp === undefined) return undefined;
    return this.#kept?.find(leaving(resource), run.signal);
  }

  /**
   * Looks at the service. What was refused once is asked for by a new login, and where the list is refused again,
   * another call decides whether that speaks of the credentials.
   */
  async #ask(
    client: ServiceClient,
    { spec, status }: Connection,
    fingerprint: string,
    { attempts }: Memory,
    run: ReconcileContext,
  ): Promise<ProbeOutcome> {
    const isDoubted = attempts.tries('read', fingerprint) > 0;
    if (isDoubted) client.loginAgain();
    const outcome = await probe(client, spec, run.signal);
    const workspace = status.account?.workspace;
    if (outcome.kind !== 'not' || outcome.verdict.reason !== 'CredentialsRejected') return outcome;
    if (!isDoubted || outcome.isUnauthorized === true || workspace === undefined) return outcome;
    const other = await client.workspaces.read(workspace, { signal: run.signal });
    if (other.kind !== 'found') return outcome;
    const message = `${outcome.verdict.message}, but may read workspace "${workspace}": let it list workspaces`;
    return { ...outcome, verdict: verdict('CredentialsRejected', message), letIn: undefined };
  }

  /**
   * A person wants a look, or the Secret was touched: in how many milliseconds that is heard. Undefined: nobody asks.
   */
  #hear({ metadata, status }: Connection, memory: Memory, version: string | undefined): number | undefined {
    const asked = tokenOf(metadata.annotations?.[ANNOTATIONS.requestedAt]);
    const { heard } = memory;
    if (asked !== undefined && asked !== heard.asked) {
      // Status echoes it with the next write, heard or not.
      memory.heard = { ...heard, asked, pending: heard.pending || asked !== status.lastHandledRequest };
    }
    const isTouched = memory.secretVersion !== undefined && version !== memory.secretVersion;
    if (!memory.heard.pending && !isTouched) {
      memory.secretVersion = version;
      return undefined;
    }
    const now = this.#context.clock.monotonic();
    const wait = memory.heard.at + HEARD_MS - now;
    if (wait > 0) return wait;
    memory.heard = { ...memory.heard, pending: false, at: now };
    memory.secretVersion = version;
    return 0;
  }

  async #authorities(
    resource: Connection,
    run: ReconcileContext,
  ): Promise<{ kind: 'found'; pem: string | undefined } | { kind: 'missing'; message: string }> {
    const ref = resource.spec.tls?.caRef;
    if (ref === undefined) return { kind: 'found', pem: undefined };
    const { sources } = this.#context;
    const content = await sources.read(resource.metadata.namespace, ref, {
      signal: run.signal,
      after: sources.mark(),
    });
    if (content.kind === 'missing') return { kind: 'missing', message: `spec.tls.caRef: ${content.message}` };
    if (content.bytes.byteLength > CA_LIMIT) {
      return { kind: 'missing', message: `spec.tls.caRef: key "${ref.key}" holds more than 256 KiB` };
    }
    const pem = Buffer.from(content.bytes).toString('utf8');
    const wrong = wrongAuthorities(pem);
    if (wrong !== undefined) return { kind: 'missing', message: `spec.tls.caRef: key "${ref.key}" ${wrong}` };
    return { kind: 'found', pem };
  }

  #memory(key: string, uid: string): Memory {
    const known = this.#memories.get(key);
    if (known?.uid === uid) return known;
    const { clock, random } = this.#context;
    const fresh: Memory = {
      uid,
      probed: undefined,
      unready: undefined,
      skewMs: undefined,
      secretVersion: undefined,
      heard: { asked: undefined, pending: false, at: Number.NEGATIVE_INFINITY },
      attempts: new Attempts(clock, random),
    };
    this.#memories.set(key, fresh);
    return fresh;
  }

  async #write(resource: Connection, found: Found, run: ReconcileContext): Promise<void> {
    const said = {
      ...found.verdict,
      extra: [...extras(found), ...this.#skew(resource), ...this.#restarting()],
    };
    await this.#status.write(resource, { verdict: said, fields: found.fields }, run.signal);
  }

  /** Says that the clocks differ, where they do. */
  #skew({ metadata }: Connection): ExtraCondition[] {
    const key = keyOf({ metadata });
    const memory = this.#memory(key, metadata.uid);
    const skewMs = this.#pool.clockSkewMs(key);
    memory.skewMs = tellableSkew(skewMs, memory.skewMs);
    return memory.skewMs === undefined
      ? []
      : [{ type: 'ClockSkew', reason: 'ClockSkew', message: skewText(memory.skewMs) }];
  }

  /** Says that the waits of this process begin anew again and again. */
  #restarting(): ExtraCondition[] {
    const { restarts, clock } = this.#context;
    if (!restarts.isLoop(clock.now())) return [];
    const message =
      'The operator has started more than three times in ten minutes, so what it waits for begins anew each time: find ' +
      'out why its process ends';
    return [{ type: 'Restarting', reason: 'Restarting', message }];
  }

  #patch(resource: Connection, metadata: OwnMetadata, { signal }: ReconcileContext): Promise<void> {
    const remember = (raw: object): void => this.#cache.remember(raw);
    return patchMetadata(this.#context.kube, this.#cache.informer.type, resource, metadata, {
      signal,
      remember,
    });
  }
}

/** What holds while the service has not answered as it should: what was found before is not forgotten for that. */
function heldBack(said: Verdict, known: Found | undefined): Found {
  if (said.reason === 'CredentialsRejected')
    return { verdict: said, fields: {}, reached: true, letIn: false };
  const { fields = {}, ready } = known ?? {};
  const reached = said.reason !== 'ServiceUnavailable';
  return { verdict: said, fields, reached, ...(ready === undefined ? {} : { ready }) };
}

/** The same, looked at again in time for what asks for a look. */
function soon(found: Found, ms: number | undefined): Found {
  if (ms === undefined) return found;
  const recheckAfterMs = Math.min(ms, found.verdict.recheckAfterMs ?? ms);
  return { ...found, verdict: { ...found.verdict, recheckAfterMs } };
}

function troubleText({ method, template, status, outcome }: CallReport): string {
  const answer = status === undefined ? `failed with ${outcome}` : `answered ${status} ${outcome}`;
  return `The last calls to the service failed, beginning with ${method} ${template}, which ${answer}: check the service`;
}

function reachOf({
  reached,
  letIn,
}: {
  reached: boolean;
  letIn: boolean | undefined;
}): Pick<Found, 'reached' | 'letIn'> {
  return letIn === undefined ? { reached } : { reached, letIn };
}

function extras(found: Found): ExtraCondition[] {
  const { message } = found.verdict;
  const out: ExtraCondition[] = [];
  if (found.reached !== undefined) {
    out.push(
      found.reached
        ? { type: 'Reachable', reason: 'Answered', message: 'The service answers' }
        : { type: 'Reachable', status: 'False', reason: found.verdict.reason, message },
    );
  }
  if (found.reached === true && found.letIn !== undefined) {
    out.push(
      found.letIn
        ? { type: 'CredentialsValid', reason: 'CredentialsAccepted', message: 'The credentials are accepted' }
        : { type: 'CredentialsValid', status: 'False', reason: found.verdict.reason, message },
    );
  }
  return out;
}

function missing(reason: 'WaitingForSecret' | 'WaitingForReference', message: string): AccessFound {
  return { kind: 'missing', verdict: verdict(reason, message, SECRET_LOOK_MS) };
}

function leaving({ metadata, spec }: Connection): Leaving {
  return { uid: metadata.uid, endpoint: spec.endpoint, deletionTimestamp: metadata.deletionTimestamp ?? '' };
}

function notReady(resource: Connection, said: Verdict): string {
  return `Connection "${resource.metadata.name}" is not ready (${said.reason}): see its conditions`;
}

function brokenOff({ metadata }: Connection): { message: string; credentialsMissing: boolean } {
  const message = `Connection "${metadata.name}" could not be reconciled: see its conditions`;
  return { message, credentialsMissing: false };
}
