import { Tally } from './tally.ts';

/** Gives a place back; may be called again. */
export type Leave = () => void;

interface Waiter {
  go(): void;
}

/**
 * Places at something that only so many can use at a time, shared by owners (namespaces): whoever waits has the next one
 * in turn with the other owners, and one owner never has all of them.
 */
export class Places {
  readonly #places: number;
  readonly #each: number;
  readonly #taken = new Tally();
  /** Who waits, by owner, in the order of their turns. */
  readonly #waiting = new Map<string, Set<Waiter>>();

  /** @param each - what one owner may have at the most. */
  constructor({ places, each }: { places: number; each: number }) {
    this.#places = places;
    this.#each = each;
  }

  /** Resolves with a place; rejects with the signal's reason where that is aborted before. */
  async take(owner: string, signal?: AbortSignal): Promise<Leave> {
    signal?.throwIfAborted();
    if (this.#isFree(owner)) {
      this.#taken.add(owner, 1);
    } else {
      await this.#wait(owner, signal);
    }
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#taken.add(owner, -1);
      this.#serve();
    };
  }

  #isFree(owner: string): boolean {
    return this.#taken.total < this.#places && this.#taken.of(owner) < this.#each;
  }

  #wait(owner: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const line = this.#waiting.get(owner) ?? new Set();
      this.#waiting.set(owner, line);
      const onAbort = (): void => {
        line.delete(waiter);
        if (line.size === 0 && this.#waiting.get(owner) === line) this.#waiting.delete(owner);
        reject(signal?.reason as Error);
      };
      const waiter = {
        go: () => {
          signal?.removeEventListener('abort', onAbort);
          // Taken for it: nobody may get in between.
          this.#taken.add(owner, 1);
          resolve();
        },
      };
      line.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #serve(): void {
    for (const [owner, line] of this.#waiting) {
      if (!this.#isFree(owner)) continue;
      const [next] = line;
      // That owner comes last from then on.
      this.#waiting.delete(owner);
      if (next === undefined) continue;
      line.delete(next);
      if (line.size > 0) this.#waiting.set(owner, line);
      next.go();
    }
  }
}
