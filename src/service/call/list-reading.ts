import { JsonList } from '../../base/json-list.ts';
import type { JsonLimits } from '../../base/json-size.ts';
import { weigh } from '../../base/memory-budget.ts';
import type { BodySink } from '../port.ts';
import { BadAnswer, unreadable, withoutPrototypes } from './decode.ts';

/** Turns one entry of a list into what is kept of it; undefined: nothing is. Throws {@link BadAnswer}. */
export type EntryDecoder<Entry> = (entry: unknown) => Entry | undefined;

/**
 * Reads one list as it arrives: of each entry only what somebody looks at is kept. The first thing that is wrong ends
 * it, and comes out at the end.
 */
export class ListReading<Entry> implements BodySink {
  readonly #list: JsonList;
  readonly #entries: Entry[] = [];
  #weight = 0;
  #head: Uint8Array | undefined;
  #wrong: BadAnswer | undefined;

  constructor(limits: JsonLimits, decode: EntryDecoder<Entry>) {
    this.#list = new JsonList({
      limits,
      take: (elements) => {
        for (const element of elements) {
          withoutPrototypes(element);
          const entry = decode(element);
          if (entry === undefined) continue;
          this.#entries.push(entry);
          this.#weight += weigh(entry);
        }
      },
    });
  }

  /** What the entries weigh, see `weightOf`. */
  get weight(): number {
    return this.#weight;
  }

  get heldBytes(): number {
    return this.#weight + this.#list.heldBytes;
  }

  push(piece: Uint8Array): boolean {
    this.#head ??= piece.subarray(0, 256);
    if (this.#wrong === undefined) this.#attempt(() => this.#list.push(piece));
    return this.#wrong === undefined;
  }

  /** @throws BadAnswer */
  end(): readonly Entry[] {
    if (this.#wrong === undefined) this.#attempt(() => this.#list.end());
    if (this.#wrong !== undefined) throw this.#wrong;
    return this.#entries;
  }

  #attempt(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#wrong = this.#told(error);
      // Nobody looks at it any more.
      this.#entries.length = 0;
      this.#weight = 0;
    }
  }

  #told(error: unknown): BadAnswer {
    if (error instanceof SyntaxError && this.#isOther) return new BadAnswer('the answer is not a list');
    return unreadable(error, this.#head ?? new Uint8Array());
  }

  /** It may well be JSON, but of something else. */
  get #isOther(): boolean {
    return /^\s*["{\dtfn-]/.test(Buffer.from(this.#head ?? []).toString('latin1'));
  }
}
