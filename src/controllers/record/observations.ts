import { ANNOTATIONS } from '../../api/names.ts';
import { canonicalJson } from '../../base/hash.ts';
import type { AnyRecord } from '../../service/index.ts';
import type { ConnectionHandle, ConnectionState } from '../connection-handle.ts';
import type { OperatorContext } from '../context.ts';
import type { Claims } from './claims.ts';
import type { RecordObservation } from './decide/observation.ts';
import type { Effects } from './effects.ts';
import { FIRST_WORD_MS } from './first-word.ts';
import { formerOf } from './former/list.ts';
import type { ClaimJudgement } from './identity/claim.ts';
import { WINDOWS_WHEN_ALL_GONE } from './existence.ts';
import { concludesFrom, parseIntent, type CreateIntent } from './identity/intent.ts';
import type { Place } from './identity/seal.ts';
import { placeOf, type Pass, type RecordKind } from './kind.ts';
import type { Memory } from './memory.ts';
import { isHeld } from './metadata.ts';
import { isPaused, policiesOf } from './policies.ts';
import { finalNameOf, type ManagedResource } from './resource.ts';

/** Makes out what is known of a resource without a call. */
export class Observations<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #context: OperatorContext;
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #claims: Claims<R>;
  readonly #effects: Effects<R, Rec, Desired, M>;

  constructor(
    context: OperatorContext,
    kind: RecordKind<R, Rec, Desired, M>,
    claims: Claims<R>,
    effects: Effects<R, Rec, Desired, M>,
  ) {
    this.#context = context;
    this.#kind = kind;
    this.#claims = claims;
    this.#effects = effects;
  }

  /** What is known before anything is asked for. */
  of(
    resource: R,
    memory: M,
    state: ConnectionState,
    pass: Pass<R, Rec, M> | undefined,
    { claim, home }: { claim: ClaimJudgement; home: Place | undefined },
  ): RecordObservation<Rec, Desired> {
    const { installation, clock } = this.#context;
    const { annotations, deletionTimestamp } = resource.metadata;
    const policies = policiesOf(resource, pass?.handle, this.#kind.onMissing);
    const endpoint = pass?.handle.endpoint ?? home?.endpoint ?? '';
    const now = clock.monotonic();
    return {
      noun: this.#kind.noun,
      plural: this.#kind.type.plural,
      deleting: deletionTimestamp !== undefined,
      hasFinalizer: isHeld(resource.metadata),
      orphan: policies.deletion === 'Orphan' || resource.spec.managementPolicy === 'Observe',
      observeOnly: resource.spec.managementPolicy === 'Observe',
      paused: isPaused(resource),
      isProtected: this.#kind.isProtected?.(resource) === true,
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
      created: memory.created,
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
      recreation: () => this.#effects.recreation(resource, memory),
      inStep: (desired) => this.#kind.inStep(resource, desired),
      refusal: (desired) => this.#effects.refusal(memory, desired),
    };
  }

  /** Who owns, or shall own, the record: what was said when its create was intended holds until status says it. */
  owner(resource: R, home: Place | undefined, memory: M, handle: ConnectionHandle): string {
    if (home !== undefined) {
      memory.owner = undefined;
      return home.owner;
    }
    const text = resource.metadata.annotations?.[ANNOTATIONS.createIntent] ?? memory.intent?.text;
    const { place } = parseIntent(text, '', this.#claims.intents(resource)) ?? {};
    if (place?.endpoint === handle.endpoint) memory.owner = place.owner;
    return memory.owner ?? resource.spec.owner ?? this.#kind.listing.owner(handle);
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
      concludeFromBare: concludesFrom(memory.intent.seenAt, lag * WINDOWS_WHEN_ALL_GONE),
      sentTo: sentElsewhere(intent, pass),
    };
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
