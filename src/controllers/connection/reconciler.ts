import type { Connection } from '../../api/connection.ts';
import { parseDuration } from '../../base/duration.ts';
import { KubeApiError, type ReconcileContext, type Result } from '../../kube/index.ts';
import type { Cached, KindCache } from '../cache.ts';
import type { OperatorContext } from '../context.ts';
import { firstWord } from '../record/first-word.ts';
import { holding, isHeld, lettingGo, patchMetadata, type OwnMetadata } from '../record/metadata.ts';
import { PassGuard } from '../record/pass-guard.ts';
import { keyOf } from '../record/resource.ts';
import { inUse } from '../record/status/in-use.ts';
import { problemsVerdict } from '../record/status/problems.ts';
import { StatusWriter } from '../record/status/writer.ts';
import { verdict, type ExtraCondition, type Verdict } from '../record/status/verdict.ts';
import { SECRET_LOOK_MS } from './access.ts';
import { reachConditions, type Found } from './found.ts';
import type { KeptCredentials } from './kept-credentials.ts';
import { ConnectionLooks, leaving, lookAnew, SLOW_MS } from './look.ts';
import { freshMemory, type ConnectionMemory } from './memory.ts';
import type { ConnectionPool } from './pool.ts';
import { skewText, tellableSkew } from './skew.ts';

/** What is held because others use it is looked at again so often, milliseconds. */
const USE_LOOK_MS = 5_000;

/** Keeps a Connection's client, and says whether it can be used. */
export class ConnectionReconciler {
  readonly #context: Omit<OperatorContext, 'connections'>;
  readonly #pool: ConnectionPool;
  readonly #cache: KindCache<Connection>;
  readonly #users: (connection: Connection) => string[];
  readonly #kept: KeptCredentials | undefined;
  readonly #looks: ConnectionLooks;
  readonly #status: StatusWriter<Cached<Connection>>;
  readonly #guard: PassGuard<Cached<Connection>>;
  readonly #memories = new Map<string, ConnectionMemory>();

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
    const { context, pool, kept } = options;
    this.#looks = new ConnectionLooks({ context, pool, kept });
    const { type } = options.cache.informer;
    this.#status = new StatusWriter(options.context, type, options.cache);
    this.#guard = new PassGuard(options.context, type, this.#status);
  }

  /** What was found does not count any more: the next pass looks at the Secret, and asks the service. */
  lookAnew(key: string): void {
    const memory = this.#memories.get(key);
    if (memory !== undefined) lookAnew(memory);
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
    const found = await this.#looks.look(key, resource, this.#memory(key, resource.metadata.uid), run);
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

  #memory(key: string, uid: string): ConnectionMemory {
    const known = this.#memories.get(key);
    if (known?.uid === uid) return known;
    const fresh = freshMemory(uid, this.#context);
    this.#memories.set(key, fresh);
    return fresh;
  }

  async #write(resource: Connection, found: Found, run: ReconcileContext): Promise<void> {
    const said = {
      ...found.verdict,
      extra: [...reachConditions(found), ...this.#skew(resource), ...this.#restarting()],
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

function notReady(resource: Connection, said: Verdict): string {
  return `Connection "${resource.metadata.name}" is not ready (${said.reason}): see its conditions`;
}

function brokenOff({ metadata }: Connection): { message: string; credentialsMissing: boolean } {
  const message = `Connection "${metadata.name}" could not be reconciled: see its conditions`;
  return { message, credentialsMissing: false };
}
