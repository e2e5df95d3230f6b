import { LAG_WINDOW } from '../../api/connection.ts';
import { ANNOTATIONS, FINALIZER } from '../../api/names.ts';
import { CONDITIONS, factsOf } from '../../api/reasons.ts';
import { referencesOf, type AnyResource } from '../../api/kinds.ts';
import { parseDuration } from '../../base/duration.ts';
import { canonicalJson } from '../../base/hash.ts';
import { KubeApiError, type ReconcileContext, type Result } from '../../kube/index.ts';
import type { AnyRecord } from '../../service/index.ts';
import type { Cached } from '../cache.ts';
import type { ConnectionHandle, Connections, ConnectionState } from '../connection-handle.ts';
import type { OperatorContext } from '../context.ts';
import { eventTarget } from '../event-target.ts';
import { Claims } from './claims.ts';
import { decideRecord, type Look, type RecordObservation, type RecordStep } from './decide.ts';
import { Effects, formerFields, homeOf, type Outcome } from './effects.ts';
import { FIRST_WORD_MS, firstWord } from './first-word.ts';
import { Formers } from './former/formers.ts';
import { formerOf } from './former/list.ts';
import { FormerSteps } from './former/steps.ts';
import type { ClaimJudgement } from './identity/claim.ts';
import { concludesFrom, parseIntent, type CreateIntent } from './identity/intent.ts';
import type { Place } from './identity/seal.ts';
import { placeOf, type Pass, type RecordKind, type StatusFields } from './kind.ts';
import { LaterLooks } from './later-looks.ts';
import { Looks } from './looks.ts';
import { Memories, type Memory } from './memory.ts';
import { PassGuard } from './pass-guard.ts';
import { isPaused, policiesOf } from './policies.ts';
import { finalNameOf, type ManagedResource, type ResourceCache } from './resource.ts';
import { notSupported } from './status/gate.ts';
import { presentHashes } from './status/present-hashes.ts';
import { problemsVerdict } from './status/problems.ts';
import { verdict, type Verdict } from './status/verdict.ts';
import { StatusWriter } from './status/writer.ts';

/** What waits for something that is watched is looked at again anyway, milliseconds. */
const WAITING_MS = 600_000;
/** Where Secrets are not watched, what refers to one is looked at this often at the least, milliseconds. */
const SECRET_LOOK_MS = 300_000;
/** How long reads may trail writes where no connection says so, milliseconds. */
const LAG_WINDOW_MS = parseDuration(LAG_WINDOW);
/** After a change the first such look comes so soon: what was applied together may have come Secret last. */
const FIRST_SECRET_LOOK_MS = 10_000;
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
  readonly #formers: Formers<R, Rec, Desired, M>;
  readonly #formerSteps: FormerSteps<R, Rec, Desired, M>;
  readonly #status: StatusWriter<R>;
  readonly #guard: PassGuard<R>;
  readonly #later: LaterLooks<R, Rec, Desired, M>;

  constructor(options: {
    context: OperatorContext;
    kind: RecordKind<R, Rec, Desired, M>;
    cache: ResourceCache<R>;
    memory: (base: Memory<Rec>) => M;
    /** How many records resources here hold in a workspace, in the list that holds the kind's records. */
    held: (owner: string, endpoint: string) => number;
  }) {
    this.#context = options.context;
    this.#kind = options.kind;
    this.#cache = options.cache;
    this.#memories = new Memories(options.memory, options.context);
    this.#claims = new Claims(options.context, options.kind.type.kind, options.cache);
    this.#looks = new Looks(options.kind, this.#claims, options.held);
    this.#effects = new Effects(options.context, options.kind, options.cache, this.#claims);
    const memoryOf = (resource: R, id: string): M =>
      this.#memories.ofFormer(keyOf(resource), resource.metadata.uid, id);
    const claims = this.#claims;
    this.#formers = new Formers(options.kind, this.#looks, { memoryOf, claims });
    const { cache } = options;
    const formers = this.#formers;
    this.#later = new LaterLooks(options.context, options.kind, { cache, formers, claims, memoryOf });
    this.#formerSteps = new FormerSteps(options.kind, this.#formers, (resource) =>
      this.#memories.forget(keyOf(resource)),
    );
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
      const result = await this.#once(key, { ...run, secretsAfter, asks: { service: false } });
      if (result.requeueAfterMs !== 0 || left <= 1 || run.signal.aborted) return result;
    }
  }

  async #once(key: string, run: RecordRun): Promise<Result> {
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
    if (memory.generation === undefined) startWith(memory, resource, this.#kind);
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
    const claim = this.#claims.judge(resource);
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
            owner: this.#owner(resource, home, memory, handle),
            home,
            priority: run.priority,
            signal: run.signal,
            secretsAfter: run.secretsAfter,
            now: clock.now(),
            random,
          };
    let seen = this.#observe(resource, memory, state, pass, { claim, home });
    for (;;) {
      const step = decideRecord(seen);
      if (step.do !== 'look') {
        this.#context.observer?.step(this.#kind.type.kind, step.do);
        const held = SENDING.has(step.do) ? await this.#held(resource, pass, step, run) : undefined;
        if (held !== undefined) return { wish: { verdict: held, fields: {} } };
        run.asks.service = ASKING.has(step.do);
        return this.#act(resource, memory, marker, pass, step, run);
      }
      if (pass === undefined) return { wish: { verdict: unusable(state), fields: {} } };
      run.asks.service = step.at !== 'desired';
      seen = { ...seen, ...(await this.#look(step.at, seen, pass)) };
      run.asks.service = false;
    }
  }

  #observe(
    resource: R,
    memory: M,
    state: ConnectionState,
    pass: Pass<R, Rec, M> | undefined,
    { claim, home }: { claim: ClaimJudgement; home: Place | undefined },
  ): RecordObservation<Rec, Desired> {
    const { installation, clock } = this.#context;
    const { annotations, deletionTimestamp, finalizers } = resource.metadata;
    const policies = policiesOf(resource, pass?.handle, this.#kind.onMissing);
    const endpoint = pass?.handle.endpoint ?? home?.endpoint ?? '';
    const now = clock.monotonic();
    return {
      noun: this.#kind.noun,
      plural: this.#kind.type.plural,
      deleting: deletionTimestamp !== undefined,
      hasFinalizer: finalizers?.includes(FINALIZER) === true,
      orphan: policies.deletion === 'Orphan' || resource.spec.managementPolicy === 'Observe',
      observeOnly: resource.spec.managementPolicy === 'Observe',
      paused: isPaused(resource),
      underway: this.#kind.underway?.(resource) === true,
      unconfirmed: installation.unconfirmed,
      claim,
      statusId: resource.status.id !== undefined,
      rival: (record) =>
        claim.kind === 'mine' ? this.#claims.rival({ id: claim.id, endpoint }, resource, record) : undefined,
      isMarked: (record) =>
        pass === undefined
          ? undefined
          : this.#kind.candidate(record, pass.marker, finalNameOf(resource)).marked,
      restore: installation.restore,
      isBorrowed: installation.isBorrowed,
      adopt: annotations?.[ANNOTATIONS.adopt],
      former: formerOf(resource),
      connection: this.#connection(state, memory, now),
      created: memory.created?.id,
      intent: this.#intent(resource, memory, pass, now),
      intentFits: (intent, desired) => {
        if (pass === undefined) return true;
        const { expire, lease } = this.#kind.intentExtras?.(desired, Date.parse(intent.at)) ?? {};
        const place = placeOf(pass);
        return (
          canonicalJson([expire, lease, place]) ===
          canonicalJson([intent.expire, intent.lease, intent.place ?? place])
        );
      },
      onMissing: policies.missing,
      users: deletionTimestamp === undefined ? [] : this.#kind.users(resource).names,
      isOver: (desired) => this.#kind.isOver?.(resource, desired) === true,
      inStep: (desired) => this.#kind.inStep(resource, desired),
      refusal: (desired) => this.#effects.refusal(memory, desired),
    };
  }

  /** Who owns, or shall own, the record: what was said when its create was intended holds until status says it. */
  #owner(resource: R, home: Place | undefined, memory: M, handle: ConnectionHandle): string {
    if (home !== undefined) {
      memory.owner = undefined;
      return home.owner;
    }
    const text = resource.metadata.annotations?.[ANNOTATIONS.createIntent] ?? memory.intent?.text;
    const { place } = parseIntent(text, '', this.#claims.intents(resource)) ?? {};
    if (place?.endpoint === handle.endpoint) memory.owner = place.owner;
    return memory.owner ?? resource.spec.owner ?? handle.workspace;
  }

  #connection(state: ConnectionState, memory: M, now: number): RecordObservation<Rec, Desired>['connection'] {
    if (state.kind === 'ready') return { kind: 'ready' };
    if (state.kind === 'waiting') {
      const { message, handle, credentialsMissing } = state;
      return { kind: 'waiting', message, usable: handle !== undefined, credentialsMissing };
    }
    if (now - memory.firstSeenAt < FIRST_WORD_MS) return { kind: 'pending' };
    const message = 'The connection is being looked at';
    return { kind: 'waiting', message, usable: false, credentialsMissing: false };
  }

  #intent(
    resource: R,
    memory: M,
    pass: Pass<R, Rec, M> | undefined,
    now: number,
  ): RecordObservation<Rec, Desired>['intent'] {
    const text = resource.metadata.annotations?.[ANNOTATIONS.createIntent];
    const lag = pass?.handle.poll.lagWindowMs ?? 0;
    const own = memory.intent;
    // Whoever wiped the annotation has not undone a create that is under way.
    const isWiped = text === undefined && own?.outcome === 'unknown' && now < concludesFrom(own.seenAt, lag);
    const noted = isWiped ? own.text : text;
    const today = new Date(this.#context.clock.now()).toISOString();
    const intent = parseIntent(noted, today, this.#claims.intents(resource));
    if (intent === undefined || noted === undefined) {
      memory.intent = undefined;
      return undefined;
    }
    if (memory.intent?.text !== noted) {
      // Another process wrote it, or this one before it was restarted: whether it sent the create is unknown.
      memory.intent = { text: noted, seenAt: now, outcome: 'unknown' };
    }
    return {
      intent,
      outcome: memory.intent.outcome,
      concludeFrom: concludesFrom(memory.intent.seenAt, lag),
      sentTo: sentElsewhere(intent, pass),
    };
  }

  async #look(
    at: Look,
    seen: RecordObservation<Rec, Desired>,
    pass: Pass<R, Rec, M>,
  ): Promise<Partial<RecordObservation<Rec, Desired>>> {
    switch (at) {
      case 'desired':
        return { desired: await this.#kind.resolve(pass) };
      case 'existence':
        return {
          existence: await this.#looks.existence(pass, seen.claim.kind === 'mine' ? seen.claim.id : ''),
        };
      case 'adoptee':
        return { adoptee: await this.#looks.adoptee(pass, seen.adopt ?? '') };
      case 'restored': {
        const id = 'id' in seen.claim ? (seen.claim.id ?? '') : '';
        return { restored: await this.#looks.restored(pass, id, finalNameOf(pass.resource)) };
      }
      case 'former': {
        this.#memories.keepFormer(keyOf(pass.resource), new Set(seen.former.map(({ id }) => id)));
        return { formerSeen: await this.#formers.look(pass) };
      }
      case 'search': {
        const now = this.#context.clock.monotonic();
        const intent = seen.intent;
        const made = this.#effects.made(pass.marker, now);
        // A "none" counts only from a list that began late enough; a find counts from any.
        const notBefore =
          intent === undefined || intent.outcome !== 'unknown'
            ? seen.deleting
              ? pass.handle.client.stamp()
              : Math.max(pass.memory.firstSeenAt, made?.at ?? -Infinity)
            : now >= intent.concludeFrom
              ? intent.concludeFrom
              : pass.handle.client.stamp();
        return {
          search: await this.#looks.search(pass, {
            finalName: finalNameOf(pass.resource),
            intent: intent?.intent,
            notBefore,
            made: made?.id,
            former: formerInSearch(seen, pass),
          }),
        };
      }
      default:
        return at satisfies never;
    }
  }

  async #act(
    resource: R,
    memory: M,
    marker: string,
    pass: Pass<R, Rec, M> | undefined,
    step: Exclude<RecordStep<Rec, Desired>, { do: 'look' }>,
    run: ReconcileContext,
  ): Promise<Outcome<R>> {
    const lagWindowMs = pass?.handle.poll.lagWindowMs ?? LAG_WINDOW_MS;
    switch (step.do) {
      case 'nothing':
        return {};
      case 'await':
        return { soonMs: step.recheckAfterMs ?? FIRST_WORD_MS };
      case 'report': {
        const gone = step.gone === true ? this.#kind.gone : undefined;
        const fields =
          step.record === undefined || pass === undefined
            ? step.unseen === true
              ? (this.#kind.unseen ?? {})
              : (gone ?? {})
            : this.#kind.observe(pass, step.record);
        return { wish: { verdict: step.verdict, fields } };
      }
      case 'release':
        if (step.gone !== true) return this.#effects.release(resource, run.signal, { marker, lagWindowMs });
        this.#effects.forgetMade(marker);
        if (pass !== undefined && step.lookFor !== undefined) {
          this.#later.note(keyOf(resource), pass, step.lookFor);
        }
        return this.#effects.release(resource, run.signal);
      case 'unclaim':
        this.#effects.forgetMade(marker);
        return this.#effects.unclaim(resource, memory, run.signal);
      case 'clearIntent':
        return this.#effects.clearIntent(resource, memory, run.signal, {
          finalizerToo: step.finalizerToo === true,
        });
      case 'claim': {
        const { signal } = run;
        const place = this.#placeOf(resource, pass, step.id);
        return this.#effects.claim({ resource, memory, marker, place, lagWindowMs, signal }, step.id);
      }
      default:
    }
    if (pass === undefined) return {};
    switch (step.do) {
      case 'forgetId':
        return this.#formerSteps.forget(pass, step);
      case 'takeBack':
        return this.#formerSteps.takeBack(pass, step);
      case 'removeFormer':
        return this.#formerSteps.remove(pass, step.sight);
      case 'writeIntent':
        return this.#effects.writeIntent(pass, step);
      case 'create':
        return this.#effects.create(pass, step.intent, step.desired);
      case 'converge': {
        const tended =
          step.former === undefined ? undefined : await this.#formerSteps.tend(pass, step.former);
        if (tended?.isSent === true) return { again: true, quiet: true };
        const done = await this.#kind.converge(pass, step.record, step.desired);
        if (done.corrected === true) this.#context.observer?.corrected(this.#kind.type.kind);
        if (done.afresh === true) return { again: true };
        if (done.renounce === true) {
          const { former } = step;
          const next =
            resource.status.id === undefined
              ? ({ do: 'unclaim' } as const)
              : ({ do: 'forgetId', why: 'Ended', former } as const);
          return this.#act(resource, memory, marker, pass, next, run);
        }
        const again = step.former === undefined ? [] : [...step.former.again, ...step.former.back];
        const news = {
          own: step.record.id,
          gone: [...(step.former?.gone ?? []), ...(tended?.gone ?? [])],
          noted: tended?.noted ?? [],
          again: again.map(({ former }) => former.id),
          isUp:
            this.#kind.isUp(step.record, marker) ||
            (factsOf(done.verdict.reason).ready === 'True' && done.again !== true),
        };
        const fields = {
          ...this.#effects.identity(pass, step.record),
          ...done.fields,
          ...formerFields(pass, news),
        };
        return {
          wish: { verdict: this.#formerSteps.beside(pass, done.verdict, step.former, tended?.waits), fields },
          ...(done.again === true || news.noted.length > 0 ? { again: true } : {}),
          ...(done.quiet === true ? { quiet: true } : {}),
        };
      }
      case 'follow': {
        const done = await this.#kind.follow?.(pass, step.record);
        const { recheckAfterMs } = done?.verdict ?? {};
        return {
          wish: {
            verdict: { ...step.verdict, ...(recheckAfterMs === undefined ? {} : { recheckAfterMs }) },
            fields: { ...this.#kind.observe(pass, step.record), ...done?.fields },
          },
          ...(done?.again === true ? { again: true } : {}),
        };
      }
      case 'remove':
        this.#tellOfOthers(pass);
        return this.#effects.remove(pass, step.record);
      case 'askByDelete':
        return this.#effects.askByDelete(pass, step.id, step.verdict);
      default:
        return step satisfies never;
    }
  }

  /** Who names the record by its id from another namespace holds nothing here: the service's answer decides. */
  #tellOfOthers({ resource, memory }: Pass<R, Rec, M>): void {
    if (memory.isOthersTold || !this.#kind.users(resource).others) return;
    memory.isOthersTold = true;
    this.#context.recorder.event({
      regarding: eventTarget(this.#kind.type.kind, resource),
      type: 'Normal',
      reason: 'Deleting',
      action: 'Delete',
      note: `Resources of other namespaces name this ${this.#kind.noun} by its id: the service decides whether it can be deleted`,
    });
  }

  /** Where a record that is claimed is: where it was last found, or, newly claimed, where the connection leads. */
  #placeOf(resource: R, pass: Pass<R, Rec, M> | undefined, id: string): Place | undefined {
    const claim = this.#claims.judge(resource);
    if (claim.kind === 'mine' && claim.id === id) return Claims.homeOf(resource, claim);
    return pass === undefined ? undefined : placeOf(pass);
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
    const { annotations, deletionTimestamp, finalizers } = resource.metadata;
    const bare =
      annotations?.[ANNOTATIONS.externalId] === undefined &&
      annotations?.[ANNOTATIONS.createIntent] === undefined &&
      resource.status.id === undefined &&
      resource.status.former === undefined;
    const confirmed = this.#context.installation.unconfirmed === undefined;
    if (deletionTimestamp !== undefined && bare && confirmed && finalizers?.includes(FINALIZER) === true) {
      return this.#effects.release(resource, run.signal);
    }
    return { wish: { verdict: said, fields: {} } };
  }

  /** Seals a claim that counts and is not sealed for where its record is: at once where that moved, else in its turn. */
  async #seal(resource: R, { signal }: ReconcileContext): Promise<void> {
    const claim = this.#claims.judge(resource);
    const { id, home } = resource.status;
    if (claim.kind !== 'mine' || claim.restore || home === undefined || id !== claim.id) return;
    const { seal } = claim;
    const isAt = seal?.endpoint === home.endpoint && seal.owner === home.owner;
    if (isAt && seal.isCurrent) return;
    const hasMoved = seal?.isCurrent === true;
    if (hasMoved || this.#context.sealTurns.take(this.#context.clock.monotonic())) {
      await this.#effects.seal(resource, id, home, signal);
    }
  }

  async #record(resource: R, memory: M, outcome: Outcome<R>, run: ReconcileContext): Promise<Result> {
    const { again = false, quiet = false, soonMs, wish } = outcome;
    if (wish !== undefined && !(quiet && this.#mayStaySilent(memory))) {
      const stop = await this.#status.write(resource, wish, run.signal);
      // What was to be noted before it is done cannot be: it is not done.
      if (stop !== undefined) return { requeueAfterMs: stop.recheckAfterMs ?? WAITING_MS };
    }
    if (again) return { requeueAfterMs: 0, lane: 'kept' };
    // Nothing else is to be done now.
    const now = this.#cache.get(keyOf(resource));
    if (now?.metadata.uid === resource.metadata.uid && now.metadata.deletionTimestamp === undefined) {
      if (this.#context.installation.unconfirmed === undefined) await this.#seal(now, run);
    }
    if (soonMs !== undefined) return { requeueAfterMs: soonMs, lane: 'kept' };
    if (wish === undefined) return {};
    const recheck = wish.verdict.recheckAfterMs ?? WAITING_MS;
    const lane = OPERATING.has(wish.verdict.reason) ? 'normal' : 'periodic';
    return { requeueAfterMs: Math.min(recheck, this.#secretLook(resource, memory)), lane };
  }

  /** How long until Secrets have to be looked at: soon after a change, then less and less often. */
  #secretLook(resource: R, { generation }: M): number {
    const { clock, sources } = this.#context;
    if (!this.#readsSecrets(resource) || sources.followsSecrets(resource.metadata.namespace)) return Infinity;
    if (generation?.isNew !== true) return SECRET_LOOK_MS;
    const age = clock.monotonic() - generation.since;
    return Math.min(Math.max(age, FIRST_SECRET_LOOK_MS), SECRET_LOOK_MS);
  }

  #mayStaySilent(memory: M): boolean {
    return this.#context.clock.monotonic() - (memory.generation?.since ?? 0) < FIRST_WORD_MS;
  }

  #readsSecrets(resource: R): boolean {
    if ((resource as Cached<R>).problems !== undefined) return false;
    // Every resource with a record is one of our kinds.
    return referencesOf(resource as unknown as AnyResource).some(({ kind }) => kind === 'Secret');
  }
}

/** One call of the queue, which reads of Secrets count in it, and whether the service is being asked. */
type RecordRun = ReconcileContext & { secretsAfter: number | undefined; asks: { service: boolean } };

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

/** A process that starts finds in status what was refused before: not every one of them is sent at once. */
function startWith(
  { attempts }: Memory,
  { metadata, status }: ManagedResource,
  kind: Pick<RecordKind<never, never, never>, 'aspectIn'>,
): void {
  const stalled = status.conditions?.find(({ type }) => type === CONDITIONS.stalled);
  if (stalled === undefined || stalled.observedGeneration !== metadata.generation) return;
  if (NOT_TAKEN.has(stalled.reason)) {
    const { aspect, said = stalled.message } = kind.aspectIn?.(stalled.message) ?? {};
    attempts.startsRefused(verdict(stalled.reason as Verdict['reason'], said), aspect);
  }
}

/** The endpoint of an intent where it is another than the connection's. */
function sentElsewhere(
  { place }: CreateIntent,
  pass: Pick<Pass<never, never, never>, 'handle'> | undefined,
): string | undefined {
  return place === undefined || pass === undefined || place.endpoint === pass.handle.endpoint
    ? undefined
    : place.endpoint;
}

function keyOf({ metadata }: ManagedResource): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** How a search takes the earlier records: those that are removed by their ids are none of its candidates. */
function formerInSearch(
  { former, deleting }: Pick<RecordObservation<never, never>, 'former' | 'deleting'>,
  { handle, owner }: Pass<ManagedResource, AnyRecord, Memory>,
): { back: string[]; skip: string[] } {
  const here = former.filter((one) => one.endpoint === handle.endpoint && one.owner === owner);
  const back = deleting ? [] : here.filter(({ why }) => why === 'Gone');
  const skip = deleting ? here : here.filter(({ why }) => why === 'Surplus');
  return { back: back.map(({ id }) => id), skip: skip.map(({ id }) => id) };
}

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
