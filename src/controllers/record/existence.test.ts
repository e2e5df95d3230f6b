import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AbsenceLog, goneAfterDelete, type AbsentLook, type Absent } from './existence.ts';

const LAG = 60_000;
const look = (startedAt: number, more: Partial<AbsentLook> = {}): AbsentLook => ({
  id: 'i-1',
  startedAt,
  missing: true,
  workspaceReadable: true,
  listed: false,
  ...more,
});

/** What a look every `everyMs` comes to until the proof, or until `untilMs`. */
function provedAt(
  log: AbsenceLog,
  {
    everyMs,
    untilMs = 1_000_000,
    more = {},
  }: { everyMs: number; untilMs?: number; more?: Partial<AbsentLook> },
): number | undefined {
  for (let now = 0; now <= untilMs; now += everyMs) {
    if (log.note(look(now, more), LAG).kind === 'absent') return now;
  }
  return undefined;
}

describe('absence', () => {
  it('takes a lag window of looks that do not see it, even where our last write is long ago', () => {
    expect(provedAt(new AbsenceLog(), { everyMs: 1_000 })).toBe(LAG);
    expect(provedAt(new AbsenceLog(), { everyMs: 20_000 })).toBe(LAG);
  });

  it('takes 20 s at the least, and three looks a quarter of that apart', () => {
    const log = new AbsenceLog();
    expect(log.note(look(0), 1_000).kind).toBe('unproved');
    expect(log.note(look(4_999), 1_000).kind).toBe('unproved');
    expect(log.note(look(10_000), 1_000).kind).toBe('unproved');
    expect(log.note(look(19_999), 1_000).kind).toBe('unproved');
    expect(log.note(look(20_000), 1_000).kind).toBe('absent');
    const two = new AbsenceLog();
    two.note(look(0), 20_000);
    two.note(look(10_000), 20_000);
    two.note(look(10_001), 20_000);
    expect(two.note(look(14_999), 20_000).kind).toBe('unproved');
  });

  it('stays proved until the record is seen or written, and of that record alone', () => {
    const log = new AbsenceLog();
    expect(provedAt(log, { everyMs: 10_000 })).toBeDefined();
    expect(log.note(look(9_000_000), LAG).kind).toBe('absent');
    expect(log.note(look(9_000_001, { workspaceReadable: false }), LAG).kind).toBe('unproved');
    expect(log.note(look(9_000_002), LAG).kind).toBe('absent');
    expect(log.note(look(9_000_003, { id: 'i-2' }), LAG).kind).toBe('unproved');
    expect(log.note(look(9_000_004), LAG).kind).toBe('unproved');
    for (const upset of [
      (other: AbsenceLog) => other.noteFound(),
      (other: AbsenceLog) => other.noteWrite(0),
      (other: AbsenceLog) => void other.note(look(0, { listed: true }), LAG),
    ]) {
      const other = new AbsenceLog();
      expect(provedAt(other, { everyMs: 10_000 })).toBeDefined();
      upset(other);
      expect(other.note(look(9_000_000), LAG).kind).toBe('unproved');
    }
  });

  it('counts from our last write where that came later', () => {
    const log = new AbsenceLog();
    log.note(look(0), LAG);
    log.noteWrite(30_000);
    for (const at of [31_000, 46_000, 61_000, 76_000]) expect(log.note(look(at), LAG).kind).toBe('unproved');
    expect(log.note(look(91_000), LAG).kind).toBe('absent');
  });

  it('begins anew after the record was seen, in a list as well', () => {
    for (const upset of [
      (log: AbsenceLog) => log.noteFound(),
      (log: AbsenceLog) => void log.note(look(40_000, { listed: true }), LAG),
    ]) {
      const log = new AbsenceLog();
      for (const at of [0, 15_000, 30_000]) log.note(look(at), LAG);
      upset(log);
      for (const at of [45_000, 60_000, 75_000, 90_000, 104_999]) {
        expect(log.note(look(at), LAG).kind).toBe('unproved');
      }
      expect(log.note(look(105_000), LAG).kind).toBe('absent');
    }
  });

  it('goes on after a look that proves nothing, and begins anew after half a window of them', () => {
    for (const nothing of [{ missing: false }, { workspaceReadable: false }]) {
      const log = new AbsenceLog();
      for (const at of [0, 15_000]) log.note(look(at), LAG);
      expect(log.note(look(30_000, nothing), LAG).kind).toBe('unproved');
      expect(log.note(look(45_000), LAG).kind).toBe('unproved');
      expect(log.note(look(60_000), LAG).kind).toBe('absent');
      const gap = new AbsenceLog();
      for (const at of [0, 15_000, 29_000]) gap.note(look(at), LAG);
      gap.note(look(45_000, nothing), LAG);
      expect(gap.note(look(60_000), LAG).kind).toBe('unproved');
    }
  });

  it('takes five windows where everything that is held there is missing at once', () => {
    expect(provedAt(new AbsenceLog(), { everyMs: 15_000, more: { allGone: true } })).toBe(5 * LAG);
  });

  it('is looked for soon at first, and a quarter of the window apart at the longest', () => {
    const log = new AbsenceLog();
    const waits: number[] = [];
    for (let now = 0; ;) {
      const said = log.note(look(now), LAG);
      if (said.kind === 'absent') break;
      waits.push(said.recheckAfterMs);
      now += said.recheckAfterMs;
    }
    expect(waits.slice(0, 5)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000]);
    expect(waits.reduce((sum, wait) => sum + wait)).toBe(LAG);
    expect(waits.length).toBeLessThan(10);
  });

  it('is never concluded within a window of a write or a sight of it, nor from two looks, in whatever order', () => {
    const event = fc.oneof(
      fc.record({ do: fc.constant('write' as const) }),
      fc.record({ do: fc.constant('found' as const) }),
      fc.record({
        do: fc.constant('look' as const),
        missing: fc.boolean(),
        workspaceReadable: fc.boolean(),
        listed: fc.boolean(),
      }),
      fc.constant({ do: 'look' as const, missing: true, workspaceReadable: true, listed: false }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(30_000), event), { maxLength: 40 }), (events) => {
        const log = new AbsenceLog();
        let [now, good, from] = [0, 0, 0];
        const rash: number[] = [];
        for (const [wait, happens] of events) {
          now += wait;
          if (happens.do === 'look' && !happens.listed) {
            const { missing, workspaceReadable, listed } = happens;
            good += missing && workspaceReadable ? 1 : 0;
            const { kind } = log.note(look(now, { missing, workspaceReadable, listed }), LAG);
            if (kind === 'absent' && (good < 3 || now - from < LAG)) rash.push(now);
            continue;
          }
          if (happens.do === 'write') log.noteWrite(now);
          else if (happens.do === 'found') log.noteFound();
          else log.note(look(now, { listed: true }), LAG);
          [good, from] = [0, now];
        }
        expect(rash).toEqual([]);
      }),
    );
  });

  it('cannot be made by hand', () => {
    // @ts-expect-error only existence.ts can make the proof
    const forged: Absent = { kind: 'absent' };
    expect(forged).toEqual({ kind: 'absent' });
  });
});

describe('after our own delete', () => {
  const gone = { listed: false, workspaceReadable: true };

  it('404 and 403 mean gone once the list says the same', () => {
    for (const standing of ['accepted', 'missing'] as const) {
      for (const status of [403, 404]) {
        expect(goneAfterDelete({ ...gone, status }, standing)?.kind).toBe('absent');
      }
    }
  });

  it('a 403 does not where the delete was not answered', () => {
    expect(goneAfterDelete({ ...gone, status: 404 }, 'unanswered')?.kind).toBe('absent');
    expect(goneAfterDelete({ ...gone, status: 403 }, 'unanswered')).toBeUndefined();
  });

  it('nothing else does', () => {
    expect(goneAfterDelete({ ...gone, status: 404 }, undefined)).toBeUndefined();
    expect(goneAfterDelete({ ...gone, status: 404, listed: true }, 'accepted')).toBeUndefined();
    expect(goneAfterDelete({ ...gone, status: 404, workspaceReadable: false }, 'accepted')).toBeUndefined();
    for (const status of [undefined, 200, 401, 409, 500]) {
      expect(goneAfterDelete({ ...gone, status }, 'accepted')).toBeUndefined();
    }
  });
});
