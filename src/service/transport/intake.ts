import { JsonSize, type CountedJson } from '../../base/json-size.ts';
import { Pieces } from '../../base/pieces.ts';
import { SMALL_HOLD, type Hold } from '../../base/memory-budget.ts';
import type { Turns } from '../../base/turns.ts';
import type { BodySink } from '../port.ts';

/** So much of a body waits here until there is a turn for it; more is left to the network, bytes. */
const WAITING = { high: 131_072, low: 32_768 };

/** What an {@link Intake} is made of. */
export interface IntakeOptions {
  turns: Turns;
  hold: Hold | undefined;
  /** Absent: the body is kept as it is. */
  sink: BodySink | undefined;
  /** Of the body, where no more is of use to anybody, bytes. @default all */
  keepBytes?: number | undefined;
  /** How long the body is, or may be, bytes. */
  mostBytes: number;
  /** How many values it may hold. @default any number */
  mostValues?: number | undefined;
  /** Aborted when the call is over, however it ends. */
  signal: AbortSignal;
  /** Stops and goes on with the reading of the connection. */
  flow: { pause(): void; resume(): void };
  /** The memory for it is not to be had, it holds too many values, or the sink wants no more. */
  onEnd: (error: Error | undefined) => void;
}

/**
 * Takes the body of one answer as it arrives: a little at a time in its turn, and only as much as the budget for
 * memory has room for. Until then the connection is not read, and the service waits.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #waiting = new Pieces();
  readonly #kept = new Pieces();
  readonly #size = new JsonSize();
  #working: Promise<void> | undefined;
  #isPaused = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  push(piece: Uint8Array): void {
    const { sink, hold, mostValues, onEnd } = this.#options;
    if (mostValues !== undefined) {
      try {
        this.#size.count(piece, 0, { values: mostValues, depth: Infinity });
      } catch (error) {
        onEnd(error as Error);
        return;
      }
    }
    if (sink === undefined && this.#working === undefined && this.#keep(piece)) return;
    this.#waiting.push(piece);
    if (hold !== undefined && this.#waiting.bytes > WAITING.high) this.#pause();
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  /** Resolves when everything was taken, with what was kept as it is, and with what that holds where it was counted. */
  async end(): Promise<{ body: Uint8Array; counted?: CountedJson }> {
    while (this.#working !== undefined) await this.#working;
    const body = this.#kept.take();
    return this.#options.mostValues === undefined ? { body } : { body, counted: this.#size };
  }

  async #work(): Promise<void> {
    const { turns, hold, sink, signal, onEnd } = this.#options;
    for (let piece = this.#waiting.shift(); piece !== undefined; piece = this.#waiting.shift()) {
      try {
        if (sink !== undefined) {
          await turns.take();
          if (signal.aborted) return;
          if (!sink.push(piece)) {
            onEnd(undefined);
            return;
          }
          const bytes = sink.heldBytes + this.#waiting.bytes;
          if (hold?.trySet(bytes) === false) {
            this.#pause();
            await hold.set(bytes, signal);
          }
        } else if (!this.#keep(piece)) {
          this.#pause();
          await hold?.set(this.#needed(piece), signal);
          this.#keep(piece);
        }
      } catch (error) {
        if (!signal.aborted) onEnd(error as Error);
        return;
      }
      if (this.#waiting.bytes <= WAITING.low) this.#resume();
    }
    this.#resume();
  }

  /** False where the budget has no room for it now. */
  #keep(piece: Uint8Array): boolean {
    const { hold, keepBytes = Infinity } = this.#options;
    if (this.#kept.bytes > keepBytes) return true;
    const needed = this.#needed(piece);
    if (hold !== undefined && hold.size < needed && !hold.trySet(needed)) return false;
    this.#kept.push(piece);
    return true;
  }

  /**
   * A small body takes what it takes. For a large one there has to be room for all of it, and for what is made of it:
   * if several had half of what they need, each would wait for the others.
   */
  #needed(piece: Uint8Array): number {
    const bytes = this.#kept.bytes + piece.byteLength;
    return bytes <= SMALL_HOLD ? bytes : this.#options.mostBytes * 2;
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#options.flow.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#options.flow.resume();
  }
}
