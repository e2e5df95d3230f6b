import type { Clock, Timer } from '../../base/clock.ts';
import { paintFor, type OutputStream, type Paint } from '../terminal.ts';

/** What a {@link Board} shows. */
export interface Shown {
  /** The whole picture, in lines that are no wider than `width`: a wrapped line could not be drawn over. */
  lines(width: number, paint: Paint): string[];
  /** The same for a log: what there is to tell of each thing; told again when it changes. */
  news(): { key: string; text: string; detail: string }[];
}

export interface BoardOptions {
  stream: OutputStream;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Monotonic time that the plain lines count from. */
  startedAt: number;
  shown: Shown;
}

const EVERY_MS = 1_000;
/** Between two drawings; changes come in bursts. */
const SOON_MS = 50;

/**
 * Shows resources live: on a terminal a picture that is drawn over itself, elsewhere a line for each change.
 */
export class Board {
  readonly #options: BoardOptions;
  readonly #paint: Paint;
  readonly #seen = new Map<string, string>();
  #height = 0;
  #timer: Timer | undefined;
  #ended = false;

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#paint = paintFor(options.stream, options.env);
  }

  /** Something has changed. */
  refresh(): void {
    if (this.#ended) return;
    if (this.#options.stream.isTTY !== true) {
      this.#tell();
      return;
    }
    this.#schedule(this.#height === 0 ? 0 : SOON_MS);
  }

  /** Draws a last time, and leaves what is drawn where it is. */
  end(): void {
    if (this.#ended) return;
    if (this.#options.stream.isTTY === true) this.#draw(true);
    else this.#tell();
    this.pause();
    this.#ended = true;
  }

  /** Lets others write under the table: what comes next is drawn anew below. */
  pause(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#height = 0;
  }

  #schedule(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.setTimer(ms, () => {
      this.#draw();
      // Ages move by themselves.
      this.#schedule(EVERY_MS);
    });
  }

  #draw(whole = false): void {
    const { stream, shown } = this.#options;
    const all = shown.lines((stream.columns ?? 100) - 1, this.#paint);
    const lines = whole ? all : this.#cut(all, (stream.rows ?? Number.POSITIVE_INFINITY) - 1);
    const up = this.#height === 0 ? '' : `\u001b[${this.#height}A`;
    stream.write(`${up}${lines.map((line) => `\r${line}\u001b[K\n`).join('')}\u001b[J`);
    this.#height = lines.length;
  }

  /** What has left the screen at the top could not be drawn over. */
  #cut(lines: string[], height: number): string[] {
    if (lines.length <= height) return lines;
    const kept = Math.max(1, height - 1);
    return [...lines.slice(0, kept), this.#paint.dim(`… ${lines.length - kept} more lines`)];
  }

  #tell(): void {
    const { shown, stream, clock, startedAt } = this.#options;
    for (const { key, text, detail } of shown.news()) {
      if (this.#seen.get(key) === text) continue;
      this.#seen.set(key, text);
      const time = `${((clock.monotonic() - startedAt) / 1_000).toFixed(1)}s`.padStart(7);
      stream.write(`${time}  ${key.padEnd(24)} ${text}${detail === '' ? '' : `: ${detail}`}\n`);
    }
  }
}
