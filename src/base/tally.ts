/** One owner (a namespace) holds at most this share of what all have, so that whoever fills theirs leaves room for others. */
export const OWNER_SHARE = 1 / 3;

/** What owners hold, each and together; one that holds nothing leaves nothing behind. */
export class Tally {
  readonly #byOwner = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(owner: string): number {
    return this.#byOwner.get(owner) ?? 0;
  }

  add(owner: string, by: number): void {
    this.#total += by;
    const own = this.of(owner) + by;
    if (own === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, own);
  }
}
