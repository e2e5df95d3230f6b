/**
 * Does a record exist? One answer never proves that it does not: see protocols of existence in
 * docs/adr/0004-observe-decide-act-record.md. The only maker of {@link Absent} is {@link AbsenceLog}, so code
 * that needs a proof cannot be handed a mere 404.
 */
const proof: unique symbol = Symbol('proof of absence');

/** The proof that a record is gone. */
export interface Absent {
  kind: 'absent';
  /** One look was enough, after our own delete: it is looked for once more later. */
  shorter?: true;
  readonly [proof]: true;
}

/** What is known of a record: present, proved gone, or neither. */
export type Existence<T> = { kind: 'found'; record: T; startedAt: number } | Absent | Unproved;

/** It was not seen, but that proves nothing yet: look again after `recheckAfterMs`. */
export interface Unproved {
  kind: 'unproved';
  recheckAfterMs: number;
  /** So many looks in a row have not shown it. */
  looks: number;
  /** This look agrees with its being gone in every part. */
  counts: boolean;
  /** Everything that resources here hold in that workspace is missing at once. */
  allGone: boolean;
  /** The resource is being deleted: the answer to a DELETE would say more than further reads. */
  askByDelete?: true;
}

/** One look that did not see the record. All parts come from the same credential. */
export interface AbsentLook {
  /** Id of the record. */
  id: string;
  /** When the look began, monotonic milliseconds. */
  startedAt: number;
  /** The single GET answered in a way that counts: with 404. */
  missing: boolean;
  /** The owner workspace could be read. */
  workspaceReadable: boolean;
  /** The workspace's list holds the id. */
  listed: boolean;
  /** The list is empty, and resources here hold two records in it at the least. */
  allGone?: boolean;
}

/** A proof takes so long at the least, whatever the lag window, milliseconds. */
const SHORTEST_PROOF_MS = 20_000;
/** A proof takes so many looks at the least. */
const LOOKS_NEEDED = 3;
/** Where everything is gone at once a lost role is likelier: the proof takes so many windows. */
export const WINDOWS_WHEN_ALL_GONE = 5;
/** After the first look that does not see it another comes so soon, milliseconds; then less and less often. */
const FIRST_LOOK_MS = 1_000;

/** Collects looks at the record of one resource until they prove that it is gone. */
export class AbsenceLog {
  /** Of which record it speaks. */
  #id: string | undefined;
  /** When the looks that count began, when the last of them was, and those a quarter of the window apart. */
  #run: { since: number; last: number; counted: number; countedAt: number } | undefined;
  #looks = 0;
  #isProved = false;
  #lastWriteAt: number | undefined;

  /** When the last write of ours to the record ended, monotonic milliseconds. */
  get lastWriteAt(): number | undefined {
    return this.#lastWriteAt;
  }

  /** A write of ours to the record was answered, or its outcome is unknown, at `at` (monotonic milliseconds). */
  noteWrite(at: number): void {
    this.#lastWriteAt = at;
    this.#run = undefined;
    this.#isProved = false;
  }

  /** The record was seen. */
  noteFound(): void {
    this.#run = undefined;
    this.#looks = 0;
    this.#isProved = false;
  }

  /**
   * Adds a look. Gone is what no look has shown for a window (a lag window, or {@link SHORTEST_PROOF_MS}) since the
   * first such look or our last write, in three looks a quarter of the window apart at the least. A look that
   * proves nothing counts neither way, but more than half a window without one that counts begins anew. What is
   * proved stays so, until the record or an entry of it is seen or we write.
   */
  note(look: AbsentLook, lagWindowMs: number): Absent | Unproved {
    const window = Math.max(lagWindowMs, SHORTEST_PROOF_MS);
    const spacing = window / 4;
    const allGone = look.allGone === true;
    if (look.id !== this.#id) this.noteFound();
    this.#id = look.id;
    this.#looks += 1;
    const again = (longest: number): Unproved => ({
      kind: 'unproved',
      recheckAfterMs: Math.min(FIRST_LOOK_MS * 2 ** (this.#looks - 1), longest),
      looks: this.#looks,
      counts: !look.listed && look.missing && look.workspaceReadable,
      allGone,
    });
    if (look.listed) {
      this.#run = undefined;
      this.#isProved = false;
    }
    if (look.listed || !look.missing || !look.workspaceReadable) return again(spacing);
    if (this.#isProved) return { kind: 'absent', [proof]: true };
    const { startedAt } = look;
    const run = this.#run;
    if (run === undefined || startedAt - run.last > window / 2) {
      this.#run = { since: startedAt, last: startedAt, counted: 1, countedAt: startedAt };
      return again(spacing);
    }
    run.last = startedAt;
    if (startedAt - run.countedAt >= spacing) {
      run.counted += 1;
      run.countedAt = startedAt;
    }
    const from = run.since + window * (allGone ? WINDOWS_WHEN_ALL_GONE : 1);
    this.#isProved = run.counted >= LOOKS_NEEDED && startedAt >= from;
    if (this.#isProved) return { kind: 'absent', [proof]: true };
    return again(startedAt < from ? Math.min(spacing, from - startedAt) : spacing);
  }
}

/** What our own DELETEs were answered with, for {@link goneAfterDelete}. */
export type DeleteStanding =
  /** A delete was answered 2xx. */
  | 'accepted'
  /** One was sent, and whether it was carried out is not known. */
  | 'unanswered'
  /** Two DELETEs were answered 404 at a time when no write of ours could still be on its way. */
  | 'missing';

/**
 * After our own delete, or two of our DELETEs that found nothing, one look is enough, and a 403 counts like a 404:
 * builds of the service differ in what they answer for a deleted record (service-behaviour.md 2.2). After a delete of
 * unknown outcome a 403 alone does not: that may be a lost role.
 */
export function goneAfterDelete(
  look: { status: number | undefined; listed: boolean; workspaceReadable: boolean },
  standing: DeleteStanding | undefined,
): Absent | undefined {
  if (standing === undefined || look.listed || !look.workspaceReadable) return undefined;
  const gone = look.status === 404 || (look.status === 403 && standing !== 'unanswered');
  return gone ? { kind: 'absent', shorter: true, [proof]: true } : undefined;
}
