import { rfc3339 } from '../../base/rfc3339.ts';
import type { Connection } from '../../api/connection.ts';
import { ANNOTATIONS } from '../../api/names.ts';
import { tokenOf } from '../../api/tokens.ts';
import { parseDuration } from '../../base/duration.ts';
import { canonicalJson } from '../../base/hash.ts';
import type { ReconcileContext } from '../../kube/index.ts';
import {
  canonicalEndpoint,
  EndpointError,
  type CallReport,
  type ServiceClient,
} from '../../service/index.ts';
import type { OperatorContext } from '../context.ts';
import { verdict } from '../record/status/verdict.ts';
import { readAccess } from './access.ts';
import { heldBack, reachOf, soon, type Found, type Ready } from './found.ts';
import type { Access, KeptCredentials, Leaving } from './kept-credentials.ts';
import type { ConnectionMemory } from './memory.ts';
import type { ConnectionPool } from './pool.ts';
import { accountOf, probe, type ProbeOutcome } from './probe.ts';

/** What the user has to change is looked at again this often, milliseconds. */
export const SLOW_MS = 600_000;
/** Wishes of people and touches of the Secret are heard once in so long, milliseconds. */
const HEARD_MS = 10_000;
/** Marks the fingerprint of looks that a person has to do something about. */
const UNREADY = 'unready';
/** Fingerprint of looks at a service whose calls fail. */
const TROUBLE = 'trouble';

/** Looks at the service as a Connection says, as often as is due. */
export class ConnectionLooks {
  readonly #context: Omit<OperatorContext, 'connections'>;
  readonly #pool: ConnectionPool;
  readonly #kept: KeptCredentials | undefined;

  constructor(options: {
    context: Omit<OperatorContext, 'connections'>;
    pool: ConnectionPool;
    kept: KeptCredentials | undefined;
  }) {
    this.#context = options.context;
    this.#pool = options.pool;
    this.#kept = options.kept;
  }

  async look(
    key: string,
    resource: Connection,
    memory: ConnectionMemory,
    run: ReconcileContext,
  ): Promise<Found> {
    const { clock } = this.#context;
    const { spec, status } = resource;
    const given = await readAccess(this.#context.sources, resource, run.signal);
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
      lookAnew(memory);
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
    { attempts }: ConnectionMemory,
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
  #hear(
    { metadata, status }: Connection,
    memory: ConnectionMemory,
    version: string | undefined,
  ): number | undefined {
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
}

/** What was found does not count any more: the next look asks the service. */
export function lookAnew({ probed }: ConnectionMemory): void {
  if (probed !== undefined) probed.at = Number.NEGATIVE_INFINITY;
}

function troubleText({ method, template, status, outcome }: CallReport): string {
  const answer = status === undefined ? `failed with ${outcome}` : `answered ${status} ${outcome}`;
  return `The last calls to the service failed, beginning with ${method} ${template}, which ${answer}: check the service`;
}

/** What a Connection that is being deleted leaves its credentials for. */
export function leaving({ metadata, spec }: Connection): Leaving {
  return {
    uid: metadata.uid,
    endpoint: canonicalEndpoint(spec.endpoint),
    deletionTimestamp: metadata.deletionTimestamp ?? '',
  };
}
