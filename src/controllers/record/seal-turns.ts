/** Milliseconds between two claims that are sealed for no other reason than that they are not. */
const APART_MS = 1_000;

/** Whose turn it is to have its claim sealed, over all kinds: an upgrade must not write to every resource at once. */
export class SealTurns {
  #next = -Infinity;

  /** Takes the turn, where it is free; `now` is monotonic. */
  take(now: number): boolean {
    if (now < this.#next) return false;
    this.#next = now + APART_MS;
    return true;
  }
}
