import { rfc3339 } from '../../../base/rfc3339.ts';
import { similarZone } from '../../../base/time-zone.ts';
import type { Schedules } from '../../../base/weekly.ts';
import type { LeaseChoice } from './source.ts';
import { termsHash, type NotedSource } from './terms.ts';

/** What the schedule of an instance's lease says of its machines. */
export type Scheduled =
  /** `until`: the next switch, milliseconds. */
  | ({ kind: 'now'; lease: string; until: number | undefined } & SaidPower)
  /** What it said last stays: it is paused, or cannot be read. */
  | ({ kind: 'left' } & Partial<SaidPower>)
  /** It names a zone that is not known here. */
  | { kind: 'unknownZone'; message: string };

/** What it says, and since which switch, RFC 3339. */
interface SaidPower {
  power: 'Running' | 'Stopped';
  since: string | undefined;
}

/** What the schedule says at a moment; undefined where none decides. */
export function scheduledBy(
  choice: LeaseChoice,
  noted: NotedSource | undefined,
  schedules: Schedules,
  now: number,
): Scheduled | undefined {
  const left = { kind: 'left', power: noted?.power, since: noted?.since } as Extract<
    Scheduled,
    { kind: 'left' }
  >;
  if (choice.kind === 'none') return undefined;
  if (choice.kind !== 'source') return noted?.power === undefined ? undefined : left;
  const { source } = choice;
  const { schedule } = source.terms;
  if (source.paused) {
    const isInForce = schedule !== undefined && noted?.terms === termsHash(source);
    return isInForce || noted?.power !== undefined ? left : undefined;
  }
  if (schedule === undefined) return undefined;
  const period = schedules.at(schedule, now);
  if (period === undefined) {
    return { kind: 'unknownZone', message: unknownZone(source.name, schedule.timeZone) };
  }
  const { up, since, until } = period;
  return {
    kind: 'now',
    lease: source.name,
    power: up ? 'Running' : 'Stopped',
    since: since === undefined ? undefined : rfc3339(since),
    until,
  };
}

/** That a zone is not known, and the one that is meant. */
export function unknownZone(lease: string, zone: string): string {
  const meant = similarZone(zone);
  const next = meant === undefined ? 'write its name in the IANA database' : `write ${meant}`;
  return `InstanceLease "${lease}": spec.schedule.timeZone "${zone}" is not known: ${next}`;
}
