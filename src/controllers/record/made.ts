/** The record that was made, claimed or let go of for a marker last; undefined: what the create made is not known. */
export interface MadeRecord {
  id: string | undefined;
  /** When, on the service client's clock. */
  at: number;
}

/** What is over is looked for so often, milliseconds. */
const SWEEP_MS = 30_000;

/**
 * What was made, claimed or let go of for a marker last, for as long as a list may lack it, or its marker: one that is
 * older, or that trails. Each note has a time of its own, since connections say how long lists trail.
 */
export class MadeRecords {
  readonly #byMarker = new Map<string, MadeRecord & { until: number }>();
  #sweptAt = -Infinity;

  get size(): number {
    return this.#byMarker.size;
  }

  get(marker: string, now: number): MadeRecord | undefined {
    const made = this.#byMarker.get(marker);
    return made !== undefined && now < made.until ? made : undefined;
  }

  note(marker: string, made: MadeRecord & { until: number }): void {
    this.#byMarker.set(marker, made);
    this.sweep(made.at);
  }

  forget(marker: string): void {
    this.#byMarker.delete(marker);
  }

  /** Lets go of what is over, once in a while. */
  sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const [marker, { until }] of this.#byMarker) if (now >= until) this.#byMarker.delete(marker);
  }
}
