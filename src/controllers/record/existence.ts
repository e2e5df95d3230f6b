/**
 * Does a record exist? One answer never proves that it does not: see protocols of existence in
 * docs/adr/0004-observe-decide-act-record.md. The only maker of {@link Absent} is {@link AbsenceLog}, so code
 * that needs a proof cannot be handed a mere 404.
 */
const proof: unique symbol = Symbol('proof of absence');

/** The proof that a record is gone. */
export interface Absent {
  kind: 'absent';
  readonly [proof]: true;
}

/** What is known of a record: present, proved gone, or neither. */
export type Existence<T> =
  | { kind: 'found'; record: T; startedAt: number }
  | Absent
  /** It was not seen, but that proves nothing yet: look again after `recheckAfterMs`. */
  | { kind: 'unproved'; recheckAfterMs: number };

/** One look that did not see the record. All three parts come from the same credential. */
export interface AbsentLook {
  /** When the look began, monotonic milliseconds. */
  startedAt: number;
  /** When the single GET answered 404. */
  missing: boolean;
  /** The owner workspace could be read. */
  workspaceReadable: boolean;
  /** The workspace's list holds the id. */
  listed: boolean;
}

/** Milliseconds between two looks when nothing of ours was written to the record. */
export const LOOK_SPACING_MS = 10_000;

/** Collects looks at one record until they prove that it is gone. */
export class AbsenceLog {
  #first: number | undefined;
  #lastWriteAt: number | undefined;

  /** A write of ours to the record was answered, or its outcome is unknown, at `at` (monotonic milliseconds). */
  noteWrite(at: number): void {
    this.#lastWriteAt = at;
    this.#first = undefined;
  }

  /** The record was seen. */
  noteFound(): void {
    this.#first = undefined;
  }

  /**
   * Adds a look. Gone is what two looks, {@link LOOK_SPACING_MS} apart, did not see, the second one at least
   * a lag window after our last write.
   */
  note(look: AbsentLook, lagWindowMs: number): Absent | { kind: 'unproved'; recheckAfterMs: number } {
    if (!look.missing || !look.workspaceReadable || look.listed) {
      this.#first = undefined;
      return { kind: 'unproved', recheckAfterMs: LOOK_SPACING_MS };
    }
    this.#first ??= look.startedAt;
    const notBefore = Math.max(
      this.#first + LOOK_SPACING_MS,
      this.#lastWriteAt === undefined ? 0 : this.#lastWriteAt + lagWindowMs,
    );
    if (look.startedAt >= notBefore) return { kind: 'absent', [proof]: true };
    return { kind: 'unproved', recheckAfterMs: notBefore - look.startedAt };
  }
}

/**
 * After our own accepted (or unanswered) DELETE one look is enough, and a 403 counts like a 404: builds of the
 * service differ in what they answer for a deleted record (service-behaviour.md 2.2).
 */
export function goneAfterDelete(look: { status: number | undefined; listed: boolean }): Absent | undefined {
  const gone = (look.status === 404 || look.status === 403) && !look.listed;
  return gone ? { kind: 'absent', [proof]: true } : undefined;
}
