import { VirtualClock } from '../../../src/base/virtual-clock.ts';
import { HOUR, instance, MINUTE, Shop } from '../shop.ts';

/** A zone, and the Sunday of 2026 on which its clock changes. */
export interface WeekOf {
  zone: string;
  sunday: string;
}

/** Both changes of the hour in three zones: one of them changes by half an hour, in the southern hemisphere. */
export const WEEKS: readonly WeekOf[] = [
  { zone: 'Europe/Berlin', sunday: '2026-03-29' },
  { zone: 'Europe/Berlin', sunday: '2026-10-25' },
  { zone: 'America/New_York', sunday: '2026-03-08' },
  { zone: 'America/New_York', sunday: '2026-11-01' },
  { zone: 'Australia/Lord_Howe', sunday: '2026-04-05' },
  { zone: 'Australia/Lord_Howe', sunday: '2026-10-04' },
];

/** The windows of the run, as a manifest has them: workdays, and one that the change of the hour falls into. */
export const WINDOWS = [
  { days: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri'], from: '08:00', to: '19:00' },
  { days: ['Sun'], from: '01:45', to: '02:15' },
];

/** One call that switched the machines. */
export interface Switch {
  at: number;
  to: 'on' | 'off';
}

/** What a week came to. */
export interface Week extends WeekOf {
  from: number;
  until: number;
  switches: readonly Switch[];
}

const DAY = 24 * HOUR;

/** From Wednesday to Wednesday at noon, by UTC. */
const WEEK = { before: 3.5, after: 3.5 };
/** From Friday noon to Monday evening: the windows of three days, one of them with the change. */
export const DAYS_AROUND = { before: 1.5, after: 1.75 };

/** When a week begins and ends, before anything has run. */
export function weekAround({ zone, sunday }: WeekOf, { before, after } = WEEK): Week {
  const change = Date.parse(`${sunday}T00:00:00Z`);
  return { zone, sunday, from: change - before * DAY, until: change + after * DAY, switches: [] };
}

export function inWords(switches: Week['switches']): string[] {
  return switches.map(({ at, to }) => `${to} ${new Date(at).toISOString().slice(0, 16)}`);
}

/**
 * Runs the operator for a week around a change of the hour, and notes each switch that it sends.
 *
 * @param days - how many before and after the Sunday begins, by UTC.
 */
export async function runWeek(weekOf: WeekOf, days = WEEK): Promise<Week> {
  const week = weekAround(weekOf, days);
  const { zone, from, until } = week;
  const shop = await Shop.open({ clock: new VirtualClock(from - HOUR) });
  const switches: Switch[] = [];
  const { world } = shop;
  shop.alter = (request) => {
    const operation = /^\/services\/instances\/[^/]+\/(poweron|shutdown)$/.exec(request.path)?.[1];
    if (request.method === 'PUT' && operation !== undefined) {
      switches.push({ at: world.clock.now(), to: operation === 'poweron' ? 'on' : 'off' });
    }
    return request;
  };
  try {
    // Polls would find what a timer has missed, and take their time: here only the timers of the schedule bring switches.
    await world.edit('Connection', 'main', { poll: { settled: '24h' } });
    const schedule = JSON.stringify({ timeZone: zone, up: WINDOWS });
    await world.apply(`
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: office}
spec: {instanceRef: {name: web-eu}, schedule: ${schedule}}
`);
    await world.apply(instance('  leaseRef: {name: office}'));
    await world.until(() => /^True (Settled|ShutDown)$/.test(shop.ready()), 30 * MINUTE);
    await world.advance(from - world.clock.now());
    switches.length = 0;
    await world.advance(until - world.clock.now());
    return { ...week, switches };
  } finally {
    await shop.close();
  }
}
