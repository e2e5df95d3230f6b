/** Milliseconds between two claims that are sealed for no other reason than that they are not. */
const APART_MS = 1_000;
/** Who does not come for its turn loses it after so long, milliseconds: it may be gone. */
const LATE_MS = 60_000;

/** Who of a namespace has its next turn, and when. */
interface Place {
  key: string;
  at: number;
}

/**
 * Whose turn it is to have its claim sealed, over all kinds: an upgrade must not write to every resource at once. Each
 * namespace has one place in the line, however many resources it has.
 */
export class SealTurns {
  readonly #places = new Map<string, Place>();
  /** When the next turn that nobody has is due. */
  #next = -Infinity;
  /** When the last turn was taken: who comes late takes no two at once. */
  #last = -Infinity;

  /**
   * Takes a turn. Undefined: it is now. Otherwise how long until it, milliseconds, or Infinity where another resource of
   * the namespace has the place.
   *
   * @param key - tells the resource from all others. @param now - monotonic.
   */
  take(namespace: string, key: string, now: number): number | undefined {
    this.#forgetLate(now);
    const place = this.#places.get(namespace);
    if (place !== undefined && place.key !== key) return Infinity;
    if (place !== undefined && now < place.at) return place.at - now;
    if (place === undefined && now < this.#next) {
      const at = this.#next;
      this.#next += APART_MS;
      this.#places.set(namespace, { key, at });
      return at - now;
    }
    const again = this.#last + APART_MS - now;
    if (again > 0) return again;
    this.#places.delete(namespace);
    this.#last = now;
    this.#next = Math.max(this.#next, now + APART_MS);
    return undefined;
  }

  /** Places are in the order of their turns. */
  #forgetLate(now: number): void {
    for (const [namespace, { at }] of this.#places) {
      if (now < at + LATE_MS) return;
      this.#places.delete(namespace);
    }
  }
}
