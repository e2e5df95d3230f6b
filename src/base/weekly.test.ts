import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TimeZone } from './time-zone.ts';
import { periodAt, Schedules, WEEKDAYS, type Weekly } from './weekly.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const WORKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri'] as const;
const OFFICE: Weekly = {
  timeZone: 'Europe/Berlin',
  up: [{ days: WORKDAYS, from: '08:00', to: '19:00' }],
};

/** The switches of a schedule between two moments, as `+2026-03-30T06:00Z` and `-…`. */
function switches({ timeZone, up }: Weekly, from: string, to: string): string[] {
  const zone = new TimeZone(timeZone);
  const out: string[] = [];
  for (let at = Date.parse(from); at < Date.parse(to);) {
    const { up: isUp, until } = periodAt({ up }, zone, at);
    if (until === undefined || until >= Date.parse(to)) break;
    out.push(`${isUp ? '-' : '+'}${new Date(until).toISOString().slice(0, 16)}Z`);
    at = until;
  }
  return out;
}

function onSundays(from: string, to: string): Weekly {
  return { timeZone: 'Europe/Berlin', up: [{ days: ['Sun'], from, to }] };
}

describe('a weekly schedule', () => {
  it('goes by the clock of its zone on both sides of both changes of the hour', () => {
    expect(switches(OFFICE, '2026-03-26T22:00Z', '2026-03-31T22:00Z')).toEqual([
      '+2026-03-27T07:00Z',
      '-2026-03-27T18:00Z',
      '+2026-03-30T06:00Z',
      '-2026-03-30T17:00Z',
      '+2026-03-31T06:00Z',
      '-2026-03-31T17:00Z',
    ]);
    expect(switches(OFFICE, '2026-10-23T00:00Z', '2026-10-27T00:00Z')).toEqual([
      '+2026-10-23T06:00Z',
      '-2026-10-23T17:00Z',
      '+2026-10-26T07:00Z',
      '-2026-10-26T18:00Z',
    ]);
  });

  it.each([
    [
      'begins in the hour that is skipped: at the jump',
      '02:30',
      '04:00',
      ['+2026-03-29T01:00Z', '-2026-03-29T02:00Z'],
    ],
    ['ends in it: at the jump', '01:00', '02:30', ['+2026-03-29T00:00Z', '-2026-03-29T01:00Z']],
    ['lies within it: not this once', '02:15', '02:45', []],
  ])('that %s', (_what, from, to, expected) => {
    expect(switches(onSundays(from, to), '2026-03-28T12:00Z', '2026-03-30T00:00Z')).toEqual(expected);
  });

  it.each([
    [
      'begins in the hour that comes twice: the first time',
      '02:30',
      '04:00',
      ['+2026-10-25T00:30Z', '-2026-10-25T03:00Z'],
    ],
    ['ends in it: the first time', '01:00', '02:30', ['+2026-10-24T23:00Z', '-2026-10-25T00:30Z']],
    ['lies within it: once', '02:15', '02:45', ['+2026-10-25T00:15Z', '-2026-10-25T00:45Z']],
  ])('that %s', (_what, from, to, expected) => {
    expect(switches(onSundays(from, to), '2026-10-24T12:00Z', '2026-10-26T00:00Z')).toEqual(expected);
  });

  it('runs over midnight, joins windows that touch, and ends a day at 24:00', () => {
    const nights: Weekly = {
      timeZone: 'UTC',
      up: [
        { days: ['Mon'], from: '22:00', to: '06:00' },
        { days: ['Tue'], from: '06:00', to: '24:00' },
        { days: ['Wed'], from: '00:00', to: '01:00' },
      ],
    };
    expect(switches(nights, '2026-06-01T00:00Z', '2026-06-08T00:00Z')).toEqual([
      '+2026-06-01T22:00Z',
      '-2026-06-03T01:00Z',
    ]);
  });

  it('that covers the week, or nothing of it, never switches', () => {
    const always = { up: [{ days: WEEKDAYS, from: '00:00', to: '24:00' }] };
    const zone = new TimeZone('Europe/Berlin');
    for (const at of [Date.parse('2026-03-29T01:30Z'), Date.parse('2026-07-01T00:00Z')]) {
      expect(periodAt(always, zone, at)).toEqual({ up: true, since: undefined, until: undefined });
      expect(periodAt({ up: [] }, zone, at)).toEqual({ up: false, since: undefined, until: undefined });
    }
  });

  it('that has its one window skipped says so for two weeks', () => {
    const rare = { up: [{ days: ['Sun'] as const, from: '02:15', to: '02:45' }] };
    const period = periodAt(rare, new TimeZone('Europe/Berlin'), Date.parse('2026-04-05T00:14Z'));
    expect(period).toEqual({
      up: false,
      since: Date.parse('2026-03-22T01:45Z'),
      until: Date.parse('2026-04-05T00:15Z'),
    });
  });

  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
  const window = fc
    .record({ days: fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { minLength: 1 }), from: time, to: time })
    .filter(({ from, to }) => from !== to);
  const weekly = fc.record({
    timeZone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'),
    up: fc.array(window, { maxLength: 4 }),
  });
  const moment = fc.integer({
    min: Date.parse('2026-01-01T00:00Z') / MINUTE,
    max: Date.parse('2027-12-31T00:00Z') / MINUTE,
  });

  it('has periods that follow each other without a gap, and says the same throughout each', () => {
    fc.assert(
      fc.property(
        weekly,
        moment,
        fc.double({ min: 0, max: 1, noNaN: true }),
        ({ timeZone, up }, minute, part) => {
          const zone = new TimeZone(timeZone);
          const period = periodAt({ up }, zone, minute * MINUTE);
          // Both or neither: what never switches says nothing that could be looked at here.
          expect(period.since === undefined).toBe(period.until === undefined);
          const { since = 0, until = 0 } = period;
          fc.pre(until > since);
          expect([since % MINUTE, until % MINUTE]).toEqual([0, 0]);
          expect(until - since).toBeLessThan(14 * DAY);
          const within = since + Math.floor(part * (until - since - 1));
          expect(periodAt({ up }, zone, within)).toEqual(period);
          expect(periodAt({ up }, zone, until)).toMatchObject({ up: !period.up, since: until });
          expect(periodAt({ up }, zone, since - 1)).toMatchObject({ up: !period.up, until: since });
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is remembered by its words, and asked again once its period is over', () => {
    const schedules = new Schedules();
    const noon = Date.parse('2026-03-27T11:00Z');
    const first = schedules.at(OFFICE, noon);
    expect(schedules.at({ ...OFFICE }, noon + MINUTE)).toBe(first);
    expect(schedules.at(OFFICE, noon + DAY)).toMatchObject({ up: false });
    expect(schedules.at(OFFICE, noon)).toEqual(first);
    expect(schedules.at({ ...OFFICE, timeZone: 'Mars/Base' }, noon)).toBeUndefined();
  });
});
