import { describe, expect, it } from 'vitest';
import { similarZone, TimeZone, TimeZones } from './time-zone.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Zones with a change of the hour, of half an hour, with none, and one that once left out a day. */
const CHANGES: [zone: string, day: string][] = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Asia/Kolkata', '2026-03-29'],
  ['Pacific/Apia', '2011-12-30'],
];

describe('a time zone', () => {
  it.each(CHANGES)('%s on %s: finds when its clock first shows a time, or a later one', (name, day) => {
    const zone = new TimeZone(name);
    const shown = new Intl.DateTimeFormat('sv-SE', {
      timeZone: name,
      dateStyle: 'short',
      timeStyle: 'short',
    });
    const midnight = Date.parse(`${day}T00:00:00Z`);
    const moments = Array.from(
      { length: (4 * DAY) / (15 * MINUTE) },
      (_, i) => midnight - 1.5 * DAY + i * 15 * MINUTE,
    ).map((ms) => ({ ms, text: shown.format(ms) }));
    for (let wall = midnight; wall < midnight + DAY; wall += 15 * MINUTE) {
      const text = new Date(wall).toISOString().slice(0, 16).replace('T', ' ');
      const first = moments.find((moment) => moment.text >= text);
      expect([text, zone.momentOf(wall)]).toEqual([text, first?.ms]);
    }
  });

  it('is not there for a name that nobody knows, which is not asked for twice', () => {
    const zones = new TimeZones();
    expect(zones.get('Europe/Berln')).toBeUndefined();
    expect(zones.get('Europe/Berln')).toBeUndefined();
    expect(zones.get('Europe/Berlin')).toBe(zones.get('Europe/Berlin'));
    for (let i = 0; i < 200; i += 1) zones.get(`No/${i}`);
    expect(zones.get('Europe/Berlin')).toBeDefined();
    expect(similarZone('Europe/Berln')).toBe('Europe/Berlin');
  });
});
