import { rfc3339 } from '../../base/rfc3339.ts';
import { ANNOTATIONS, FINALIZER } from '../../api/names.ts';
import { canonicalJson, sha256Base32 } from '../../base/hash.ts';
import { KubeApiError } from '../../kube/index.ts';
import type { AnyRecord, ServiceError, Write } from '../../service/index.ts';
import type { OperatorContext } from '../context.ts';
import { failureVerdict, isAboutCredentials } from './decide.ts';
import { claimAnnotations } from './identity/claim.ts';
import { formatIntent, parseIntent, type CreateIntent } from './identity/intent.ts';
import type { Pass, RecordKind, StatusFields } from './kind.ts';
import { backoffMs, noteWrite, SHARED_LIST_AGE_MS } from './looks.ts';
import type { Memory } from './memory.ts';
import { policiesOf } from './policies.ts';
import type { ManagedResource, ResourceCache } from './resource.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** What a pass ended with. */
export interface Outcome<R extends ManagedResource> {
  wish?: { verdict: Verdict; fields: StatusFields<R> };
  /** Look again at once. */
  again?: boolean;
  /** On the way to something else: status says nothing unless it has been silent for too long. */
  quiet?: boolean;
  /** Nothing to say: look again before silence is worth a word. */
  soon?: boolean;
}

/** Who claims: that takes no connection. */
interface Claiming<R, M> {
  resource: R;
  memory: M;
  marker: string;
  signal: AbortSignal;
}

/** The effects of the shared protocols: each method is one write, in the cluster or on the service. */
export class Effects<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #context: OperatorContext;
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #cache: ResourceCache<R>;
  /** What a create for a marker has made last, and when: a list may lack it that is older, or that trails. */
  readonly #made = new Map<string, { id: string | undefined; at: number; until: number }>();

  constructor(context: OperatorContext, kind: RecordKind<R, Rec, Desired, M>, cache: ResourceCache<R>) {
    this.#context = context;
    this.#kind = kind;
    this.#cache = cache;
  }

  /** What this process has made for a marker, as long as lists may lack it; `at` is on the service client's clock. */
  made(marker: string, now: number): { id: string | undefined; at: number } | undefined {
    const made = this.#made.get(marker);
    return made !== undefined && now < made.until ? made : undefined;
  }

  /** What was made for a marker is proved gone. */
  forgetMade(marker: string): void {
    this.#made.delete(marker);
  }

  /** Lets the resource go. */
  async release(resource: R, signal: AbortSignal): Promise<Outcome<R>> {
    const finalizers = (resource.metadata.finalizers ?? []).filter((name) => name !== FINALIZER);
    await this.#patch(resource, { finalizers }, signal);
    return {};
  }

  /** Takes the claim off a record that is gone, or ended for good. */
  async unclaim(resource: R, memory: M, signal: AbortSignal): Promise<Outcome<R>> {
    const annotations = { [ANNOTATIONS.externalId]: null, [ANNOTATIONS.claim]: null };
    await this.#patch(resource, { annotations }, signal);
    memory.observed = undefined;
    return { again: true, quiet: true };
  }

  /** Takes an intent back that certainly made nothing. */
  async clearIntent(resource: R, memory: M, signal: AbortSignal): Promise<Outcome<R>> {
    await this.#patch(resource, { annotations: { [ANNOTATIONS.createIntent]: null } }, signal);
    memory.intent = undefined;
    return { again: true, quiet: true };
  }

  /** Writes intent and finalizer in one patch that a stale version makes fail. */
  async writeIntent(
    pass: Pass<R, Rec, M>,
    step: { skip: string[]; try: number; outcome: 'unsent' | 'unknown'; desired: Desired },
  ): Promise<Outcome<R>> {
    const { resource, memory } = pass;
    const now = new Date(pass.now).toISOString();
    const before = parseIntent(resource.metadata.annotations?.[ANNOTATIONS.createIntent], now);
    const at = before?.at ?? now;
    const text = formatIntent({
      at,
      try: step.try,
      skip: step.skip,
      ...this.#kind.intentExtras(pass, step.desired, Date.parse(at)),
    });
    // Noted first: if the answer to the patch is lost, this process still knows that it has sent no create.
    const monotonic = this.#context.clock.monotonic();
    memory.intent =
      step.outcome === 'unsent'
        ? { text, seenAt: monotonic, outcome: 'unsent' }
        : { text, seenAt: memory.intent?.seenAt ?? monotonic, outcome: 'unknown' };
    const annotations = { [ANNOTATIONS.createIntent]: text };
    try {
      await this.#patch(resource, { annotations, ...finalizersWith(resource) }, pass.signal);
    } catch (error) {
      // Another process may have written the very same text, and sent its create.
      if (error instanceof KubeApiError && error.isConflict) memory.intent = undefined;
      throw error;
    }
    return { again: true, quiet: true };
  }

  /** Sends the create. */
  async create(pass: Pass<R, Rec, M>, intent: CreateIntent, desired: Desired): Promise<Outcome<R>> {
    const { memory } = pass;
    const { clock } = this.#context;
    const known = memory.intent;
    // Unknown until it is answered: whatever ends this pass from here on, nothing is sent blindly again.
    if (known !== undefined) memory.intent = { ...known, outcome: 'unknown', seenAt: clock.monotonic() };
    const write = await this.#kind.create(pass, desired, intent);
    noteWrite(memory, write, clock.monotonic());
    if (write.kind !== 'notSent') this.#noteMade(pass, write);
    if (write.kind !== 'notSent' && memory.intent !== undefined) {
      // Its turn may have come late: what may still happen on the service counts from when it went out.
      memory.intent = { ...memory.intent, seenAt: write.startedAt };
    }
    switch (write.kind) {
      case 'ok': {
        memory.failures = 0;
        memory.refusals.clear();
        const { record } = write;
        if (record !== undefined) memory.created = { id: record.id, record, endedAt: write.endedAt };
        return { again: true, quiet: true };
      }
      case 'refused':
        if (write.error.class === 'Conflict') break; // an earlier try landed: look it up
        if (isAboutCredentials(write.error)) return this.#notCreated(pass, write.error);
        if (known !== undefined) memory.intent = { ...known, outcome: 'refused' };
        return {
          wish: { verdict: this.#refuse(pass, desired, write.error.message), fields: {} },
          again: true,
        };
      case 'notSent':
        return this.#notCreated(pass, write.error);
      case 'unknown':
        break;
      default:
        return write satisfies never;
    }
    const message = `${write.error.message}: whether it was created is looked up before anything is sent again`;
    return { wish: { verdict: verdict('Creating', message, 1_000), fields: {} } };
  }

  /** The create had certainly no effect, and not for what it says: the same one is sent again. */
  #notCreated(pass: Pass<R, Rec, M>, error: ServiceError): Outcome<R> {
    const { memory } = pass;
    if (memory.intent !== undefined) memory.intent = { ...memory.intent, outcome: 'unsent' };
    const delay = backoffMs(memory.failures++, pass.random);
    return { wish: { verdict: failureVerdict(error, delay), fields: {} } };
  }

  /** Writes the claim, which also takes the intent back. */
  async claim(claiming: Claiming<R, M>, id: string): Promise<Outcome<R>> {
    const { resource, memory, marker, signal } = claiming;
    const { uid, deletionTimestamp } = resource.metadata;
    const claimant = { installationId: this.#context.installation.id, marker, uid };
    const now = new Date(this.#context.clock.now()).toISOString();
    const intent = parseIntent(resource.metadata.annotations?.[ANNOTATIONS.createIntent], now);
    const annotations = {
      ...claimAnnotations(id, claimant),
      ...this.#kind.claimExtras?.(intent, { uid, record: id }),
      [ANNOTATIONS.createIntent]: null,
    };
    const holds = resource.spec.managementPolicy === 'Full' && deletionTimestamp === undefined;
    await this.#patch(resource, { annotations, ...(holds ? finalizersWith(resource) : {}) }, signal);
    const { created } = memory;
    memory.created = undefined;
    memory.intent = undefined;
    if (memory.observed?.record.id === id) {
      memory.observed = { ...memory.observed, fromWrite: true };
    } else if (created?.id === id) {
      memory.observed = { record: created.record, startedAt: created.endedAt, fromWrite: true };
    }
    return { again: true, quiet: true };
  }

  /** One step of taking the record away. */
  async remove(pass: Pass<R, Rec, M>, record: Rec): Promise<Outcome<R>> {
    const { memory, resource } = pass;
    const step = await this.#kind.removal(pass, record);
    if (step.kind === 'wait') {
      return { wish: { verdict: step.verdict, fields: this.#kind.observe(pass, record) } };
    }
    if (step.kind === 'release') return this.release(resource, pass.signal);
    const said = verdict('Deleting', `The ${this.#kind.noun} is being deleted`);
    if (step.kind === 'note') return { wish: { verdict: said, fields: step.fields }, again: true };
    if (resource.status.deleteSentAt === undefined) {
      // Nobody has sent one yet: until this process does, the record's absence needs the full proof.
      memory.deletion = 'unsent';
      const noted = { ...this.identity(pass, record), deleteSentAt: rfc3339(pass.now) };
      return { wish: { verdict: said, fields: noted }, again: true };
    }
    const before = memory.deletion;
    memory.deletion = 'unknown';
    const write = await this.#kind.remove(pass, record.id, step.how);
    noteWrite(memory, write, this.#context.clock.monotonic());
    const fields = step.fields ?? {};
    if (write.kind === 'ok') {
      memory.deletion = 'accepted';
      memory.failures = 0;
      return { wish: { verdict: said, fields }, again: true };
    }
    memory.observed = undefined;
    if (write.kind === 'refused') memory.deletion = write.error.status === 403 ? 'forbidden' : 'refused';
    else if (write.kind === 'notSent') memory.deletion = before;
    const delay = write.error.retryAfterMs ?? backoffMs(memory.failures++, pass.random);
    const message = `The ${this.#kind.noun} is not deleted yet: ${write.error.message}`;
    return { wish: { verdict: verdict('Deleting', message, delay), fields } };
  }

  /** Status fields that every found record brings. */
  identity(pass: Pass<R, Rec, M>, record: Rec): StatusFields<R> {
    const { resource, handle, owner } = pass;
    const { deletion, drift, missing } = policiesOf(resource, handle, this.#kind.onMissing);
    return {
      id: record.id,
      uri: record.uri,
      home: { endpoint: handle.endpoint, owner },
      policies: { deletion, drift, missing },
      // Restored from a backup that was taken in the middle of a deletion: nothing was sent for this one.
      ...(resource.metadata.deletionTimestamp === undefined ? { deleteSentAt: undefined } : {}),
    } as StatusFields<R>;
  }

  /** What the last refusal of this very declaration said, while it holds. */
  refusal(memory: M, resource: R, desired: Desired, now: number): Verdict | undefined {
    const held = memory.refusals.holds(fingerprint(resource, desired), now);
    return held === undefined ? undefined : { ...held.verdict, recheckAfterMs: held.retryAfterMs };
  }

  #refuse(pass: Pass<R, Rec, M>, desired: Desired, message: string): Verdict {
    const said = verdict('Refused', `${message}. Change what it speaks of; it is tried again on a change`);
    const now = this.#context.clock.monotonic();
    const wait = pass.memory.refusals.refuse(fingerprint(pass.resource, desired), said, now);
    return { ...said, recheckAfterMs: wait };
  }

  #noteMade({ marker, handle }: Pass<R, Rec, M>, write: Exclude<Write<Rec>, { kind: 'notSent' }>): void {
    const { endedAt: at } = write;
    for (const [other, { until }] of this.#made) {
      if (at < until) break; // the map is in the order of the creates
      this.#made.delete(other);
    }
    const id = write.kind === 'ok' ? write.record?.id : undefined;
    const until = at + Math.max(handle.poll.lagWindowMs, SHARED_LIST_AGE_MS);
    this.#made.delete(marker);
    this.#made.set(marker, { id, at, until });
  }

  async #patch(resource: R, metadata: object, signal: AbortSignal): Promise<void> {
    const { name, namespace, resourceVersion } = resource.metadata;
    const options = { resourceVersion, signal };
    const raw = await this.#context.kube.mergePatch(
      this.#kind.type,
      { name, namespace },
      { metadata },
      options,
    );
    this.#cache.remember(raw);
  }
}

function fingerprint(resource: ManagedResource, desired: unknown): string {
  return `${resource.metadata.generation}:${sha256Base32(canonicalJson(desired))}`;
}

function finalizersWith(resource: ManagedResource): { finalizers?: string[] } {
  const now = resource.metadata.finalizers ?? [];
  return now.includes(FINALIZER) ? {} : { finalizers: [...now, FINALIZER] };
}
