import { join } from 'node:path';
import type { Switch, Week } from './run.ts';

/** Where the guide has the picture. */
export const PICTURE = join(import.meta.dirname, '../../../docs/pictures/schedule-weeks.svg');

const DAY = 86_400_000;
const [LEFT, WIDTH, TOP, ROW] = [190, 980, 30, 74];
const RIGHT = 20;

/** Draws the switches of weeks: a strip each, along UTC, with what the clock of the zone showed at each switch. */
export function pictureOf(weeks: readonly Week[]): string {
  const width = LEFT + WIDTH + RIGHT;
  const height = TOP + weeks.length * ROW + 10;
  const strips = weeks.map((week, index) => stripOf(week, index));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="When the operator powered an instance on and shut it down in six weeks with a change of the hour" font-family="sans-serif" font-size="11">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="10" y="18" font-size="12" fill="#333">Running (green), by UTC; labels: what the clock of the zone shows at the switch; red: its clock changes</text>
${strips.join('\n')}
</svg>
`;
}

/** The strip of one week, the `index`th from the top. */
export function stripOf({ zone, sunday, from, until, switches }: Week, index: number): string {
  const y = TOP + index * ROW;
  const x = (at: number): number => Math.round(LEFT + ((at - from) / (until - from)) * WIDTH);
  const out = [
    `<text x="10" y="${y + 26}" font-size="13" fill="#111">${zone}</text>`,
    `<text x="10" y="${y + 42}" fill="#666">week around ${sunday}</text>`,
    `<rect x="${LEFT}" y="${y + 20}" width="${WIDTH}" height="20" fill="#e8e8ea"/>`,
  ];
  for (let day = Math.ceil(from / DAY) * DAY; day < until; day += DAY) {
    const name = new Date(day).toUTCString().slice(0, 11);
    out.push(`<path d="M${x(day)} ${y + 20}v26" stroke="#aaa"/>`);
    out.push(`<text x="${x(day) + 3}" y="${y + 50}" fill="#666">${name}</text>`);
  }
  const [change, clocks] = changeOf(zone, from, until);
  out.push(`<path d="M${x(change)} ${y + 14}v32" stroke="#c00" stroke-width="2"/>`);
  out.push(`<text x="${x(change) - 3}" y="${y + 62}" fill="#c00" text-anchor="end">${clocks}</text>`);
  for (const [on, off] of spansOf(switches, until)) {
    const shown = off - on < DAY / 8 ? [onClock(zone, on), '–', onClock(zone, off)].join('') : undefined;
    out.push(
      `<rect x="${x(on)}" y="${y + 20}" width="${Math.max(2, x(off) - x(on))}" height="20" fill="#2e9e5b"/>`,
    );
    if (shown === undefined) {
      out.push(`<text x="${x(on)}" y="${y + 16}" fill="#222">${onClock(zone, on)}</text>`);
      out.push(
        `<text x="${x(off)}" y="${y + 16}" fill="#222" text-anchor="end">${onClock(zone, off)}</text>`,
      );
    } else {
      out.push(`<text x="${x(on)}" y="${y + 16}" fill="#222" text-anchor="middle">${shown}</text>`);
    }
  }
  return out.join('\n');
}

function spansOf(switches: readonly Switch[], until: number): [on: number, off: number][] {
  return switches.flatMap(({ at, to }, index) =>
    to === 'off' ? [] : [[at, switches[index + 1]?.at ?? until] as [number, number]],
  );
}

function onClock(zone: string, at: number): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'short' }).format(at);
}

/** The minute at which the clock of the zone changes, and what it shows before and after. */
function changeOf(zone: string, from: number, until: number): [at: number, shown: string] {
  const offset = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' });
  const of = (at: number): string =>
    offset.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  for (let at = from; at < until; at += 60_000) {
    if (of(at) !== of(at + 60_000)) {
      const minute = onClock(zone, at);
      return [at + 60_000, `${minute} → ${onClock(zone, at + 60_000)}`];
    }
  }
  throw new Error(`the clock of ${zone} does not change`);
}
