import { referencesOf, type AnyResource } from '../../api/kinds.ts';
import { ANNOTATIONS } from '../../api/names.ts';
import { CONDITIONS } from '../../api/reasons.ts';
import { KubeApiError, type ReconcileContext, type Result } from '../../kube/index.ts';
import type { AnyRecord } from '../../service/index.ts';
import type { Cached } from '../cache.ts';
import type { ConnectionHandle, Connections, ConnectionState } from '../connection-handle.ts';
import type { OperatorContext } from '../context.ts';
import { Claims } from './claims.ts';
import { decideRecord } from './decide/decide.ts';
import type { RecordStep } from './decide/observation.ts';
import { Effects, type Outcome } from './effects.ts';
import { FIRST_WORD_MS, firstWord } from './first-word.ts';
import { Formers } from './former/formers.ts';
import { FormerSteps } from './former/steps.ts';
import type { Holdings } from './holdings.ts';
import { homeOf } from './home.ts';
import type { ClaimJudgement } from './identity/claim.ts';
import type { Pass, RecordKind, StatusFields } from './kind.ts';
import { LaterLooks } from './later-looks.ts';
import { ExistenceLooks } from './looks/existence.ts';
import { Looks } from './looks/looks.ts';
import { Memories, type Memory } from './memory.ts';
import { isHeld } from './metadata.ts';
import { Observations } from './observations.ts';
import { PassGuard } from './pass-guard.ts';
import { keyOf, type ManagedResource, type ResourceCache } from './resource.ts';
import { notSupported } from './status/gate.ts';
import { presentHashes } from './status/present-hashes.ts';
import { problemsVerdict } from './status/problems.ts';
import { verdict, type Verdict } from './status/verdict.ts';
import { StatusWriter } from './status/writer.ts';
import { Steps } from './steps.ts';

/** What waits for something that is watched is looked at again anyway, milliseconds. */
const WAITING_MS = 600_000;
/** Where Secrets are not watched, what refers to one is looked at this often at the least, milliseconds. */
const SECRET_LOOK_MS = 300_000;
/** After a change the first such look comes so soon: what was applied together may have come Secret last. */
const FIRST_SECRET_LOOK_MS = 10_000;
/** A look takes so long at the most where the service answers, milliseconds. */
const ANSWER_MS = 1_000;
/** So many passes are made over one resource before it stands in line again. */
const PASSES_IN_A_ROW = 10;
/** Steps that send something to the service, or may, and the one that rests on what status has noted. */
const SENDING: ReadonlySet<RecordStep<unknown, unknown>['do']> = new Set([
  'writeIntent',
  'create',
  'converge',
  'forgetId',
  'remove',
  'removeFormer',
  'askByDelete',
]);
/** Those that are calls to the service. */
const ASKING: ReadonlySet<RecordStep<unknown, unknown>['do']> = new Set([
  'create',
  'converge',
  'remove',
  'removeFormer',
]);

/**
 * Reconciles one kind that stands for a record of the service: observe, decide, act, record, with one effect
 * a pass. What is the same for all kinds (identity, creation, existence, deletion) is here and in this folder;
 * what a record looks like is the kind's.
 */
export class RecordReconciler<
  R extends ManagedResource,
  Rec extends AnyRecord,
  Desired,
  M extends Memory<Rec>,
> {
  readonly #context: OperatorContext;
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #cache: ResourceCache<R>;
  readonly #memories: Memories<Rec, M>;
  readonly #claims: Claims<R>;
  readonly #looks: Looks<R, Rec, Desired, M>;
  readonly #effects: Effects<R, Rec, Desired, M>;
  readonly #observations: Observations<R, Rec, Desired, M>;
  readonly #steps: Steps<R, Rec, Desired, M>;
  readonly #status: StatusWriter<R>;
  readonly #guard: PassGuard<R>;
  readonly #later: LaterLooks<R, Rec, Desired, M>;

  constructor(options: {
    context: OperatorContext;
    kind: RecordKind<R, Rec, Desired, M>;
    cache: ResourceCache<R>;
    memory: (base: Memory<Rec>) => M;
    /** What all kinds hold. */
    holdings: Holdings;
    /** Gives the resource of a key, as `namespace/name`, a turn now. */
    wake: (key: string) => void;
  }) {
    this.#context = options.context;
    this.#kind = options.kind;
    this.#cache = options.cache;
    this.#memories = new Memories(options.memory, options.context);
    this.#claims = new Claims(options.context, options.kind.type.kind, options.cache);
    this.#effects = new Effects(options.context, options.kind, options.cache, this.#claims);
    const { context, kind, cache } = options;
    const claims = this.#claims;
    const effects = this.#effects;
    const memories = this.#memories;
    const memoryOf = (resource: R, id: string): M =>
      memories.ofFormer(keyOf(resource), resource.metadata.uid, id);
    const { holdings } = options;
    const { family } = kind.listing;
    holdings.add(family, cache);
    const held = (owner: string, endpoint: string): number => holdings.count(family, owner, endpoint);
    const existence = new ExistenceLooks(kind, {
      held,
      wake: options.wake,
    });
    const formers = new Formers(kind, existence, { memoryOf, claims });
    this.#looks = new Looks(kind, {
      claims,
      existence,
      formers,
      made: (marker, now) => effects.made(marker, now),
      keepFormer: (resource, ids) => memories.keepFormer(keyOf(resource), ids),
      held,
      clock: context.clock,
    });
    this.#later = new LaterLooks(context, kind, { cache, formers, claims, memoryOf });
    const formerSteps = new FormerSteps(kind, formers, claims, (resource) =>
      memories.forget(keyOf(resource)),
    );
    this.#observations = new Observations(context, kind, claims, effects);
    this.#steps = new Steps(context, kind, { claims, effects, formerSteps, later: this.#later });
    this.#status = new StatusWriter(options.context, options.kind.type, options.cache);
    this.#guard = new PassGuard(options.context, options.kind.type, this.#status);
  }

  /**
   * Passes over one resource, one effect each, until it has to wait for something: what has been begun goes on
   * before what has not, so that a burst of new resources does not keep all of them half done. Throws only when
   * the API server refuses or the pass is aborted.
   */
  async reconcile(key: string, run: ReconcileContext): Promise<Result> {
    // Whoever changed something may have changed a Secret before it: a read from before that proves nothing.
    const secretsAfter = run.priority.byPerson ? this.#context.sources.mark() : undefined;
    for (let left = PASSES_IN_A_ROW; ; left--) {
      const result = await this.#once(key, { ...run, secretsAfter, asks: { service: false }, judged: {} });
      if (result.requeueAfterMs !== 0 || left <= 1 || run.signal.aborted) return result;
    }
  }

  /** A version of a resource is in the cache: what of it takes a hash is made out now, and not while others are judged. */
  seen(resource: R): void {
    this.#claims.read(resource);
  }

  async #once(key: string, run: RecordRun): Promise<Result> {
    this.#effects.sweep();
    const stored = this.#cache.get(key);
    const isSound = stored !== undefined && (stored as Cached<R>).problems === undefined;
    const present = isSound ? presentHashes(stored, this.#context.digest) : {};
    const resource =
      stored === undefined || Object.keys(present).length === 0
        ? stored
        : { ...stored, status: { ...stored.status, ...present } };
    const laterMs =
      resource?.metadata.deletionTimestamp === undefined ? await this.#later.look(key, run) : undefined;
    if (resource === undefined) {
      if (laterMs === undefined) this.#memories.forget(key);
      this.#context.kept.drop(`${this.#kind.type.kind}/${key}`);
      return laterMs === undefined ? {} : { requeueAfterMs: laterMs, lane: 'periodic' };
    }
    const { clock } = this.#context;
    const memory = this.#memories.of(key, resource.metadata.uid);
    if (memory.generation === undefined) this.#startWith(memory, resource);
    if (run.priority.byPerson) memory.attempts.startOver();
    if (memory.generation?.value !== resource.metadata.generation) {
      const { generation } = resource.metadata;
      if (memory.generation !== undefined) memory.attempts.startOver();
      const isNew = resource.status.observedGeneration !== generation;
      memory.generation = { value: generation, since: clock.monotonic(), isNew };
    }
    const wishMs = memory.attempts.wish(
      resource.metadata.annotations?.[ANNOTATIONS.requestedAt],
      resource.status.lastHandledRequest,
    );
    const result = await this.#guard.run(resource, memory.attempts, run, async () => {
      const word = firstWord(this.#context, this.#status, resource, {
        since: memory.generation?.since ?? clock.monotonic(),
        message: () => (run.asks.service ? ASKS : 'The operator reconciles this generation'),
        signal: run.signal,
      });
      try {
        const outcome = await this.#pass(resource, memory, run);
        memory.warnings.tell(this.#context, this.#kind.type.kind, resource);
        await word?.cancel();
        return await this.#record(resource, memory, withFields(outcome, present as StatusFields<R>), run);
      } catch (error) {
        if (error instanceof KubeApiError && error.isConflict) this.#kind.forgetUnwritten?.(memory);
        throw error;
      } finally {
        await word?.cancel();
      }
    });
    this.#context.kept.note(`${this.#kind.type.kind}/${key}`, resource.metadata.namespace, memory);
    const soon = Math.min(wishMs ?? Infinity, laterMs ?? Infinity);
    return soon === Infinity ? result : soonest(result, soon);
  }

  async #pass(resource: R, memory: M, run: RecordRun): Promise<Outcome<R>> {
    const { problems } = resource as Cached<R>;
    if (problems !== undefined) return this.#misfit(resource, problemsVerdict(problems), run);
    const { connections, clock, random } = this.#context;
    const state = withAlike(connections, resource);
    const handle = usableHandle(state, resource);
    if (handle !== undefined && memory.client !== handle.client) {
      if (memory.client !== undefined) memory.attempts.accessChanged();
      memory.client = handle.client;
    }
    // It may let this account do more once it is ready again.
    if (state.kind === 'waiting') memory.attempts.accessChanged();
    const claim = this.#claims.judge(resource);
    run.judged.last = { version: resource.metadata.resourceVersion, claim };
    const { marker } = this.#claims.claimant(resource);
    const home = Claims.homeOf(resource, claim);
    const pass: Pass<R, Rec, M> | undefined =
      handle === undefined
        ? undefined
        : {
            resource,
            memory,
            marker,
            handle,
            owner: this.#observations.owner(resource, home, memory, handle),
            home,
            priority: run.priority,
            signal: run.signal,
            secretsAfter: run.secretsAfter,
            now: clock.now(),
            random,
          };
    let seen = this.#observations.of(resource, memory, state, pass, { claim, home });
    for (;;) {
      const step = decideRecord(seen);
      if (step.do !== 'look') {
        this.#context.observer?.step(this.#kind.type.kind, step.do);
        const held = SENDING.has(step.do) ? await this.#held(resource, pass, step, run) : undefined;
        if (held !== undefined) return { wish: { verdict: held, fields: {} } };
        run.asks.service = ASKING.has(step.do);
        return this.#steps.take(resource, memory, marker, pass, step, run);
      }
      if (pass === undefined) return { wish: { verdict: unusable(state), fields: {} } };
      run.asks.service = step.at !== 'desired';
      seen = { ...seen, ...(await this.#looks.look(step.at, seen, pass)) };
      run.asks.service = false;
    }
  }

  /** A process that starts finds in status what was refused before: not every one of them is sent at once. */
  #startWith({ attempts }: M, { metadata, status }: R): void {
    const stalled = status.conditions?.find(({ type }) => type === CONDITIONS.stalled);
    if (stalled === undefined || stalled.observedGeneration !== metadata.generation) return;
    if (!NOT_TAKEN.has(stalled.reason)) return;
    const { aspect, said = stalled.message } = this.#kind.aspectIn?.(stalled.message) ?? {};
    const { restarts, clock } = this.#context;
    attempts.startsRefused(
      verdict(stalled.reason as Verdict['reason'], said),
      aspect,
      restarts.before(clock.now()),
    );
  }

  /** Why nothing may be sent: status does not keep, or cannot keep, what would have to be noted of it. */
  async #held(
    resource: R,
    pass: Pass<R, Rec, M> | undefined,
    step: RecordStep<Rec, Desired>,
    run: ReconcileContext,
  ): Promise<Verdict | undefined> {
    const lost = await this.#status.hold(resource, run.signal);
    if (lost !== undefined || pass === undefined) return lost;
    const record = 'record' in step ? step.record : undefined;
    const identity = {
      home: homeOf(pass),
      ...(record === undefined ? {} : { id: record.id }),
    };
    return notSupported(this.#kind.type.kind, identity);
  }

  /** A stored object that does not fit its schema: say so; when deleted, let go only what has no record. */
  async #misfit(resource: R, said: Verdict, run: ReconcileContext): Promise<Outcome<R>> {
    const { annotations, deletionTimestamp } = resource.metadata;
    const bare =
      annotations?.[ANNOTATIONS.externalId] === undefined &&
      annotations?.[ANNOTATIONS.createIntent] === undefined &&
      resource.status.id === undefined &&
      resource.status.former === undefined;
    const confirmed = this.#context.installation.unconfirmed === undefined;
    if (deletionTimestamp !== undefined && bare && confirmed && isHeld(resource.metadata)) {
      return this.#effects.release(resource, run.signal);
    }
    return { wish: { verdict: said, fields: {} } };
  }

  /**
   * Seals a claim that counts and is not sealed for where its record is: at once where that moved, else in its turn.
   * Gives how long until that, milliseconds.
   */
  async #seal(resource: R, { signal, judged: { last } }: RecordRun): Promise<number> {
    const isSame = last !== undefined && last.version === resource.metadata.resourceVersion;
    const claim = isSame ? last.claim : this.#claims.judge(resource);
    const { id, home } = resource.status;
    if (claim.kind !== 'mine' || claim.restore || home === undefined || id !== claim.id) return Infinity;
    const { seal } = claim;
    const isAt = seal?.endpoint === home.endpoint && seal.owner === home.owner;
    if (isAt && seal.isCurrent) return Infinity;
    const hasMoved = seal?.isCurrent === true;
    const { namespace, uid } = resource.metadata;
    const { sealTurns, clock } = this.#context;
    const inMs = hasMoved ? undefined : sealTurns.take(namespace, uid, clock.monotonic());
    if (inMs !== undefined) return inMs;
    await this.#effects.seal(resource, id, home, signal);
    return Infinity;
  }

  async #record(resource: R, memory: M, outcome: Outcome<R>, run: RecordRun): Promise<Result> {
    const { again = false, quiet = false, soonMs, wish } = outcome;
    // Where its end is expected before a first word is due, status says the end only.
    const nextMs = again ? 0 : (wish?.verdict.recheckAfterMs ?? WAITING_MS) + ANSWER_MS;
    if (wish !== undefined && !(quiet && this.#mayStaySilent(memory, nextMs))) {
      const stop = await this.#status.write(resource, wish, run.signal);
      // What was to be noted before it is done cannot be: it is not done.
      if (stop !== undefined) return { requeueAfterMs: stop.recheckAfterMs ?? WAITING_MS };
    }
    if (again) return { requeueAfterMs: 0, lane: 'kept' };
    // Nothing else is to be done now.
    const now = this.#cache.get(keyOf(resource));
    let sealMs = Infinity;
    if (now?.metadata.uid === resource.metadata.uid && now.metadata.deletionTimestamp === undefined) {
      if (this.#context.installation.unconfirmed === undefined) sealMs = await this.#seal(now, run);
    }
    if (soonMs !== undefined) return { requeueAfterMs: soonMs, lane: 'kept' };
    if (wish === undefined) return {};
    const recheck = wish.verdict.recheckAfterMs ?? WAITING_MS;
    const lane = OPERATING.has(wish.verdict.reason) ? 'normal' : 'periodic';
    return { requeueAfterMs: Math.min(recheck, sealMs, this.#secretLook(resource, memory)), lane };
  }

  /** How long until Secrets have to be looked at: soon after a change, then less and less often. */
  #secretLook(resource: R, { generation }: M): number {
    const { clock, sources } = this.#context;
    if (!this.#readsSecrets(resource) || sources.followsSecrets(resource.metadata.namespace)) return Infinity;
    if (generation?.isNew !== true) return SECRET_LOOK_MS;
    const age = clock.monotonic() - generation.since;
    return Math.min(Math.max(age, FIRST_SECRET_LOOK_MS), SECRET_LOOK_MS);
  }

  #mayStaySilent(memory: M, nextMs: number): boolean {
    return this.#context.clock.monotonic() + nextMs - (memory.generation?.since ?? 0) < FIRST_WORD_MS;
  }

  #readsSecrets(resource: R): boolean {
    if ((resource as Cached<R>).problems !== undefined) return false;
    // Every resource with a record is one of our kinds.
    return referencesOf(resource as unknown as AnyResource).some(({ kind }) => kind === 'Secret');
  }
}

/**
 * One call of the queue, which reads of Secrets count in it, whether the service is being asked, and what the claim of
 * which version was judged to be.
 */
type RecordRun = ReconcileContext & {
  secretsAfter: number | undefined;
  asks: { service: boolean };
  judged: { last?: { version: string; claim: ClaimJudgement } };
};

const ASKS = 'Waits for the answer of the service';

/** Hashes of an earlier version are written anew with whatever else is said. */
function withFields<R extends ManagedResource>(outcome: Outcome<R>, fields: StatusFields<R>): Outcome<R> {
  const { wish } = outcome;
  return wish === undefined
    ? outcome
    : { ...outcome, wish: { ...wish, fields: { ...fields, ...wish.fields } } };
}

/** Reasons that say that the service is at it: the end is looked for before all that is settled. */
const OPERATING: ReadonlySet<string> = new Set([
  'Deploying',
  'ShuttingDown',
  'PoweringOn',
  'Reinstalling',
  'Reconfiguring',
  'Terminating',
  'Deleting',
]);

/** Reasons that say that the service has not taken what is declared. */
const NOT_TAKEN: ReadonlySet<string> = new Set(['Refused', 'NotApplied', 'NotConverging', 'NameTaken']);

function soonest(result: Result, ms: number): Result {
  return { ...result, requeueAfterMs: Math.min(result.requeueAfterMs ?? ms, ms) };
}

/** How the connection stands; a deletion that cannot use it goes on with another to the same account. */
function withAlike(connections: Connections, { metadata, spec, status }: ManagedResource): ConnectionState {
  const state = connections.resolve(metadata.namespace, spec.connectionRef);
  if (state.kind !== 'waiting' || state.handle !== undefined) return state;
  const { endpoint, account } = status.home ?? {};
  if (metadata.deletionTimestamp === undefined || endpoint === undefined || account === undefined)
    return state;
  const handle = connections.alike(metadata.namespace, { endpoint, account });
  return handle === undefined ? state : { ...state, handle };
}

function usableHandle(state: ConnectionState, resource: ManagedResource): ConnectionHandle | undefined {
  if (state.kind === 'ready') return state.handle;
  if (state.kind === 'pending') return undefined;
  return resource.metadata.deletionTimestamp === undefined ? undefined : state.handle;
}

function unusable(state: ConnectionState): Verdict {
  return verdict('WaitingForConnection', state.kind === 'waiting' ? state.message : 'The connection changes');
}
