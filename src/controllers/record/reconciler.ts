import { ANNOTATIONS, API_VERSION, FINALIZER } from '../../api/names.ts';
import { KubeApiError, type ReconcileContext, type Result } from '../../kube/index.ts';
import type { AnyRecord } from '../../service/index.ts';
import type { ConnectionHandle, ConnectionState } from '../connection-handle.ts';
import type { OperatorContext } from '../context.ts';
import { sha256Base32, canonicalJson } from '../../base/hash.ts';
import { isOlderClaimant } from './claimants.ts';
import { claimAnnotations, judgeClaim } from './claim.ts';
import {
  decideRecord,
  failureVerdict,
  type Look,
  type RecordObservation,
  type RecordStep,
} from './decide.ts';
import { formatIntent, parseIntent, type CreateIntent } from './intent.ts';
import type { Pass, RecordKind, StatusFields } from './kind.ts';
import { backoffMs, Looks, noteWrite, SHARED_LIST_AGE_MS } from './looks.ts';
import { markerOf } from './marker.ts';
import { Memories, type Memory } from './memory.ts';
import { isPaused, policiesOf } from './policies.ts';
import { keyOfResource, type ManagedResource } from './resource.ts';
import { eventOf, nextStatus, patchTo, type StatusWish } from './status.ts';
import { verdict, type Verdict } from './verdict.ts';

/** A create may still be under way on the service for so long after it was sent, milliseconds. */
const POST_TIMEOUT_MS = 30_000;
/** Status says at least that handling has begun after so long, milliseconds. */
const FIRST_WORD_MS = 5_000;
/** What waits for something that is watched is looked at again anyway, milliseconds. */
const WAITING_MS = 600_000;

/** What the reconciler asks of the cache of its kind. */
export interface ResourceCache<R> {
  get(key: string): R | undefined;
  /** Takes the answer of an own write, so that no later look sees an older version. */
  remember(raw: object): void;
  /** Resources, of any namespace, that claim the record. */
  claimants(id: string): readonly R[];
  isLiving(uid: string): boolean;
}

/** What a pass ended with. */
interface Outcome<R extends ManagedResource> {
  wish?: { verdict: Verdict; fields: StatusFields<R> };
  /** Look again at once. */
  again?: boolean;
  /** On the way to something else: status says nothing unless it has been silent for too long. */
  quiet?: boolean;
  /** Nothing to say: look again before silence is worth a word. */
  soon?: boolean;
}

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
  readonly #looks: Looks<R, Rec, Desired, M>;
  /** When a create for a marker was last answered: an older list cannot say that there is none. */
  readonly #createdAt = new Map<string, number>();

  constructor(options: {
    context: OperatorContext;
    kind: RecordKind<R, Rec, Desired, M>;
    cache: ResourceCache<R>;
    memory: (base: Memory<Rec>) => M;
  }) {
    this.#context = options.context;
    this.#kind = options.kind;
    this.#cache = options.cache;
    this.#memories = new Memories(options.memory);
    this.#looks = new Looks(options.kind, (id, except) => this.#heldByAnother(id, except));
  }

  /** One pass. Throws only when the API server refuses or the pass is aborted. */
  async reconcile(key: string, run: ReconcileContext): Promise<Result> {
    const resource = this.#cache.get(key);
    if (resource === undefined) {
      this.#memories.forget(key);
      return {};
    }
    const { clock } = this.#context;
    const memory = this.#memories.of(key, resource.metadata.uid, clock.monotonic());
    if (memory.generation?.value !== resource.metadata.generation) {
      memory.generation = { value: resource.metadata.generation, since: clock.monotonic() };
    }
    const firstWord = this.#firstWord(resource, memory, run);
    try {
      const outcome = await this.#pass(resource, memory, run);
      firstWord.cancel();
      await firstWord.done;
      return await this.#record(key, memory, outcome, run);
    } catch (error) {
      if (!(error instanceof KubeApiError && error.isConflict)) throw error;
      // Somebody changed the resource meanwhile: nothing of this pass counts. The watch brings the new version.
      return { requeueAfterMs: 200, priority: run.priority };
    } finally {
      firstWord.cancel();
    }
  }

  async #pass(resource: R, memory: M, run: ReconcileContext): Promise<Outcome<R>> {
    const { connections, installation, clock, random } = this.#context;
    const state = connections.resolve(resource.metadata.namespace, resource.spec.connectionRef);
    const handle = usableHandle(state, resource);
    const marker = markerOf(installation.id, {
      kind: this.#kind.type.kind,
      namespace: resource.metadata.namespace,
      name: resource.metadata.name,
    });
    const pass: Pass<R, Rec, M> | undefined =
      handle === undefined
        ? undefined
        : {
            resource,
            memory,
            marker,
            handle,
            owner: resource.status.home?.owner ?? resource.spec.owner ?? handle.workspace,
            priority: run.priority,
            signal: run.signal,
            now: clock.now(),
            random,
          };
    let seen = this.#observe(resource, memory, marker, state, pass);
    for (;;) {
      const step = decideRecord(seen);
      if (step.do !== 'look') {
        this.#context.onStep?.(this.#kind.type.kind, step.do);
        return this.#act(resource, memory, pass, step, run);
      }
      if (pass === undefined) return { wish: { verdict: unusable(state), fields: {} } };
      seen = { ...seen, ...(await this.#look(step.at, seen, pass)) };
    }
  }

  #observe(
    resource: R,
    memory: M,
    marker: string,
    state: ConnectionState,
    pass: Pass<R, Rec, M> | undefined,
  ): RecordObservation<Rec, Desired> {
    const { installation, clock } = this.#context;
    const { annotations, uid, deletionTimestamp, finalizers } = resource.metadata;
    const policies = policiesOf(resource, pass?.handle, this.#kind.onMissing);
    const claim = judgeClaim(
      { annotations, statusId: resource.status.id },
      { installationId: installation.id, marker, uid },
      (other) => this.#cache.isLiving(other),
    );
    const now = clock.monotonic();
    return {
      noun: this.#kind.noun,
      deleting: deletionTimestamp !== undefined,
      hasFinalizer: finalizers?.includes(FINALIZER) === true,
      orphan: policies.deletion === 'Orphan' || resource.spec.managementPolicy === 'Observe',
      observeOnly: resource.spec.managementPolicy === 'Observe',
      paused: isPaused(resource),
      unconfirmed: installation.unconfirmed,
      claim,
      statusId: resource.status.id !== undefined,
      rival: claim.kind === 'mine' && this.#heldByAnOlder(claim.id, resource),
      adopt: annotations?.[ANNOTATIONS.adopt],
      connection: this.#connection(state, memory, now),
      created: memory.created?.id,
      intent: this.#intent(annotations?.[ANNOTATIONS.createIntent], memory, pass, now),
      onMissing: policies.missing,
      deleteSent: resource.status.deleteSentAt !== undefined,
      users: deletionTimestamp === undefined ? { names: [], others: false } : this.#kind.users(resource),
      refusal: (desired) => this.#refusal(memory, resource, desired, now),
    };
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
    text: string | undefined,
    memory: M,
    pass: Pass<R, Rec, M> | undefined,
    now: number,
  ): RecordObservation<Rec, Desired>['intent'] {
    const intent = parseIntent(text, new Date(this.#context.clock.now()).toISOString());
    if (intent === undefined || text === undefined) {
      memory.intent = undefined;
      return undefined;
    }
    if (memory.intent?.text !== text) {
      // Another process wrote it, or this one before it was restarted: whether it sent the create is unknown.
      memory.intent = { text, seenAt: now, outcome: 'unknown' };
    }
    const lag = pass?.handle.poll.lagWindowMs ?? 0;
    return {
      intent,
      outcome: memory.intent.outcome,
      concludeFrom: memory.intent.seenAt + POST_TIMEOUT_MS + lag,
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
          existence: await this.#looks.existence(
            pass,
            seen.claim.kind === 'mine' ? seen.claim.id : '',
            seen.deleteSent,
          ),
        };
      case 'adoptee':
        return { adoptee: await this.#looks.adoptee(pass, seen.adopt ?? '') };
      case 'search': {
        const now = this.#context.clock.monotonic();
        const intent = seen.intent;
        // A "none" counts only from a list that began late enough; a find counts from any.
        const notBefore =
          intent === undefined || intent.outcome !== 'unknown'
            ? seen.deleting
              ? pass.handle.client.stamp()
              : this.#createdAt.get(pass.marker)
            : now >= intent.concludeFrom
              ? intent.concludeFrom
              : pass.handle.client.stamp();
        return {
          search: await this.#looks.search(pass, {
            finalName: pass.resource.spec.name ?? pass.resource.metadata.name,
            intent: intent?.intent,
            notBefore,
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
    pass: Pass<R, Rec, M> | undefined,
    step: Exclude<RecordStep<Rec, Desired>, { do: 'look' }>,
    run: ReconcileContext,
  ): Promise<Outcome<R>> {
    switch (step.do) {
      case 'nothing':
        return {};
      case 'await':
        return { soon: true };
      case 'report': {
        const fields =
          step.record === undefined || pass === undefined ? {} : this.#kind.observe(pass, step.record);
        return { wish: { verdict: this.#paused(resource, step.verdict), fields } };
      }
      case 'release':
        await this.#patch(resource, finalizersWithout(resource), run);
        memory.intent = undefined;
        return {};
      case 'forgetId': {
        const said = verdict(
          'Creating',
          `The ${this.#kind.noun} was deleted on the service: it is made again`,
        );
        const fields = Object.fromEntries(
          ['id', 'uri', 'home', ...this.#kind.forgotten].map((field) => [field, undefined]),
        );
        return { wish: { verdict: said, fields: fields as StatusFields<R> }, again: true };
      }
      case 'unclaim':
        await this.#patch(
          resource,
          { annotations: { [ANNOTATIONS.externalId]: null, [ANNOTATIONS.claim]: null } },
          run,
        );
        memory.observed = undefined;
        return { again: true, quiet: true };
      case 'clearIntent':
        await this.#patch(resource, { annotations: { [ANNOTATIONS.createIntent]: null } }, run);
        memory.intent = undefined;
        return { again: true, quiet: true };
      default:
    }
    if (pass === undefined) return {};
    switch (step.do) {
      case 'writeIntent':
        return this.#writeIntent(pass, step, run);
      case 'create':
        return this.#create(pass, step.intent, step.desired);
      case 'claim':
        return this.#claim(pass, step.id, run);
      case 'converge': {
        const done = await this.#kind.converge(pass, step.record, step.desired);
        if (done.renounce === true) {
          const next = resource.status.id === undefined ? ('unclaim' as const) : ('forgetId' as const);
          return this.#act(resource, memory, pass, { do: next }, run);
        }
        const fields = { ...this.#identity(pass, step.record), ...done.fields };
        return {
          wish: { verdict: done.verdict, fields },
          ...(done.again === true ? { again: true } : {}),
          ...(done.quiet === true ? { quiet: true } : {}),
        };
      }
      case 'remove':
        return this.#remove(pass, step.record, run);
      default:
        return step satisfies never;
    }
  }

  async #writeIntent(
    pass: Pass<R, Rec, M>,
    step: { skip: string[]; try: number; desired: Desired },
    run: ReconcileContext,
  ): Promise<Outcome<R>> {
    const { resource, memory } = pass;
    const before = parseIntent(
      resource.metadata.annotations?.[ANNOTATIONS.createIntent],
      new Date(pass.now).toISOString(),
    );
    const at = before?.at ?? new Date(pass.now).toISOString();
    const intent: CreateIntent = {
      at,
      try: step.try,
      skip: step.skip,
      ...this.#kind.intentExtras(pass, step.desired, Date.parse(at)),
    };
    const text = formatIntent(intent);
    // Noted first: if the answer to the patch is lost, this process still knows that it has sent no create.
    memory.intent = { text, seenAt: this.#context.clock.monotonic(), outcome: 'unsent' };
    await this.#patch(
      resource,
      { annotations: { [ANNOTATIONS.createIntent]: text }, ...finalizersWith(resource) },
      run,
    );
    return { again: true, quiet: true };
  }

  async #create(pass: Pass<R, Rec, M>, intent: CreateIntent, desired: Desired): Promise<Outcome<R>> {
    const { memory } = pass;
    const known = memory.intent;
    // Unknown until it is answered: whatever ends this pass from here on, nothing is sent blindly again.
    if (known !== undefined) {
      memory.intent = { ...known, outcome: 'unknown', seenAt: this.#context.clock.monotonic() };
    }
    const write = await this.#kind.create(pass, desired, intent);
    noteWrite(memory, write, this.#context.clock.monotonic());
    if (write.kind !== 'notSent') this.#noteCreate(pass.marker, write.endedAt);
    const id = write.kind === 'ok' ? write.record?.id : undefined;
    switch (write.kind) {
      case 'ok':
        memory.failures = 0;
        memory.refusals.clear();
        if (id !== undefined && write.record !== undefined) memory.created = { id, record: write.record };
        return { again: true, quiet: true };
      case 'refused':
        if (write.error.class === 'Conflict') break; // an earlier try landed: look it up
        if (known !== undefined) memory.intent = { ...known, outcome: 'refused' };
        return {
          wish: { verdict: this.#refuse(pass, desired, write.error.message), fields: {} },
          again: true,
        };
      case 'notSent': {
        if (known !== undefined) memory.intent = { ...known, outcome: 'unsent' };
        const delay = backoffMs(memory.failures++, pass.random);
        return { wish: { verdict: failureVerdict(write.error, delay), fields: {} } };
      }
      case 'unknown':
        break;
      default:
        return write satisfies never;
    }
    const message = `${write.error.message}: whether it was created is looked up before anything is sent again`;
    return { wish: { verdict: verdict('Creating', message, 1_000), fields: {} } };
  }

  #noteCreate(marker: string, endedAt: number): void {
    for (const [other, at] of this.#createdAt) {
      if (endedAt - at > SHARED_LIST_AGE_MS) this.#createdAt.delete(other);
      else break; // the map is in the order of the creates
    }
    this.#createdAt.delete(marker);
    this.#createdAt.set(marker, endedAt);
  }

  async #claim(pass: Pass<R, Rec, M>, id: string, run: ReconcileContext): Promise<Outcome<R>> {
    const { resource, memory, marker } = pass;
    const { installation } = this.#context;
    const observe = resource.spec.managementPolicy === 'Observe';
    await this.#patch(
      resource,
      {
        annotations: {
          ...claimAnnotations(id, {
            installationId: installation.id,
            marker,
            uid: resource.metadata.uid,
          }),
          [ANNOTATIONS.createIntent]: null,
        },
        ...(observe || resource.metadata.deletionTimestamp !== undefined ? {} : finalizersWith(resource)),
      },
      run,
    );
    const created = memory.created;
    memory.created = undefined;
    memory.intent = undefined;
    if (created !== undefined && memory.observed?.record.id !== id) {
      memory.observed = { record: created.record, startedAt: pass.handle.client.stamp(), fromWrite: true };
    } else if (memory.observed?.record.id === id) {
      memory.observed = { ...memory.observed, fromWrite: true };
    }
    return { again: true, quiet: true };
  }

  async #remove(pass: Pass<R, Rec, M>, record: Rec, run: ReconcileContext): Promise<Outcome<R>> {
    const { memory, resource } = pass;
    const step = await this.#kind.removal(pass, record);
    if (step.kind === 'wait') {
      return { wish: { verdict: step.verdict, fields: this.#kind.observe(pass, record) } };
    }
    if (step.kind === 'release') {
      await this.#patch(resource, finalizersWithout(resource), run);
      return {};
    }
    const said = verdict('Deleting', `The ${this.#kind.noun} is being deleted`);
    if (step.kind === 'note') return { wish: { verdict: said, fields: step.fields }, again: true };
    if (resource.status.deleteSentAt === undefined) {
      const fields = { ...this.#identity(pass, record), deleteSentAt: new Date(pass.now).toISOString() };
      return { wish: { verdict: said, fields: fields as StatusFields<R> }, again: true };
    }
    memory.deletion = { outcome: 'unknown' };
    const write = await this.#kind.remove(pass, record.id, step.how);
    noteWrite(memory, write, this.#context.clock.monotonic());
    if (write.kind === 'ok') {
      memory.deletion = { outcome: 'accepted' };
      memory.failures = 0;
      return { wish: { verdict: said, fields: step.fields ?? {} }, again: true };
    }
    memory.observed = undefined;
    if (write.kind === 'refused') {
      memory.deletion = { outcome: write.error.status === 403 ? 'forbidden' : 'refused', error: write.error };
    } else if (write.kind === 'notSent') memory.deletion = undefined;
    const delay = write.error.retryAfterMs ?? backoffMs(memory.failures++, pass.random);
    const message = `The ${this.#kind.noun} is not deleted yet: ${write.error.message}`;
    return {
      wish: { verdict: verdict('Deleting', message, delay), fields: step.fields ?? {} },
    };
  }

  #identity(pass: Pass<R, Rec, M>, record: Rec): StatusFields<R> {
    const policies = policiesOf(pass.resource, pass.handle, this.#kind.onMissing);
    return {
      id: record.id,
      uri: record.uri,
      home: { endpoint: pass.handle.endpoint, owner: pass.owner },
      policies: { deletion: policies.deletion, drift: policies.drift, missing: policies.missing },
    } as StatusFields<R>;
  }

  #paused(resource: R, said: Verdict): Verdict {
    if (said.reason !== 'Paused' || !this.#kind.changeWaits(resource)) return said;
    return { ...said, message: 'Paused with a change that waits: take spec.paused away to apply it' };
  }

  #refusal(memory: M, resource: R, desired: Desired, now: number): Verdict | undefined {
    const held = memory.refusals.holds(fingerprint(resource, desired), now);
    return held === undefined ? undefined : { ...held.verdict, recheckAfterMs: held.retryAfterMs };
  }

  #refuse(pass: Pass<R, Rec, M>, desired: Desired, message: string): Verdict {
    const said = verdict('Refused', `${message}. Change what it speaks of; it is tried again on a change`);
    const now = this.#context.clock.monotonic();
    const wait = pass.memory.refusals.refuse(fingerprint(pass.resource, desired), said, now);
    return { ...said, recheckAfterMs: wait };
  }

  #heldByAnother(id: string, except: R): boolean {
    return this.#cache
      .claimants(id)
      .some((other) => other.metadata.uid !== except.metadata.uid && sameHome(other, except));
  }

  #heldByAnOlder(id: string, resource: R): boolean {
    return this.#cache
      .claimants(id)
      .some((other) => isOlderClaimant(other, resource) && sameHome(other, resource));
  }

  async #patch(resource: R, metadata: object, run: ReconcileContext): Promise<void> {
    const { name, namespace, resourceVersion } = resource.metadata;
    const raw = await this.#context.kube.mergePatch(
      this.#kind.type,
      { name, namespace },
      { metadata },
      { resourceVersion, signal: run.signal },
    );
    this.#cache.remember(raw);
  }

  async #record(key: string, memory: M, outcome: Outcome<R>, run: ReconcileContext): Promise<Result> {
    const resource = this.#cache.get(key);
    const again = outcome.again === true ? { requeueAfterMs: 0, priority: run.priority } : undefined;
    if (resource === undefined || outcome.wish === undefined) {
      if (outcome.soon === true) return { requeueAfterMs: FIRST_WORD_MS, priority: run.priority };
      return again ?? {};
    }
    const recheck = outcome.wish.verdict.recheckAfterMs ?? WAITING_MS;
    const silent =
      outcome.quiet === true &&
      this.#context.clock.monotonic() - (memory.generation?.since ?? 0) < FIRST_WORD_MS;
    if (!silent) await this.#writeStatus(resource, outcome.wish, run);
    return again ?? { requeueAfterMs: recheck, priority: 'periodic' };
  }

  async #writeStatus(resource: R, wish: StatusWish, run: ReconcileContext): Promise<void> {
    const { clock, kube, recorder } = this.#context;
    const asked = resource.metadata.annotations?.[ANNOTATIONS.requestedAt];
    const fields = asked === undefined ? wish.fields : { ...wish.fields, lastHandledRequest: asked };
    const next = nextStatus(resource, { verdict: wish.verdict, fields }, new Date(clock.now()).toISOString());
    const patch = patchTo(resource, next);
    if (patch === undefined) return;
    const { name, namespace, uid, resourceVersion } = resource.metadata;
    const raw = await kube.mergePatch(this.#kind.type, { name, namespace }, patch, {
      subresource: 'status',
      resourceVersion,
      signal: run.signal,
    });
    this.#cache.remember(raw);
    const event = eventOf(resource.status.conditions, next.conditions ?? [], {
      apiVersion: API_VERSION,
      kind: this.#kind.type.kind,
      namespace,
      name,
      uid,
    });
    if (event !== undefined) recorder.event(event);
  }

  /** A pass that has not written 5 s after its generation came up says at least that it has begun. */
  #firstWord(resource: R, memory: M, run: ReconcileContext): { cancel(): void; done: Promise<void> } {
    if (resource.status.observedGeneration === resource.metadata.generation) {
      return { cancel: () => undefined, done: Promise.resolve() };
    }
    const { clock, log } = this.#context;
    let finish: () => void = () => undefined;
    const done = { promise: Promise.resolve() };
    const timer = clock.setTimer(
      FIRST_WORD_MS - (clock.monotonic() - (memory.generation?.since ?? 0)),
      () => {
        done.promise = new Promise((resolve) => (finish = resolve));
        const current = this.#cache.get(keyOfResource(resource));
        const said = verdict('Pending', 'Handling has begun; the service takes its time to answer');
        const wrote =
          current === undefined
            ? Promise.resolve()
            : this.#writeStatus(current, { verdict: said, fields: {} }, run);
        wrote
          .catch((error: unknown) =>
            log.debug({ error, key: keyOfResource(resource) }, 'first status not written'),
          )
          .finally(() => finish());
      },
    );
    return {
      cancel: () => timer.cancel(),
      get done() {
        return done.promise;
      },
    };
  }
}

/** Ids are unique per service only: where both are known to live elsewhere, they are different records. */
function sameHome(a: ManagedResource, b: ManagedResource): boolean {
  const [one, other] = [a.status.home?.endpoint, b.status.home?.endpoint];
  return one === undefined || other === undefined || one === other;
}

function usableHandle(state: ConnectionState, resource: ManagedResource): ConnectionHandle | undefined {
  if (state.kind === 'ready') return state.handle;
  if (state.kind === 'pending') return undefined;
  return resource.metadata.deletionTimestamp === undefined ? undefined : state.handle;
}

function unusable(state: ConnectionState): Verdict {
  return verdict('WaitingForConnection', state.kind === 'waiting' ? state.message : 'The connection changes');
}

function fingerprint(resource: ManagedResource, desired: unknown): string {
  return `${resource.metadata.generation}:${sha256Base32(canonicalJson(desired))}`;
}

function finalizersWith(resource: ManagedResource): { finalizers?: string[] } {
  const now = resource.metadata.finalizers ?? [];
  return now.includes(FINALIZER) ? {} : { finalizers: [...now, FINALIZER] };
}

function finalizersWithout(resource: ManagedResource): { finalizers: string[] } {
  return { finalizers: (resource.metadata.finalizers ?? []).filter((name) => name !== FINALIZER) };
}
