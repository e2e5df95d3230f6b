import type { AnyRecord, Read } from '../../../service/index.ts';
import type { Pass, RecordKind } from '../kind.ts';
import type { Memory } from '../memory.ts';
import { GLANCES_LIMIT, isNewer } from '../observed.ts';
import type { ManagedResource } from '../resource.ts';

/** Gives the resource of a key, as `namespace/name`, a turn now. */
export type Wake = (key: string) => void;

/** What a glance has shown. */
export interface Glance<Rec> {
  record: Rec;
  /** When the list began. */
  startedAt: number;
}

/** Looks at records in the lists of their workspaces, which all looks that fall due together share. */
export class Glances<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #wake: Wake;

  constructor(kind: RecordKind<R, Rec, Desired, M>, wake: Wake) {
    this.#kind = kind;
    this.#wake = wake;
  }

  /**
   * A look that no person has asked for first glances at the list, a deletion's as well. An entry that shows nothing new
   * stands for what was read singly, one that shows the end of the operation under way for that. Undefined: whatever
   * else it shows is read singly, as is what is acted upon.
   */
  async look(pass: Pass<R, Rec, M>, id: string): Promise<Glance<Rec> | undefined> {
    const { memory, handle } = pass;
    const known = memory.observed?.record;
    const deleting = isDeleting(pass);
    if (known?.id !== id || memory.glances >= GLANCES_LIMIT) return undefined;
    if (deleting ? memory.deletes.standing !== undefined : pass.priority.byPerson) return undefined;
    const begun = Math.max(
      memory.lastWriteEndedAt ?? -Infinity,
      deleting ? memory.deletes.begin(false, handle.client.stamp()) : -Infinity,
    );
    const { listing } = this.#kind;
    const list: Read<readonly AnyRecord[]> = await handle.client.shared.list(
      listing.family,
      listing.at(pass.owner),
      {
        ...(begun === -Infinity ? {} : { notBefore: begun }),
        maxAgeMs: handle.poll.processingMs / 4,
        priority: pass.priority,
        signal: pass.signal,
      },
    );
    if (list.kind !== 'found') return undefined;
    const { startedAt } = list;
    // The family of the list decides what its entries are; TypeScript cannot tie the two type parameters.
    const entry = list.record.find((other) => other.id === id) as Rec | undefined;
    if (entry === undefined) return undefined;
    const ended = this.#ended(entry, known, deleting);
    if (ended === undefined && !this.#kind.showsNothingNew(entry, known)) return undefined;
    memory.glances += 1;
    memory.attempts.succeeded('read', '');
    // One look that shows it ends the doubt, whichever list that is.
    memory.created = undefined;
    memory.absence.noteFound();
    memory.deletes.noteFound();
    if (ended === undefined) return { record: known, startedAt };
    memory.attempts.clearAspect('create');
    memory.observed = { record: ended, startedAt, takeOver: false };
    return { record: ended, startedAt };
  }

  /** What our last write has begun runs, and nothing can be done about it yet. */
  hasJustBegun({ lastWriteEndedAt }: M, { record, startedAt }: Glance<Rec>): boolean {
    return startedAt === lastWriteEndedAt && this.#kind.runs?.(record) === true;
  }

  /** From now on the resource has its turn as soon as any list shows that what runs has ended. */
  watch(pass: Pass<R, Rec, M>, record: Rec | undefined): void {
    const { memory, resource, handle, owner } = pass;
    endWatch(memory);
    if (record === undefined || this.#kind.runs?.(record) !== true) return;
    const { namespace, name } = resource.metadata;
    const { listing } = this.#kind;
    // Neither the record nor the pass stays in hand for the wait: they may be large, and count among what is remembered.
    const { id, updated } = record;
    const deleting = isDeleting(pass);
    memory.unwatch = handle.client.shared.watch(listing.family, listing.at(owner), id, (other) => {
      // Whoever looks hears of lists by itself.
      if (memory.isLooking) return;
      const entry = other as unknown as Rec;
      const known = memory.observed?.record;
      const hasEnded =
        known === undefined
          ? isNewer(entry, { updated }) && this.#kind.runs?.(entry) !== true
          : this.#ended(entry, known, deleting) !== undefined;
      if (!hasEnded) return;
      endWatch(memory);
      this.#wake(`${namespace}/${name}`);
    });
  }

  /** The record as an entry shows it after the operation that `known` shows running. */
  #ended(entry: Rec, known: Rec, deleting: boolean): Rec | undefined {
    return isNewer(entry, known) ? this.#kind.ended?.(entry, known, deleting) : undefined;
  }
}

function isDeleting({ resource }: { resource: ManagedResource }): boolean {
  return resource.metadata.deletionTimestamp !== undefined;
}

function endWatch(memory: Pick<Memory, 'unwatch'>): void {
  memory.unwatch?.();
  memory.unwatch = undefined;
}
