import { WINDOWS, type Switch, type Week } from './run.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/**
 * The switches that a week must show, found without the operator's code: minute by minute, from what the clock of the
 * zone shows. A window begins and ends with the first minute that shows its time, or a later one.
 */
export function expectedSwitches({ zone, from, until }: Week): Switch[] {
  const shown = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  const minutes: { at: number; text: string }[] = [];
  for (let at = from - DAY; at < until + DAY; at += MINUTE) minutes.push({ at, text: shown.format(at) });
  const first = (text: string): number => minutes.find((minute) => minute.text >= text)?.at ?? Infinity;
  const days = [...new Set(minutes.map(({ text }) => text.slice(0, 10)))];
  const out: Switch[] = [];
  for (const day of days) {
    const weekday = new Intl.DateTimeFormat('en-US', { weekday: 'short', timeZone: 'UTC' }).format(
      new Date(`${day}T12:00:00Z`),
    );
    for (const window of WINDOWS) {
      if (!window.days.includes(weekday)) continue;
      const [on, off] = [first(`${day} ${window.from}`), first(`${day} ${window.to}`)];
      if (on < off) out.push({ at: on, to: 'on' }, { at: off, to: 'off' });
    }
  }
  return out.filter(({ at }) => at >= from && at < until).toSorted((a, b) => a.at - b.at);
}
