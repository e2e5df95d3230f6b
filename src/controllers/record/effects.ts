import { rfc3339 } from '../../base/rfc3339.ts';
import { ANNOTATIONS } from '../../api/names.ts';
import { KubeApiError } from '../../kube/index.ts';
import type { AnyRecord, Write } from '../../service/index.ts';
import type { OperatorContext } from '../context.ts';
import type { Claims } from './claims.ts';
import { claimAnnotations, NO_CLAIM } from './identity/claim.ts';
import type { Place } from './identity/seal.ts';
import { unshown } from './decide/words.ts';
import { formerOf, nextFormer, type Former, type FormerNews } from './former/list.ts';
import { formatIntent, parseIntent, type CreateIntent } from './identity/intent.ts';
import { placeOf, type Pass, type RecordKind, type StatusFields } from './kind.ts';
import { homeOf } from './home.ts';
import { markersOn } from './identity/marker.ts';
import { SHARED_LIST_AGE_MS } from './looks/looked.ts';
import { MadeRecords, type MadeRecord } from './made.ts';
import { noteWrite } from './observed.ts';
import type { Memory } from './memory.ts';
import { holding, lettingGo, patchMetadata, type OwnMetadata } from './metadata.ts';
import { heldVerdict, isAboutCredentials, notAccepted, refusedVerdict, type Attempt } from './outcome.ts';
import { policiesOf } from './policies.ts';
import { sameMeaning, type ManagedResource, type ResourceCache } from './resource.ts';
import { sendDelete, sendDeletion } from './send-deletion.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** What a pass ended with. */
export interface Outcome<R extends ManagedResource> {
  wish?: { verdict: Verdict; fields: StatusFields<R> };
  /** Look again at once. */
  again?: boolean;
  /** On the way to something else: status says nothing unless it has been silent for too long. */
  quiet?: boolean;
  /** Nothing to say: look again in so many milliseconds, before silence is worth a word. */
  soonMs?: number;
}

/** Who claims: that takes no connection. */
interface Claiming<R, M> {
  resource: R;
  /** Where the record is; undefined: that is not known, so nothing is sealed yet. */
  place: Place | undefined;
  memory: M;
  marker: string;
  /** How long lists may trail what was written to the record, milliseconds. */
  lagWindowMs: number;
  signal: AbortSignal;
}

/** What a DELETE that goes on being answered 403 may mean. */
const SAYS_NOTHING =
  'Some builds of the service answer so for what is gone: where it is, deletionPolicy Orphan lets go';

/** The effects of the shared protocols: each method is one write, in the cluster or on the service. */
export class Effects<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #context: OperatorContext;
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #cache: ResourceCache<R>;
  readonly #claims: Claims<R>;
  readonly #made = new MadeRecords();

  constructor(
    context: OperatorContext,
    kind: RecordKind<R, Rec, Desired, M>,
    cache: ResourceCache<R>,
    claims: Claims<R>,
  ) {
    this.#context = context;
    this.#kind = kind;
    this.#cache = cache;
    this.#claims = claims;
  }

  /** The record of a marker as this process knows it, as long as lists may lack it; `at` is on the service client's clock. */
  made(marker: string, now: number): MadeRecord | undefined {
    return this.#made.get(marker, now);
  }

  /** Lets go of what no list can lack any more. */
  sweep(): void {
    this.#made.sweep(this.#context.clock.monotonic());
  }

  /** The record of a marker is proved gone, or ended for good. */
  forgetMade(marker: string): void {
    this.#made.forget(marker);
  }

  /** Lets the resource go. `left`: what stays of it on the service, or may. */
  async release(
    resource: R,
    signal: AbortSignal,
    left?: Pick<Claiming<R, M>, 'marker' | 'lagWindowMs'>,
  ): Promise<Outcome<R>> {
    await this.#patch(resource, lettingGo(resource.metadata), signal);
    const id = resource.status.id ?? resource.metadata.annotations?.[ANNOTATIONS.externalId];
    if (left !== undefined && id !== undefined) this.#noteKnown(id, left);
    return {};
  }

  /** Takes the claim off a record that is gone, or ended for good. */
  async unclaim(resource: R, memory: M, signal: AbortSignal): Promise<Outcome<R>> {
    await this.#patch(resource, { annotations: NO_CLAIM }, signal);
    memory.observed = undefined;
    memory.created = undefined;
    return { again: true, quiet: true };
  }

  /** Takes an intent back that certainly made nothing; with the finalizer, where nothing else will be made soon. */
  async clearIntent(
    resource: R,
    memory: M,
    signal: AbortSignal,
    { finalizerToo = false } = {},
  ): Promise<Outcome<R>> {
    const annotations = { [ANNOTATIONS.createIntent]: null };
    const left = finalizerToo ? lettingGo(resource.metadata) : {};
    await this.#patch(resource, { annotations, ...left }, signal);
    memory.intent = undefined;
    memory.owner = undefined;
    return { again: true, quiet: true };
  }

  /** Sees to it that a deletion comes by here. */
  async guard(resource: R, signal: AbortSignal): Promise<Outcome<R>> {
    await this.#patch(resource, holding(resource.metadata), signal);
    return { again: true, quiet: true };
  }

  /** Writes intent and finalizer in one patch that a stale version makes fail. */
  async writeIntent(
    pass: Pass<R, Rec, M>,
    step: { skip: string[]; try: number; outcome: 'unsent' | 'unknown'; desired: Desired },
  ): Promise<Outcome<R>> {
    const { resource, memory } = pass;
    const now = new Date(pass.now).toISOString();
    const seal = this.#claims.intents(resource);
    const before = parseIntent(resource.metadata.annotations?.[ANNOTATIONS.createIntent], now, seal);
    const at = before?.at ?? now;
    const written = {
      at,
      try: step.try,
      skip: step.skip,
      place: placeOf(pass),
      ...this.#kind.intentExtras?.(step.desired, Date.parse(at)),
    };
    const text = formatIntent(written, seal);
    // Noted first: if the answer to the patch is lost, this process still knows that it has sent no create.
    const monotonic = this.#context.clock.monotonic();
    memory.intent =
      step.outcome === 'unsent'
        ? { text, seenAt: monotonic, outcome: 'unsent' }
        : { text, seenAt: memory.intent?.seenAt ?? monotonic, outcome: 'unknown' };
    const annotations = { [ANNOTATIONS.createIntent]: text };
    try {
      await this.#patch(resource, { annotations, ...holding(resource.metadata) }, pass.signal);
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
    const attempt: Attempt = {
      attempts: memory.attempts,
      aspect: 'create',
      fingerprint: this.#kind.meant(desired),
    };
    if (write.kind === 'ok') {
      // Nobody has taken away what no read has shown.
      const wasShown = memory.attempts.sent('create', attempt.fingerprint) === 0;
      memory.attempts.accepted('create', attempt.fingerprint);
      if (wasShown && formerOf(pass.resource).length > 0) {
        memory.attempts.accepted('recreate', declared(pass.resource), { correcting: true });
      }
      const { record } = write;
      if (record !== undefined && this.#isAnothers(pass, record)) {
        memory.observed = undefined;
        return this.#lookUp(
          `The service answered the create with the ${this.#kind.noun} ${record.id}, which is another one`,
        );
      }
      memory.created = record?.id;
      return { again: true, quiet: true };
    }
    const said = notAccepted(write, attempt, { refused: refusedVerdict });
    const { error } = write;
    switch (write.kind) {
      case 'refused':
        if (isAboutCredentials(error)) break;
        // An earlier try may have landed: look it up, and then say what the service said.
        if (error.class === 'Conflict' || intent.try > 1) return this.#lookUp(error.message);
        if (known !== undefined) memory.intent = { ...known, outcome: 'refused' };
        return { wish: { verdict: said, fields: {} }, again: true };
      case 'notSent':
        break;
      case 'unknown':
        return this.#lookUp(error.message);
      default:
        return write satisfies never;
    }
    // It certainly had no effect, and not for what it says: the same one is sent again.
    if (memory.intent !== undefined) memory.intent = { ...memory.intent, outcome: 'unsent' };
    return { wish: { verdict: said, fields: {} } };
  }

  /** Whether what a create was answered with is certainly not what it made. */
  #isAnothers({ resource, marker, handle }: Pass<R, Rec, M>, record: Rec): boolean {
    const { id, name, tags } = record as AnyRecord & { tags?: readonly unknown[] };
    if (this.#claims.holder({ id, endpoint: handle.endpoint }, resource) !== undefined) return true;
    const shown = [name, ...(Array.isArray(tags) ? tags : [])];
    return !shown.includes(marker) && markersOn(shown, this.#context.installation.id).length > 0;
  }

  #lookUp(said: string): Outcome<R> {
    const message = `${said}: whether it was created is looked up before anything is sent again`;
    return { wish: { verdict: verdict('Creating', message, 1_000), fields: {} } };
  }

  /** Writes the claim, which also takes the intent back. */
  async claim(claiming: Claiming<R, M>, id: string): Promise<Outcome<R>> {
    const { resource, memory, signal } = claiming;
    this.#noteKnown(id, claiming);
    const { uid, deletionTimestamp } = resource.metadata;
    const now = new Date(this.#context.clock.now()).toISOString();
    const seal = this.#claims.intents(resource);
    const text = resource.metadata.annotations?.[ANNOTATIONS.createIntent];
    const intent = parseIntent(text, now, seal);
    // The connection may have moved since the create was sent.
    const { place: sentTo } = parseIntent(text ?? memory.intent?.text, now, seal) ?? {};
    const place = memory.created === id ? (sentTo ?? claiming.place) : claiming.place;
    const annotations = {
      ...claimAnnotations(id, this.#claims.claimant(resource), this.#context.seals, place),
      ...this.#kind.claimExtras?.(intent, { uid, record: id }),
      [ANNOTATIONS.createIntent]: null,
    };
    const holds = resource.spec.managementPolicy === 'Full' && deletionTimestamp === undefined;
    await this.#patch(resource, { annotations, ...(holds ? holding(resource.metadata) : {}) }, signal);
    if (memory.created !== id) memory.created = undefined;
    memory.intent = undefined;
    if (memory.observed?.record.id === id) memory.observed.takeOver = true;
    return { again: true, quiet: true };
  }

  /** Seals a claim that counts: one of an older version, or of before the record's home moved. */
  async seal(resource: R, id: string, place: Place, signal: AbortSignal): Promise<void> {
    const annotations = claimAnnotations(id, this.#claims.claimant(resource), this.#context.seals, place);
    await this.#patch(resource, { annotations }, signal);
  }

  /** One step of taking the record away. */
  async remove(pass: Pass<R, Rec, M>, record: Rec): Promise<Outcome<R>> {
    const { resource } = pass;
    const step = await this.#kind.removal(pass, record);
    if (step.kind === 'wait') {
      const quiet = step.quiet === true ? { quiet: true } : {};
      return { wish: { verdict: step.verdict, fields: this.#kind.observe(pass, record) }, ...quiet };
    }
    if (step.kind === 'release') {
      const { marker, handle } = pass;
      return this.release(resource, pass.signal, { marker, lagWindowMs: handle.poll.lagWindowMs });
    }
    const said = verdict('Deleting', `The ${this.#kind.noun} is being deleted`);
    if (step.kind === 'note') return { wish: { verdict: said, fields: step.fields }, again: true };
    // A terminate needs no note: it leaves a record, and proves nothing.
    if (step.how === 'delete' && isUnnoted(resource)) {
      const noted = { ...this.#kind.observe(pass, record), ...this.identity(pass, record) };
      const fields = { ...noted, deleteSentAt: sentAt(pass) };
      return { wish: { verdict: said, fields }, again: true };
    }
    const deletion = await sendDeletion(this.#kind, pass, {
      record,
      how: step.how,
      waits: `Waits for the effect of ${step.how} on the service`,
      notYet: `The ${this.#kind.noun} is not deleted yet`,
    });
    const fields = step.fields ?? {};
    return deletion.kind === 'sent'
      ? { wish: { verdict: said, fields }, again: true, quiet: step.fields === undefined }
      : { wish: { verdict: deletion.verdict, fields } };
  }

  /**
   * Reads do not show the record: a DELETE tells. 404 twice is a proof (existence.ts); 2xx and 409 say that it exists.
   */
  async askByDelete(pass: Pass<R, Rec, M>, id: string, said: Verdict): Promise<Outcome<R>> {
    const { memory, resource } = pass;
    const how = this.#kind.asks;
    if (how === 'delete' && isUnnoted(resource)) {
      const fields = { deleteSentAt: sentAt(pass) } as StatusFields<R>;
      return { wish: { verdict: said, fields }, again: true };
    }
    const { attempts, deletes } = memory;
    const fingerprint = `ask ${how}`;
    const held = attempts.held('deletion', fingerprint);
    if (held !== undefined) {
      const recheckAfterMs = Math.min(said.recheckAfterMs ?? Infinity, held.retryAfterMs);
      const reason = 'Deleting' as const;
      return { wish: { verdict: { ...(held.verdict ?? said), reason, recheckAfterMs }, fields: {} } };
    }
    const write = await sendDelete(this.#kind, pass, id, how);
    const { lagWindowMs } = pass.handle.poll;
    if (write.kind === 'ok') {
      attempts.accepted('deletion', fingerprint, { quietMs: lagWindowMs });
      return { wish: { verdict: said, fields: {} }, again: true };
    }
    const now = pass.handle.client.stamp();
    if (write.kind === 'refused' && write.error.status === 404) {
      const recheckAfterMs = deletes.nextInMs(now, memory.absence.lastWriteAt, lagWindowMs);
      return { wish: { verdict: { ...said, recheckAfterMs }, fields: {} } };
    }
    const notYet = verdict('Deleting', `${said.message}. Its DELETE is answered: ${write.error.message}`);
    const words = { refused: () => notYet, conflict: notYet };
    const told = notAccepted(write, { attempts, aspect: 'deletion', fingerprint }, words);
    const isLong = deletes.forbiddenSince !== undefined && now - deletes.forbiddenSince >= lagWindowMs;
    const message = isLong ? `${notYet.message}. ${SAYS_NOTHING}` : notYet.message;
    return { wish: { verdict: { ...told, reason: 'Deleting', message }, fields: {} } };
  }

  /** Status fields that every found record brings. */
  identity(pass: Pass<R, Rec, M>, record: Pick<AnyRecord, 'id' | 'uri'>): StatusFields<R> {
    const { resource, handle } = pass;
    const { deletion, drift, missing } = policiesOf(resource, handle, this.#kind.onMissing);
    return {
      id: record.id,
      uri: record.uri,
      home: homeOf(pass),
      policies: { deletion, drift, missing },
      ...formerFields(pass, { own: record.id }),
      // Restored from a backup that was taken in the middle of a deletion: nothing was sent for this one.
      ...(resource.metadata.deletionTimestamp === undefined ? { deleteSentAt: undefined } : {}),
    } as StatusFields<R>;
  }

  /** What the last try of this very declaration came to, while the next one waits. */
  refusal({ attempts }: M, desired: Desired): Verdict | undefined {
    const held = attempts.held('create', this.#kind.meant(desired));
    if (held === undefined) return undefined;
    return heldVerdict(held, () => unshown(this.#kind.noun, held.why === 'noEffect'));
  }

  /** Why no other is made now in the place of one that is gone. */
  recreation(resource: R, { attempts }: M): Verdict | undefined {
    const held = attempts.held('recreate', declared(resource));
    if (held === undefined) return undefined;
    const { noun } = this.#kind;
    return heldVerdict(held, () =>
      held.why === 'passing'
        ? verdict('Creating', `The ${noun} was deleted on the service: it is made again soon`)
        : verdict(
            'NotConverging',
            `The ${noun} was deleted or terminated on the service again and again, and was made again each time: find ` +
              'out who ends it, or set onMissing to Hold. It is made again slowly',
          ),
    );
  }

  #noteMade({ marker, handle }: Pass<R, Rec, M>, write: Exclude<Write<Rec>, { kind: 'notSent' }>): void {
    const id = write.kind === 'ok' ? write.record?.id : undefined;
    this.#setMade(marker, { id, at: write.endedAt, lagWindowMs: handle.poll.lagWindowMs });
  }

  #noteKnown(id: string, { marker, lagWindowMs }: Pick<Claiming<R, M>, 'marker' | 'lagWindowMs'>): void {
    this.#setMade(marker, { id, at: this.#context.clock.monotonic(), lagWindowMs });
  }

  #setMade(marker: string, made: { id: string | undefined; at: number; lagWindowMs: number }): void {
    const { id, at, lagWindowMs } = made;
    this.#made.note(marker, { id, at, until: at + Math.max(lagWindowMs, SHARED_LIST_AGE_MS) });
  }

  #patch(resource: R, metadata: OwnMetadata, signal: AbortSignal): Promise<void> {
    const { name, namespace } = resource.metadata;
    // Status may have got its first word since the pass began.
    const newest = this.#cache.get(`${namespace}/${name}`);
    const isSame = newest !== undefined && sameMeaning(newest.metadata, resource.metadata);
    const remember = (raw: object): void => this.#cache.remember(raw);
    const options = { signal, remember };
    return patchMetadata(this.#context.kube, this.#kind.type, isSame ? newest : resource, metadata, options);
  }
}

/** What is declared, whatever record there is: for the ledger. */
export function declared({ metadata }: ManagedResource): string {
  return String(metadata.generation);
}

/** What a pass over the record that the resource has now makes of the earlier ones. */
export function formerFields(
  { resource, now }: Pick<Pass<ManagedResource, AnyRecord, Memory>, 'resource' | 'now'>,
  news: Pick<FormerNews, 'own'> & Partial<FormerNews>,
): { former?: Former[] | undefined } {
  const former = formerOf(resource);
  if (former.length === 0) return {};
  const adopt = resource.metadata.annotations?.[ANNOTATIONS.adopt];
  return {
    former: nextFormer(former, { gone: [], noted: [], again: [], isUp: false, adopt, now, ...news }),
  };
}

/** Never before the deletion, by whichever clock: it would not count for that. */
function sentAt({
  now,
  resource,
}: Pick<Pass<ManagedResource, AnyRecord, Memory>, 'now' | 'resource'>): string {
  return rfc3339(Math.max(now, Date.parse(resource.metadata.deletionTimestamp ?? '') || now));
}

/** Whether no delete of the present deletion is noted yet. */
function isUnnoted({ status, metadata }: ManagedResource): boolean {
  const { deleteSentAt } = status;
  const { deletionTimestamp } = metadata;
  if (deleteSentAt === undefined || deletionTimestamp === undefined) return true;
  return Date.parse(deleteSentAt) < Date.parse(deletionTimestamp);
}
