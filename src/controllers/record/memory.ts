import type { Clock, Random } from '../../base/clock.ts';
import type { AnyRecord, ServiceClient } from '../../service/index.ts';
import { Attempts } from './attempts.ts';
import { Deletes } from './deletes.ts';
import { AbsenceLog } from './existence.ts';
import { ServiceWarnings } from './warnings.ts';

/** How the last create that this process sent ended. */
export type SentOutcome = 'unsent' | 'refused' | 'unknown';

/**
 * What this process remembers of one resource between passes. Losing it costs reads and waiting, never
 * correctness: everything that must survive a crash is in the resource itself.
 */
export interface Memory<Rec extends AnyRecord = AnyRecord> {
  readonly uid: string;
  /** When this process first handled the resource, on the service client's clock. */
  readonly firstSeenAt: number;
  /**
   * The newest single representation. `takeOver`: the next pass takes it over instead of a read, since a write was
   * answered with it or only status was written since.
   */
  observed: { record: Rec; startedAt: number; takeOver: boolean } | undefined;
  /** When the last write to the record was answered. Reads that began earlier do not count. */
  lastWriteEndedAt: number | undefined;
  /** The create-intent that this process knows about, by its text. */
  intent: { text: string; seenAt: number; outcome: SentOutcome } | undefined;
  /** The workspace of the create that was intended, until status says whose the record is. */
  owner: string | undefined;
  /** The record that a create of ours was answered with, as long as no read has shown it. */
  created: string | undefined;
  /** What the DELETEs that were sent for the resource say. */
  readonly deletes: Deletes;
  /** Ends the wait for a list that shows the end of what runs. */
  unwatch: (() => void) | undefined;
  /** A pass is looking at the record: it hears of lists by itself. */
  isLooking: boolean;
  /** Glances at a list in a row since the record was last read singly. */
  glances: number;
  readonly absence: AbsenceLog;
  readonly attempts: Attempts;
  /** Records that the resource names by plain id, by field and id: whether the service knows them. */
  readonly plainIds: Map<string, { isKnown: boolean; missingSince?: number }>;
  /** What the service has warned of. */
  readonly warnings: ServiceWarnings;
  /** An Event has said that resources of other namespaces name the record. */
  isOthersTold: boolean;
  /** Who the last pass spoke to the service as: others may be let do what these were not. */
  client: ServiceClient | undefined;
  /** When this process first handled the present generation; `isNew`: nobody had before. */
  generation: { value: number; since: number; isNew: boolean } | undefined;
}

/** Memories by key of the resource; a new uid under an old name starts anew. */
export class Memories<Rec extends AnyRecord, M extends Memory<Rec> = Memory<Rec>> {
  readonly #byKey = new Map<string, M>();
  /** By key of the resource, then by id of an earlier record of it. */
  readonly #former = new Map<string, Map<string, M>>();
  readonly #create: (base: Memory<Rec>) => M;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(create: (base: Memory<Rec>) => M, { clock, random }: { clock: Clock; random: Random }) {
    this.#create = create;
    this.#clock = clock;
    this.#random = random;
  }

  of(key: string, uid: string): M {
    const known = this.#byKey.get(key);
    if (known !== undefined && known.uid === uid) return known;
    this.forget(key);
    const fresh = this.#fresh(uid);
    this.#byKey.set(key, fresh);
    return fresh;
  }

  /** What is remembered of an earlier record of a resource. */
  ofFormer(key: string, uid: string, id: string): M {
    const former = this.#former.get(key) ?? new Map<string, M>();
    this.#former.set(key, former);
    const known = former.get(id) ?? this.#fresh(uid);
    former.set(id, known);
    return known;
  }

  /** Forgets all earlier records of a resource but these. */
  keepFormer(key: string, ids: ReadonlySet<string>): void {
    const former = this.#former.get(key);
    if (former === undefined) return;
    for (const [id, memory] of former) {
      if (ids.has(id)) continue;
      memory.unwatch?.();
      former.delete(id);
    }
    if (former.size === 0) this.#former.delete(key);
  }

  /** What is forgotten waits for no list any more. */
  forget(key: string): void {
    this.#byKey.get(key)?.unwatch?.();
    this.keepFormer(key, new Set());
    this.#byKey.delete(key);
  }

  #fresh(uid: string): M {
    const now = this.#clock.monotonic();
    const absence = new AbsenceLog();
    // A write of the process before this one may be younger than the service's lag: count it as just done.
    absence.noteWrite(now);
    return this.#create({
      uid,
      firstSeenAt: now,
      observed: undefined,
      lastWriteEndedAt: undefined,
      intent: undefined,
      owner: undefined,
      created: undefined,
      deletes: new Deletes(),
      unwatch: undefined,
      isLooking: false,
      glances: 0,
      absence,
      attempts: new Attempts(this.#clock, this.#random),
      plainIds: new Map(),
      warnings: new ServiceWarnings(),
      isOthersTold: false,
      client: undefined,
      generation: undefined,
    });
  }
}
