import { mostSimilar } from './similar.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** So many zones are kept at hand. */
const KEPT = 64;

/**
 * One zone of the tz database, as the ICU of this Node has it. `wall` is what a clock in the zone shows, in
 * milliseconds as if that were UTC.
 */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  readonly #noons = new Map<number, number>();

  /** Throws a RangeError for a name that is not known. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** How far the clock in the zone is ahead of UTC at a moment, milliseconds. */
  offsetAt(ms: number): number {
    const whole = Math.floor(ms / 1_000) * 1_000;
    const parts: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(whole)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
  }

  /** What the clock in the zone shows at a moment. */
  wallAt(ms: number): number {
    return ms + this.offsetAt(ms);
  }

  /**
   * When the clock in the zone shows `wall` for the first time: of a time that it shows twice the earlier moment. A
   * time that it skips stands for the moment at which it jumps.
   */
  momentOf(wall: number): number {
    const day = Math.floor(wall / DAY_MS) * DAY_MS;
    const [before, after] = [this.#offsetOn(day - DAY_MS), this.#offsetOn(day + 2 * DAY_MS)];
    if (before === after) return wall - before;
    const early = Math.min(wall - before, wall - after);
    const late = Math.max(wall - before, wall - after);
    for (const moment of [early, late]) if (this.wallAt(moment) === wall) return moment;
    return this.#jump(early, late, wall);
  }

  /** Offsets are asked for by the day: those of a few weeks are kept, as one look at a schedule needs them all. */
  #offsetOn(day: number): number {
    let offset = this.#noons.get(day);
    if (offset === undefined) {
      if (this.#noons.size > 128) this.#noons.clear();
      offset = this.offsetAt(day);
      this.#noons.set(day, offset);
    }
    return offset;
  }

  /** The first moment after `from` at which the clock shows `wall` or later. */
  #jump(from: number, until: number, wall: number): number {
    let [low, high] = [Math.floor(from / 1_000), Math.ceil(until / 1_000)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.wallAt(middle * 1_000) >= wall) high = middle;
      else low = middle;
    }
    return high * 1_000;
  }
}

/** The zones in use, kept at hand: to make one takes a while. */
export class TimeZones {
  readonly #zones = new Map<string, TimeZone | undefined>();

  /** The zone of that name; undefined where nobody here knows it. */
  get(name: string): TimeZone | undefined {
    if (this.#zones.has(name)) return this.#zones.get(name);
    for (const [oldest] of this.#zones) {
      if (this.#zones.size < KEPT) break;
      this.#zones.delete(oldest);
    }
    const zone = zoneOf(name);
    this.#zones.set(name, zone);
    return zone;
  }
}

function zoneOf(name: string): TimeZone | undefined {
  try {
    return new TimeZone(name);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // how Intl says that it does not know the name
    throw error;
  }
}

/** The known zone whose name is most like one that is not known. */
export function similarZone(name: string): string | undefined {
  return mostSimilar(name, Intl.supportedValuesOf('timeZone'));
}
