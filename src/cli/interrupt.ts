import type { Clock } from '../base/clock.ts';
import { EXIT } from './exit-codes.ts';

/** Where the signals come from: the process, in production. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A wrapper that passes ^C on to us after the terminal did makes no second wish of it. */
const SAME_WISH_MS = 300;

/** ^C and SIGTERM: the first asks for a good end, the second ends at once. */
export class Interrupt {
  readonly #asked = new AbortController();
  #exitCode: number = EXIT.interrupted;

  /** `endNow` gets the exit code at the second signal. */
  constructor(source: SignalSource, clock: Clock, endNow: (exitCode: number) => void) {
    let firstAt: number | undefined;
    const listener = (signal: NodeJS.Signals): void => {
      if (firstAt === undefined) {
        firstAt = clock.monotonic();
        this.#exitCode = signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
        this.#asked.abort(new InterruptedError(signal));
      } else if (clock.monotonic() - firstAt > SAME_WISH_MS) {
        endNow(this.#exitCode);
      }
    };
    for (const signal of SIGNALS) source.on(signal, listener);
  }

  /** Aborted at the first signal, with an {@link InterruptedError}. */
  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  /** For a command that a signal ended before it was done. */
  get exitCode(): number {
    return this.#exitCode;
  }
}

/** The reason of everything that a signal from outside broke off. */
export class InterruptedError extends Error {
  readonly code = 'Interrupted';
  constructor(signal: string) {
    super(`ended by ${signal}`);
    this.name = 'InterruptedError';
  }
}
