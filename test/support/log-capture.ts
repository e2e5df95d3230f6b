import { inspect } from 'node:util';
import type { Clock } from '../../src/base/clock.ts';
import type { Logger } from '../../src/base/logger.ts';
import { createLog } from '../../src/cli/log.ts';

/**
 * Keeps what goes into a log before anything is redacted, error objects with all that hangs on them included,
 * and what a process would have written.
 */
export class LogCapture implements Logger {
  readonly raw: string[] = [];
  readonly written: string[] = [];
  readonly #log: Logger;
  readonly #clock: Clock;

  constructor(clock: Clock, parent?: { capture: LogCapture; fields: object }) {
    this.#clock = clock;
    if (parent !== undefined) {
      this.raw = parent.capture.raw;
      this.written = parent.capture.written;
      this.raw.push(shown(parent.fields));
      this.#log = parent.capture.#log.child(parent.fields);
      return;
    }
    const stream = { write: (text: string) => this.written.push(text) > 0, isTTY: false };
    this.#log = createLog({ level: 'debug', stream, clock });
  }

  debug(fields: object, message: string): void {
    this.#keep('debug', fields, message);
  }
  info(fields: object, message: string): void {
    this.#keep('info', fields, message);
  }
  warn(fields: object, message: string): void {
    this.#keep('warn', fields, message);
  }
  error(fields: object, message: string): void {
    this.#keep('error', fields, message);
  }
  child(fields: object): Logger {
    return new LogCapture(this.#clock, { capture: this, fields });
  }

  #keep(level: 'debug' | 'info' | 'warn' | 'error', fields: object, message: string): void {
    this.raw.push(`${message} ${shown(fields)}`);
    this.#log[level](fields, message);
  }
}

function shown(value: unknown): string {
  return inspect(value, {
    depth: 12,
    showHidden: true,
    maxStringLength: null,
    maxArrayLength: null,
    getters: true,
  });
}
