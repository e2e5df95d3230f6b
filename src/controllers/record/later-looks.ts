import { weigh } from '../../base/memory-budget.ts';
import { OWNER_SHARE, Tally } from '../../base/tally.ts';
import { eventTarget } from '../event-target.ts';
import type { AnyRecord } from '../../service/index.ts';
import type { Claims } from './claims.ts';
import type { ReconcileContext } from '../../kube/index.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import type { OperatorContext } from '../context.ts';
import type { Formers } from './former/formers.ts';
import type { Former } from './former/list.ts';
import type { Pass, RecordKind } from './kind.ts';
import type { Memory } from './memory.ts';
import { finalNameOf, type ManagedResource, type ResourceCache } from './resource.ts';
import type { Verdict } from './status/verdict.ts';

/** So many looks that say nothing are made; then whoever hides the record hides it for good. */
const LOOKS = 5;
/** What is still there after so long is left to whoever keeps it there, milliseconds. */
const LONGEST_MS = 24 * 3_600_000;
/** Fingerprint of looks at what cannot be ended now. */
const LATER = 'later';
/** So many are looked for, and of one namespace a share of these; then the oldest is looked for no more. */
const KEPT = 6_000;
/** Parts of a deleted resource that weigh no more are kept, bytes of the heap: they say how to end its record. */
const SMALL_PART = 1_024;

/** A record that was let go of after our own delete, and is looked for once more. */
interface Later<R> {
  resource: R;
  former: Former;
  marker: string;
  lagWindowMs: number;
  /** When it is looked for next, and at the latest, monotonic milliseconds. */
  dueAt: number;
  until: number;
  looks: number;
  isTold: boolean;
  /** Somebody was told that it takes a person to end it. */
  isHelpAsked: boolean;
}

/**
 * After our own delete one look is enough to let a resource go (existence.ts). What was let go so is looked for once
 * more when reads cannot trail any longer; where it is there after all and nobody has it, it is deleted, and an Event
 * says so. It lives in memory: a restart forgets it.
 */
export class LaterLooks<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #context: OperatorContext;
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #cache: ResourceCache<R>;
  readonly #formers: Formers<R, Rec, Desired, M>;
  readonly #claims: Claims<R>;
  readonly #memoryOf: (resource: R, id: string) => M;
  readonly #byKey = new Map<string, Later<R>>();
  readonly #counts = new Tally();

  constructor(
    context: OperatorContext,
    kind: RecordKind<R, Rec, Desired, M>,
    parts: {
      cache: ResourceCache<R>;
      formers: Formers<R, Rec, Desired, M>;
      claims: Claims<R>;
      memoryOf: (resource: R, id: string) => M;
    },
  ) {
    this.#context = context;
    this.#kind = kind;
    this.#cache = parts.cache;
    this.#formers = parts.formers;
    this.#claims = parts.claims;
    this.#memoryOf = parts.memoryOf;
  }

  /** Bytes of the heap that is kept of resources which are gone. */
  get held(): number {
    return weigh([...this.#byKey.values()].map(({ resource, former }) => [resource, former]));
  }

  /** Whether the record of a resource that is gone is still to be looked for. */
  isKept(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Notes what the resource of a pass is let go with. */
  note(key: string, { resource, marker, owner, handle, now }: Pass<R, Rec, M>, id: string): void {
    const { endpoint, poll } = handle;
    const noted = this.#context.clock.monotonic();
    const since = new Date(now).toISOString();
    this.#drop(key);
    this.#byKey.set(key, {
      resource: outlineOf(resource),
      former: { id, endpoint, owner, why: 'Surplus', since },
      marker,
      lagWindowMs: poll.lagWindowMs,
      dueAt: noted + poll.lagWindowMs,
      until: noted + LONGEST_MS,
      looks: 0,
      isTold: false,
      isHelpAsked: false,
    });
    const { namespace } = resource.metadata;
    this.#counts.add(namespace, 1);
    for (const [oldest, { resource: other }] of this.#byKey) {
      const isOwnFull = this.#counts.of(namespace) > KEPT * OWNER_SHARE;
      if (!isOwnFull && this.#counts.total <= KEPT) break;
      if (!isOwnFull || other.metadata.namespace === namespace) this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const known = this.#byKey.get(key);
    if (known === undefined) return;
    this.#byKey.delete(key);
    this.#counts.add(known.resource.metadata.namespace, -1);
  }

  /**
   * Looks where it is time. Answers in how many milliseconds to come back; undefined: there is nothing to look for.
   * Failures count as looks that say nothing.
   */
  async look(key: string, run: ReconcileContext): Promise<number | undefined> {
    const later = this.#byKey.get(key);
    if (later === undefined) return undefined;
    const { clock } = this.#context;
    const left = later.dueAt - clock.monotonic();
    if (left > 0) return left;
    const handle = this.#handle(later);
    const again =
      handle === undefined ? this.#saidNothing(later) : await this.#lookAt(key, later, handle, run);
    const now = clock.monotonic();
    if (again === undefined || now + again > later.until) {
      this.#drop(key);
      if (handle === undefined) this.#tellUnseen(later);
      return undefined;
    }
    later.dueAt = now + again;
    return again;
  }

  /** Its connection, or where that went with it, another to the same service and account. */
  #handle({ resource, former: { endpoint } }: Later<R>): ConnectionHandle | undefined {
    const { connections } = this.#context;
    const { namespace } = resource.metadata;
    const state = connections.resolve(namespace, resource.spec.connectionRef);
    const handle = state.kind === 'pending' ? undefined : state.handle;
    if (handle?.endpoint === endpoint) return handle;
    const { account } = resource.status.home ?? {};
    return account === undefined ? undefined : connections.alike(namespace, { endpoint, account });
  }

  #saidNothing(later: Later<R>): number | undefined {
    later.looks += 1;
    return later.looks < LOOKS ? later.lagWindowMs : undefined;
  }

  /** Answers when to look again; undefined: it is gone, or somebody's. */
  async #lookAt(
    key: string,
    later: Later<R>,
    handle: ConnectionHandle,
    run: ReconcileContext,
  ): Promise<number | undefined> {
    const { former, marker, resource } = later;
    const { priority, signal } = run;
    const read = await this.#kind.read(handle, former.id, { priority, signal });
    if (read.kind === 'missing') return undefined;
    const present = this.#cache.get(key);
    // Who has the name now looks for the marker, and takes it.
    const isWanted = present !== undefined && present.status.id === undefined;
    if (read.kind === 'unknown' || isWanted) return this.#saidNothing(later);
    if (this.#claims.holder(former, resource, read.record) !== undefined) return undefined;
    const { record } = read;
    const finalName = finalNameOf(resource);
    const { marked, named } = this.#kind.candidate(record, marker, finalName);
    const { clock, random } = this.#context;
    const pass: Pass<R, Rec, M> = {
      resource,
      memory: this.#memoryOf(resource, former.id),
      marker,
      handle,
      owner: former.owner,
      home: resource.status.home,
      priority,
      signal,
      secretsAfter: undefined,
      now: clock.now(),
      random,
    };
    const isNamesake = named && this.#kind.misfit(record, pass) === undefined;
    if (marked !== true && !isNamesake) return undefined;
    if (!later.isTold) this.#tell(later);
    later.isTold = true;
    const step = await this.#formers.remove(pass, { former, record });
    switch (step.kind) {
      case 'sent':
        return handle.poll.processingMs;
      case 'gone':
        return undefined;
      case 'note':
        later.former = step.former;
        return 0;
      case 'waits':
        return this.#waits(later, pass, step.verdict);
      default:
        return step satisfies never;
    }
  }

  /** It may be in the way for good, and there is no resource to say so: an Event does, and looks come less and less often. */
  #waits(later: Later<R>, { memory, handle }: Pass<R, Rec, M>, said: Verdict): number {
    const { recheckAfterMs = 0 } = memory.attempts.missed('read', LATER, said);
    if (said.reason === 'NeedsUser' && !later.isHelpAsked) {
      later.isHelpAsked = true;
      const what = `The ${this.#kind.noun} ${later.former.id}, which is there again after its deletion,`;
      this.#event(later, `${what} does not end though it was asked to several times: end it on the service`);
    }
    return Math.max(said.recheckAfterMs ?? 0, Math.min(recheckAfterMs, handle.poll.settledMs));
  }

  #tellUnseen(later: Later<R>): void {
    const what = `The ${this.#kind.noun} ${later.former.id} was deleted`;
    const why = 'no connection to its service is left to look whether it stays away';
    this.#event(later, `${what}, and ${why}: where it is still listed there, delete it on the service`);
  }

  #tell(later: Later<R>): void {
    const what = `The ${this.#kind.noun} ${later.former.id} was deleted, and is there again`;
    this.#event(later, `${what}; nobody has it: it is deleted once more`);
  }

  #event({ resource }: Later<R>, note: string): void {
    this.#context.recorder.event({
      regarding: eventTarget(this.#kind.type.kind, resource),
      type: 'Warning',
      reason: 'Deleting',
      action: 'Delete',
      note,
    });
  }
}

/** What is kept of a resource that is gone: by the thousand, and for a day. */
function outlineOf<R extends ManagedResource>(resource: R): R {
  const {
    annotations: _annotations,
    finalizers: _finalizers,
    labels: _labels,
    ownerReferences: _owners,
    ...metadata
  } = resource.metadata;
  return { ...resource, metadata, spec: smallIn(resource.spec), status: smallIn(resource.status) };
}

function smallIn<T extends object>(parts: T): T {
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => weigh(part) <= SMALL_PART)) as T;
}
