import type { Clock, Timer } from '../../base/clock.ts';
import { formatDuration } from '../../base/duration.ts';
import { paintFor, type OutputStream, type Paint } from '../terminal.ts';
import { cellsOf, COLUMNS, type Row } from './row.ts';

export interface BoardOptions {
  stream: OutputStream;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Monotonic time that the plain lines count from. */
  startedAt: number;
  /** What there is now. */
  rows: () => Row[];
}

const EVERY_MS = 1_000;
/** Between two drawings; changes come in bursts. */
const SOON_MS = 50;

/**
 * Shows resources live: on a terminal a table that is drawn over itself, elsewhere a line for each change.
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
    if (this.#options.stream.isTTY === true) this.#draw();
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

  #draw(): void {
    const { stream, rows } = this.#options;
    const lines = this.#lines(rows(), stream.columns ?? 100);
    const up = this.#height === 0 ? '' : `\u001b[${this.#height}A`;
    stream.write(`${up}${lines.map((line) => `\r${line}\u001b[K\n`).join('')}\u001b[J`);
    this.#height = lines.length;
  }

  #lines(rows: Row[], width: number): string[] {
    const lines = tableLines(rows);
    return lines.flatMap((line, index) => {
      const row = rows[index - 1];
      // A wrapped line could not be drawn over.
      const cut = line.slice(0, width - 1);
      if (row === undefined) return [this.#paint.bold(cut)];
      const coloured = this.#colour(row, cut);
      return row.message === ''
        ? [coloured]
        : [coloured, this.#paint.dim(`  ${row.message}`.slice(0, width - 1))];
    });
  }

  #colour(row: Row, line: string): string {
    if (row.ready === 'True') return this.#paint.green(line);
    return row.ready === 'False' ? this.#paint.yellow(line) : line;
  }

  #tell(): void {
    const { rows, stream, clock, startedAt } = this.#options;
    for (const row of rows()) {
      const { kind, name, ready, reason, phase, address, message } = row;
      const news = [`Ready=${ready}`, reason, phase, address].filter((word) => word !== '').join(' ');
      const key = `${kind}/${name}`;
      if (this.#seen.get(key) === news) continue;
      this.#seen.set(key, news);
      const time = `${((clock.monotonic() - startedAt) / 1_000).toFixed(1)}s`.padStart(7);
      stream.write(`${time}  ${key.padEnd(24)} ${news}${message === '' ? '' : `: ${message}`}\n`);
    }
  }
}

/** Head and rows, in columns as wide as they need to be. */
export function tableLines(rows: readonly Row[]): string[] {
  const cells = [[...COLUMNS], ...rows.map(cellsOf)];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  return cells.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}

/** `12.3 s`, or `2m5s` from a minute on. */
export function seconds(ms: number): string {
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : formatDuration(ms);
}
