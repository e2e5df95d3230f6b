import type { Clock, Timer } from '../base/clock.ts';
import { formatDuration } from '../base/duration.ts';

/** Where long work tells what it is doing. */
export interface Progress {
  /** Begins a step that takes a while; it is shown with its elapsed time until it ends. */
  begin(what: string): ProgressStep;
  /** Says one thing, on a line of its own. */
  note(text: string): void;
}

export interface ProgressStep {
  /** What the step is at, such as `1204 packages`. */
  detail(text: string): void;
  /** Ends the step. */
  end(outcome: 'done' | 'failed'): void;
}

/** Says nothing. */
export const silentProgress: Progress = {
  begin: () => ({ detail: () => undefined, end: () => undefined }),
  note: () => undefined,
};

/** The part of a terminal or file stream that progress is written to. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const TTY_EVERY_MS = 1_000;
const PLAIN_EVERY_MS = 30_000;

/**
 * Shows steps on a stream: on a terminal one line that is rewritten every second, elsewhere (a CI log) a
 * line at the beginning, every 30 s, and at the end.
 */
export function streamProgress(stream: ProgressStream, clock: Clock): Progress {
  return {
    begin: (what) => new StreamStep(stream, clock, what),
    note: (text) => void stream.write(`${text}\n`),
  };
}

class StreamStep implements ProgressStep {
  readonly #stream: ProgressStream;
  readonly #clock: Clock;
  readonly #what: string;
  readonly #start: number;
  #detail = '';
  #timer: Timer;

  constructor(stream: ProgressStream, clock: Clock, what: string) {
    this.#stream = stream;
    this.#clock = clock;
    this.#what = what;
    this.#start = clock.monotonic();
    this.#show('...');
    this.#timer = this.#schedule();
  }

  detail(text: string): void {
    this.#detail = text;
  }

  end(outcome: 'done' | 'failed'): void {
    this.#timer.cancel();
    this.#detail = '';
    this.#show(outcome);
    if (this.#stream.isTTY === true) this.#stream.write('\n');
  }

  #schedule(): Timer {
    return this.#clock.setTimer(this.#stream.isTTY === true ? TTY_EVERY_MS : PLAIN_EVERY_MS, () => {
      this.#show('...');
      this.#timer = this.#schedule();
    });
  }

  #show(state: string): void {
    const elapsed = this.#clock.monotonic() - this.#start;
    const time = elapsed < 1_000 ? '' : ` ${formatDuration(elapsed)}`;
    const detail = this.#detail === '' ? '' : ` (${this.#detail})`;
    const line = `${this.#what} ${state}${time}${detail}`;
    if (this.#stream.isTTY === true) {
      // Cut to the width: a wrapped line could not be rewritten. Then erase what an older, longer one left.
      this.#stream.write(`\r${line.slice(0, (this.#stream.columns ?? 80) - 1)}\u001b[K`);
    } else {
      this.#stream.write(`${line}\n`);
    }
  }
}
