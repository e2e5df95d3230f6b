import { TimeZones, type TimeZone } from './time-zone.ts';

/** Days of the week as schedules name them, in the order of `Date.getUTCDay`. */
export const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** When something is up, week by week. */
export interface Weekly {
  timeZone: string;
  /** What they cover together. A `to` that is not after `from` is on the next day. */
  up: readonly { days: readonly Weekday[]; from: string; to: string }[];
}

/** A time in which a schedule says the same throughout. */
export interface Period {
  up: boolean;
  /** The switch that it began with, milliseconds; absent: it has always been so. */
  since: number | undefined;
  /** The switch that ends it; absent: it stays so. */
  until: number | undefined;
}

interface Span {
  from: number;
  to: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/**
 * So many days around a moment are looked at. A schedule says the same for less than two weeks: one, and another where
 * the clock skips the only window, or the only pause, of a week.
 */
const DAYS = 16;
/** So many schedules are kept with their period. */
const KEPT = 1_000;

/**
 * The period of a schedule that a moment lies in. A time that the clock shows twice counts when it is shown first; one
 * that it skips counts as the moment of the jump. Pure.
 */
export function periodAt({ up }: Pick<Weekly, 'up'>, zone: TimeZone, at: number): Period {
  const today = Math.floor(zone.wallAt(at) / DAY_MS);
  const spans: Span[] = [];
  for (let day = today - DAYS; day <= today + DAYS; day += 1) {
    const name = WEEKDAYS[new Date(day * DAY_MS).getUTCDay()] as Weekday;
    for (const window of up) {
      if (!window.days.includes(name)) continue;
      const [from, to] = [minutesOf(window.from), minutesOf(window.to)];
      const end = to > from ? to : to + DAY_MS;
      spans.push({ from: zone.momentOf(day * DAY_MS + from), to: zone.momentOf(day * DAY_MS + end) });
    }
  }
  const [first, last] = [at - (DAYS - 2) * DAY_MS, at + (DAYS - 2) * DAY_MS];
  const switches = united(spans)
    .flatMap(({ from, to }) => [
      { at: from, up: true },
      { at: to, up: false },
    ])
    .filter((one) => one.at > first && one.at < last);
  const before = switches.findLast((one) => one.at <= at);
  const next = switches.find((one) => one.at > at);
  const inside = spans.some(({ from, to }) => from <= at && at < to);
  return { up: inside, since: before?.at, until: next?.at };
}

/** Spans that touch or overlap are one; those without length are none. */
function united(spans: readonly Span[]): Span[] {
  const out: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    if (span.to <= span.from) continue;
    const last = out.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else out.push({ ...span });
  }
  return out;
}

function minutesOf(text: string): number {
  const [hours, minutes] = text.split(':').map(Number);
  return ((hours ?? 0) * 60 + (minutes ?? 0)) * MINUTE_MS;
}

/** Schedules, each with the period that was last asked for: many instances have one schedule. */
export class Schedules {
  readonly #zones = new TimeZones();
  readonly #known = new Map<string, { period: Period; askedFor: number }>();

  /** The period that a moment lies in; undefined for a zone that nobody here knows. */
  at(weekly: Weekly, ms: number): Period | undefined {
    const key = JSON.stringify([weekly.timeZone, weekly.up]);
    const known = this.#known.get(key);
    if (known !== undefined && isIn(known.period, ms, known.askedFor)) return known.period;
    const zone = this.#zones.get(weekly.timeZone);
    if (zone === undefined) return undefined;
    const period = periodAt(weekly, zone, ms);
    if (this.#known.size >= KEPT) this.#known.clear();
    this.#known.set(key, { period, askedFor: ms });
    return period;
  }
}

/** What has no end in sight is looked at again after a day. */
function isIn({ since, until }: Period, ms: number, askedFor: number): boolean {
  return (since ?? askedFor) <= ms && ms < (until ?? askedFor + DAY_MS);
}
