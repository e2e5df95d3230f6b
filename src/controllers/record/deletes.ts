import type { Write } from '../../service/index.ts';
import type { DeleteStanding } from './existence.ts';

/** Two DELETEs that prove something by a 404 are so far apart at the least, milliseconds. */
const DELETES_APART_MS = 2_000;

/** When an answer to a DELETE can be trusted. */
interface Trust {
  /** A 404 to a DELETE that was sent earlier (monotonic milliseconds) may come from before our last write. */
  from: number;
}

/**
 * What the DELETEs that were sent for one resource say about its record. Only a *delete* makes a record vanish: an
 * accepted terminate leaves one, and proves nothing. An accepted delete stays accepted, whatever a later DELETE is
 * answered.
 */
export class Deletes {
  #since: number | undefined;
  #delete: 'accepted' | 'unanswered' | undefined;
  #missing: { first: number; last: number } | undefined;
  #forbiddenSince: number | undefined;
  #isThere = false;

  /**
   * This process looks at the deletion for the first time, at `now` (monotonic milliseconds). `unanswered`: an earlier
   * one may have sent a delete. Answers when that was: a clock that is set shortens no wait.
   */
  begin(unanswered: boolean, now: number): number {
    if (this.#since !== undefined) return this.#since;
    this.#since = now;
    if (unanswered) this.#delete = 'unanswered';
    return now;
  }

  /** What they prove so far. */
  get standing(): DeleteStanding | undefined {
    if (this.#delete !== undefined) return this.#delete;
    const missing = this.#missing;
    return missing !== undefined && missing.last - missing.first >= DELETES_APART_MS ? 'missing' : undefined;
  }

  /** Since when DELETEs are answered 403, monotonic milliseconds. */
  get forbiddenSince(): number | undefined {
    return this.#forbiddenSince;
  }

  /** The last answer was 409, or that a terminate was accepted: the record is there, whatever reads show. */
  get sayItIsThere(): boolean {
    return this.#isThere;
  }

  /** In how many milliseconds another DELETE could add to the proof, by a service that shows writes after `lagMs`. */
  nextInMs(now: number, lastWriteAt: number | undefined, lagMs: number): number {
    const settled = (lastWriteAt ?? -Infinity) + lagMs;
    const apart = (this.#missing?.first ?? -Infinity) + DELETES_APART_MS;
    return Math.max(0, settled - now, apart - now);
  }

  /** The record was seen. */
  noteFound(): void {
    this.#missing = undefined;
    this.#forbiddenSince = undefined;
    this.#isThere = false;
  }

  /** Notes a DELETE before it goes, so that whatever ends the pass leaves it noted, and then its answer. */
  async sending<T>(how: string, { from }: Trust, send: () => Promise<Write<T>>): Promise<Write<T>> {
    const before = this.#delete;
    const isDelete = how === 'delete';
    if (isDelete) this.#delete ??= 'unanswered';
    const write = await send();
    if (write.kind === 'unknown') return write;
    if (write.kind === 'ok') {
      if (isDelete) this.#delete = 'accepted';
      this.noteFound();
      this.#isThere = !isDelete;
      return write;
    }
    this.#delete = before;
    if (write.kind !== 'refused') return write;
    const { status } = write.error;
    if (status === 403) this.#forbiddenSince ??= write.startedAt;
    if (status === 404 && write.startedAt >= from) {
      this.#missing = { first: this.#missing?.first ?? write.startedAt, last: write.startedAt };
    }
    if (status === 409) this.noteFound();
    if (status === 409 || status === 404) this.#isThere = status === 409;
    return write;
  }
}
