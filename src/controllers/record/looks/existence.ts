import type { AnyRecord } from '../../../service/index.ts';
import { goneAfterDelete, type Existence } from '../existence.ts';
import { awayFrom, isAtHome } from '../home.ts';
import type { Pass, RecordKind } from '../kind.ts';
import type { Memory } from '../memory.ts';
import { isOlder } from '../observed.ts';
import type { ManagedResource } from '../resource.ts';
import { verdict } from '../status/verdict.ts';
import { Glances, type Wake } from './glance.ts';
import { failedRead, seen, type Looked } from './looked.ts';

/** An answer to our own write is taken over instead of a read for so long. */
const TAKE_OVER_MS = 2_000;
/** Fingerprint of looks for a record that lives elsewhere. */
const AWAY = 'away';
/** And for one that only a DELETE says to be there. */
const HIDDEN = 'hidden';

/** Looks whether the record that a resource claims exists. */
export class ExistenceLooks<
  R extends ManagedResource,
  Rec extends AnyRecord,
  Desired,
  M extends Memory<Rec>,
> {
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  /** How many records of an owner resources here hold, in the list of this kind. */
  readonly #held: (owner: string, endpoint: string) => number;
  readonly #glances: Glances<R, Rec, Desired, M>;

  constructor(
    kind: RecordKind<R, Rec, Desired, M>,
    { held, wake }: { held: (owner: string, endpoint: string) => number; wake: Wake },
  ) {
    this.#kind = kind;
    this.#held = held;
    this.#glances = new Glances(kind, wake);
  }

  /** Does the claimed record exist? Takes over what the last write answered; else reads. */
  async look(pass: Pass<R, Rec, M>, id: string): Promise<Looked<Existence<Rec>>> {
    const { memory } = pass;
    memory.isLooking = true;
    try {
      const looked = await this.#look(pass, id);
      const value = looked.kind === 'seen' ? looked.value : undefined;
      this.#glances.watch(pass, value?.kind === 'found' ? value.record : undefined);
      return looked;
    } finally {
      memory.isLooking = false;
    }
  }

  async #look(pass: Pass<R, Rec, M>, id: string): Promise<Looked<Existence<Rec>>> {
    const { memory, handle } = pass;
    const deleting = pass.resource.metadata.deletionTimestamp !== undefined;
    if (deleting) memory.deletes.begin(mayHaveDeleted(pass, this.#kind), handle.client.stamp());
    // What another service was seen to hold says nothing of this one's.
    if (!isAtHome(pass.home, handle)) memory.observed = undefined;
    const taken = memory.observed;
    const isFresh =
      taken?.takeOver === true ||
      (!deleting && taken !== undefined && this.#glances.hasJustBegun(memory, taken));
    if (isFresh && taken?.record.id === id) {
      memory.observed = { ...taken, takeOver: false };
      if (handle.client.stamp() - taken.startedAt < TAKE_OVER_MS) return found(taken.record, taken.startedAt);
    }
    const glance = await this.#glances.look(pass, id);
    if (glance !== undefined) return found(glance.record, glance.startedAt);
    const begun = handle.client.stamp();
    const read = await this.#kind.read(handle, id, { priority: pass.priority, signal: pass.signal });
    if (read.kind === 'found') {
      memory.attempts.succeeded('read', '');
      memory.attempts.succeeded('read', AWAY);
      memory.attempts.succeeded('read', HIDDEN);
      // Only now: a create may be answered with a record that no read ever shows.
      memory.attempts.clearAspect('create');
      memory.created = undefined;
      memory.glances = 0;
      memory.absence.noteFound();
      memory.deletes.noteFound();
      const lagEnds = (memory.lastWriteEndedAt ?? -Infinity) + handle.poll.lagWindowMs;
      if (read.startedAt < lagEnds && isOlder(read.record, memory.observed?.record)) {
        // The service's reads may trail its writes: what our write was answered with is newer than this.
        return found(memory.observed?.record ?? read.record, read.startedAt);
      }
      memory.observed = { record: read.record, startedAt: read.startedAt, takeOver: false };
      return found(read.record, read.startedAt);
    }
    const status = read.kind === 'missing' ? 404 : read.error.status;
    const counts = read.kind === 'missing' || (memory.deletes.standing !== undefined && status === 403);
    const away = awayFrom(pass, this.#kind.noun);
    if (away !== undefined && (counts || status === 403)) {
      return { kind: 'failed', verdict: memory.attempts.missed('read', AWAY, away) };
    }
    if (!counts) {
      return failedRead(read, pass, this.#kind.listing.missing);
    }
    return this.#absence(pass, id, { status, startedAt: read.kind === 'missing' ? read.startedAt : begun });
  }

  async #absence(
    pass: Pass<R, Rec, M>,
    id: string,
    answer: { status: number | undefined; startedAt: number },
  ): Promise<Looked<Existence<Rec>>> {
    const { memory, handle, owner } = pass;
    const options = { priority: pass.priority, signal: pass.signal };
    const { listing } = this.#kind;
    const list = await handle.client.shared.list(listing.family, listing.at(owner), {
      ...options,
      notBefore: handle.client.stamp(),
    });
    if (list.kind !== 'found') return failedRead(list, pass, listing.missing);
    const listed = list.record.some((entry) => entry.id === id);
    const workspaceReadable = await listing.isReadable(pass);
    const { absence, deletes } = memory;
    const { standing } = deletes;
    const gone = goneAfterDelete({ status: answer.status, listed, workspaceReadable }, standing);
    if (gone !== undefined) return seen(gone, list.startedAt);
    const { lagWindowMs, processingMs } = handle.poll;
    const proof = absence.note(
      {
        id,
        startedAt: answer.startedAt,
        // Nobody else answers 403 here for what a delete of ours may have taken away.
        missing: !deletes.sayItIsThere && (answer.status === 404 || standing !== undefined),
        workspaceReadable,
        listed,
        allGone: list.record.length === 0 && this.#held(owner, handle.endpoint) >= 2,
      },
      lagWindowMs,
    );
    if (proof.kind === 'absent' || pass.resource.metadata.deletionTimestamp === undefined) {
      return seen(proof, list.startedAt);
    }
    if (standing === 'unanswered' && answer.status === 403) return seen(proof, list.startedAt);
    const soon = Math.min(proof.recheckAfterMs, processingMs);
    if (standing !== undefined) return seen({ ...proof, recheckAfterMs: soon }, list.startedAt);
    const askInMs = deletes.nextInMs(handle.client.stamp(), absence.lastWriteAt, lagWindowMs);
    if (deletes.sayItIsThere && askInMs === 0) {
      // It may stay so for ever: it is looked at less and less often, and the next DELETE is the ledger's to allow.
      const said = memory.attempts.missed('read', HIDDEN, verdict('Deleting', 'not seen'));
      return seen(
        { ...proof, askByDelete: true, recheckAfterMs: said.recheckAfterMs ?? soon },
        list.startedAt,
      );
    }
    return seen(
      askInMs === 0
        ? { ...proof, askByDelete: true }
        : { ...proof, recheckAfterMs: Math.min(proof.recheckAfterMs, askInMs) },
      list.startedAt,
    );
  }
}

/** Whether a process before this one may have sent a delete for the present deletion. */
function mayHaveDeleted<R extends ManagedResource, Rec extends AnyRecord, M extends Memory<Rec>>(
  { resource }: Pass<R, Rec, M>,
  kind: Pick<RecordKind<R, Rec, never, M>, 'mayBeDeleted'>,
): boolean {
  const { deleteSentAt } = resource.status;
  const { deletionTimestamp } = resource.metadata;
  if (deleteSentAt === undefined || deletionTimestamp === undefined) return false;
  return Date.parse(deleteSentAt) >= Date.parse(deletionTimestamp) && kind.mayBeDeleted?.(resource) !== false;
}

function found<Rec>(record: Rec, startedAt: number): Looked<Existence<Rec>> {
  return seen({ kind: 'found', record, startedAt }, startedAt);
}
