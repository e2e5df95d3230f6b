import { rfc3339 } from '../../base/rfc3339.ts';
import type { Connection } from '../../api/connection.ts';
import { FINALIZER } from '../../api/names.ts';
import { parseDuration } from '../../base/duration.ts';
import { canonicalJson } from '../../base/hash.ts';
import { KubeApiError, type ReconcileContext, type Result } from '../../kube/index.ts';
import { EndpointError } from '../../service/index.ts';
import type { Cached, KindCache } from '../cache.ts';
import type { OperatorContext } from '../context.ts';
import { Attempts } from '../record/attempts.ts';
import { afterConflict } from '../record/conflict.ts';
import { firstWord, type FirstWord } from '../record/first-word.ts';
import { problemsVerdict } from '../record/status/problems.ts';
import { StatusWriter } from '../record/status/writer.ts';
import { verdict, type ExtraCondition, type Verdict } from '../record/status/verdict.ts';
import { wrongAuthorities } from './authorities.ts';
import { credentialsIn } from './credentials.ts';
import type { ConnectionPool } from './pool.ts';
import { probe } from './probe.ts';
import { skewText, tellableSkew } from './skew.ts';

/** Where Secrets are not watched, credentials are looked at this often, milliseconds. */
const SECRET_LOOK_MS = 30_000;
/** What the user has to change is looked at again this often, milliseconds. */
const SLOW_MS = 600_000;
const CA_LIMIT = 262_144;

/** What this process remembers of a connection. */
interface Memory {
  uid: string;
  /** What the last probe went well with, and what it found: status may not say so yet. */
  probed: { fingerprint: string; at: number; found: Found } | undefined;
  /** The difference of the clocks that status tells, milliseconds: it is told anew only when it has moved. */
  skewMs: number | undefined;
  /** A credential that was refused; not tried again before it changes, but slowly. */
  readonly attempts: Attempts;
}

/** What a pass over a connection found. */
interface Found {
  verdict: Verdict;
  fields: Partial<Connection['status']>;
  /** Undefined: not known, so not shown. */
  reached?: boolean;
  letIn?: boolean;
  /** What a probe that went well has found. */
  ready?: { workspace: string; schemaBase: string; user: string | undefined };
}

/** Keeps a Connection's client, and says whether it can be used. */
export class ConnectionReconciler {
  readonly #context: Omit<OperatorContext, 'connections'>;
  readonly #pool: ConnectionPool;
  readonly #cache: KindCache<Connection>;
  readonly #users: (connection: Connection) => string[];
  readonly #status: StatusWriter<Cached<Connection>>;
  readonly #memories = new Map<string, Memory>();

  constructor(options: {
    context: Omit<OperatorContext, 'connections'>;
    pool: ConnectionPool;
    cache: KindCache<Connection>;
    /** Resources that use a connection, as `Kind/name`. */
    users: (connection: Connection) => string[];
  }) {
    this.#context = options.context;
    this.#pool = options.pool;
    this.#cache = options.cache;
    this.#users = options.users;
    this.#status = new StatusWriter(options.context, options.cache.informer.type, options.cache);
  }

  /** The service has refused the credential in the middle of work: look at the Secret before anything else. */
  noteRejected(key: string): void {
    const memory = this.#memories.get(key);
    if (memory !== undefined) memory.probed = undefined;
  }

  async reconcile(key: string, run: ReconcileContext): Promise<Result> {
    const resource = this.#cache.get(key);
    if (resource === undefined) {
      this.#memories.delete(key);
      this.#pool.drop(key);
      return {};
    }
    const word = this.#firstWord(resource, run);
    try {
      return await this.#pass(key, resource, run);
    } catch (error) {
      return afterConflict(error);
    } finally {
      await word?.cancel();
    }
  }

  /** An endpoint that does not answer must not keep a new generation without a word. */
  #firstWord(resource: Connection, run: ReconcileContext): FirstWord | undefined {
    if (resource.status.observedGeneration === resource.metadata.generation) return undefined;
    const { clock, log } = this.#context;
    return firstWord(clock, clock.monotonic(), async () => {
      const said = verdict('Pending', 'Waits for the first answer of the service');
      try {
        await this.#status.write(resource, { verdict: said, fields: {} }, run.signal);
      } catch (error) {
        // The pass itself goes on, and says more in the end.
        log.debug({ error, name: resource.metadata.name }, 'the first word could not be written');
      }
    });
  }

  async #pass(key: string, resource: Cached<Connection>, run: ReconcileContext): Promise<Result> {
    if (resource.problems !== undefined) {
      const said = problemsVerdict(resource.problems);
      this.#pool.setNotReady(key, { message: notReady(resource, said), credentialsMissing: false });
      await this.#write(resource, { verdict: said, fields: {} }, run);
      return {};
    }
    const users = this.#users(resource);
    if (resource.metadata.deletionTimestamp !== undefined) {
      if (resource.metadata.finalizers?.includes(FINALIZER) !== true) return {};
      const { unconfirmed } = this.#context.installation;
      if (unconfirmed !== undefined) {
        await this.#write(resource, { verdict: verdict('Conflict', unconfirmed), fields: {} }, run);
        return { requeueAfterMs: SLOW_MS };
      }
      if (users.length === 0) {
        await this.#patch(resource, { finalizers: without(resource) }, run);
        return {};
      }
      await this.#check(key, resource, run);
      const shown = users.slice(0, 5).join(', ') + (users.length > 5 ? ` and ${users.length - 5} more` : '');
      const said = verdict(
        'InUse',
        `Used by ${shown}: delete these first; this one then goes by itself`,
        5_000,
      );
      await this.#write(resource, { verdict: said, fields: {} }, run);
      return { requeueAfterMs: 5_000 };
    }
    if (resource.metadata.finalizers?.includes(FINALIZER) !== true) {
      await this.#patch(resource, { finalizers: [...(resource.metadata.finalizers ?? []), FINALIZER] }, run);
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
      this.#pool.setNotReady(key, {
        message: notReady(resource, found.verdict),
        credentialsMissing: found.verdict.reason === 'WaitingForSecret',
      });
    }
    return found;
  }

  async #look(key: string, resource: Connection, run: ReconcileContext): Promise<Found> {
    const { clock, sources } = this.#context;
    const { namespace, uid } = resource.metadata;
    const { spec, status } = resource;
    const memory = this.#memory(key, uid);

    let data: Readonly<Record<string, Uint8Array>> | undefined;
    try {
      data = await sources.secret(namespace, spec.credentialsRef.name, run.signal);
    } catch (error) {
      if (!(error instanceof KubeApiError && error.status === 403)) throw error;
      const said = `The operator may not read Secret "${spec.credentialsRef.name}": grant it get in this namespace`;
      return { verdict: verdict('WaitingForSecret', said, SECRET_LOOK_MS), fields: {} };
    }
    const read = credentialsIn(spec.credentialsRef.name, data);
    if (read.kind === 'missing') {
      return { verdict: verdict('WaitingForSecret', read.message, SECRET_LOOK_MS), fields: {} };
    }
    const ca = await this.#authorities(resource, run);
    if (ca.kind === 'missing') {
      return { verdict: verdict('WaitingForReference', ca.message, SECRET_LOOK_MS), fields: {} };
    }

    let client;
    try {
      ({ client } = this.#pool.client(key, spec, read.credentials, ca.pem));
    } catch (error) {
      if (!(error instanceof EndpointError)) throw error;
      return { verdict: verdict('NeedsUser', `spec.endpoint: ${error.message}`, SLOW_MS), fields: {} };
    }
    const now = clock.monotonic();
    const fingerprint = this.#context.digest.of(
      canonicalJson({ spec: { ...spec, pace: undefined, poll: undefined, defaults: undefined } }),
      canonicalJson(read.credentials),
      ca.pem ?? '',
    );
    const { probed, attempts } = memory;
    const fresh = probed?.fingerprint === fingerprint && this.#pool.isReady(key);
    if (fresh && now - probed.at < parseDuration(spec.poll.settled)) return probed.found;
    const held = attempts.held('read', fingerprint);
    if (held?.verdict !== undefined) {
      return { verdict: held.verdict, fields: {}, reached: true, letIn: false };
    }
    const outcome = await probe(client, spec, run.signal);
    if (outcome.kind === 'not') {
      memory.probed = undefined;
      if (outcome.verdict.reason === 'CredentialsRejected') {
        attempts.refused('read', fingerprint, outcome.verdict);
      }
      return { verdict: outcome.verdict, fields: {}, ...reachOf(outcome) };
    }
    attempts.succeeded('read', fingerprint);
    const kind = read.credentials.kind === 'token' ? ('Token' as const) : ('Password' as const);
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
      ready: { workspace: outcome.workspace, schemaBase: outcome.schemaBase, user: outcome.user },
    };
    memory.probed = { fingerprint, at: now, found };
    return found;
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
      skewMs: undefined,
      attempts: new Attempts(clock, random),
    };
    this.#memories.set(key, fresh);
    return fresh;
  }

  async #write(resource: Connection, found: Found, run: ReconcileContext): Promise<void> {
    const said = { ...found.verdict, extra: [...extras(found), ...this.#skew(resource)] };
    await this.#status.write(resource, { verdict: said, fields: found.fields }, run.signal);
  }

  /** Says that the clocks differ, where they do. */
  #skew({ metadata }: Connection): ExtraCondition[] {
    const key = `${metadata.namespace}/${metadata.name}`;
    const memory = this.#memory(key, metadata.uid);
    const skewMs = this.#pool.clockSkewMs(key);
    memory.skewMs = tellableSkew(skewMs, memory.skewMs);
    return memory.skewMs === undefined
      ? []
      : [{ type: 'ClockSkew', reason: 'ClockSkew', message: skewText(memory.skewMs) }];
  }

  async #patch(resource: Connection, metadata: object, run: ReconcileContext): Promise<void> {
    const { name, namespace, resourceVersion } = resource.metadata;
    const raw = await this.#context.kube.mergePatch(
      this.#cache.informer.type,
      { name, namespace },
      { metadata },
      { resourceVersion, signal: run.signal },
    );
    this.#cache.remember(raw);
  }
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

function notReady(resource: Connection, said: Verdict): string {
  return `Connection "${resource.metadata.name}" is not ready (${said.reason}): see its conditions`;
}

function without(resource: Connection): string[] {
  return (resource.metadata.finalizers ?? []).filter((name) => name !== FINALIZER);
}
