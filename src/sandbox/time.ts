import type { Clock } from '../base/clock.ts';

/** Whether the service's clock may stand there: later times cannot be written, and it has to have room to go on. */
export const isServiceTime = (ms: number): boolean => ms >= 0 && ms < Date.UTC(9999, 0);

/**
 * The service's own time: the injected clock plus a skew that the admin port moves. Stamps are unique and
 * never go back, so `updated` differs after every change (service-behaviour.md 2.4).
 */
export class ServiceTime {
  readonly clock: Clock;
  #skew: number;
  #last = 0;

  constructor(clock: Clock, skew = 0) {
    this.clock = clock;
    this.#skew = skew;
  }

  /** Milliseconds since the epoch, as the service sees them. */
  now(): number {
    return this.clock.now() + this.#skew;
  }

  get skew(): number {
    return this.#skew;
  }

  /** Moves the service's time; going back lets stamps go back too. */
  setSkew(ms: number): void {
    if (ms < this.#skew) this.#last = 0;
    this.#skew = ms;
  }

  /** The next stamp for something that happens at `at` (service milliseconds, now when left out). */
  stamp(at: number = this.now()): string {
    this.#last = Math.max(Math.round(at * 1000), this.#last + 1);
    return formatMicros(this.#last);
  }
}

/** `YYYY-MM-DD HH:MM:SS.ffffff`, UTC (interface document section 2). */
export function formatMicros(micros: number): string {
  const iso = new Date(Math.floor(micros / 1000)).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}${String(micros % 1000).padStart(3, '0')}`;
}

/** The same form for a time in milliseconds. */
export function formatTime(ms: number): string {
  return formatMicros(Math.round(ms * 1000));
}

const TIME = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?$/;

/** Milliseconds of a timestamp in the service's form (fraction optional), undefined when it is not one. */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const fraction = (match[7] ?? '').padEnd(6, '0');
  const whole = Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19)}Z`);
  if (Number.isNaN(whole)) return undefined;
  // Date.parse takes 31 February for 2 March.
  if (new Date(whole).toISOString().slice(0, 10) !== text.slice(0, 10)) return undefined;
  return whole + Number(fraction) / 1000;
}
