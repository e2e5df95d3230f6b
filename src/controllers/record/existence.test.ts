import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AbsenceLog, goneAfterDelete, LOOK_SPACING_MS, type AbsentLook, type Absent } from './existence.ts';

const LAG = 60_000;
const look = (startedAt: number, more: Partial<AbsentLook> = {}): AbsentLook => ({
  startedAt,
  missing: true,
  workspaceReadable: true,
  listed: false,
  ...more,
});

describe('absence', () => {
  it('takes two looks, ten seconds apart when nothing of ours was written', () => {
    const log = new AbsenceLog();
    expect(log.note(look(0), LAG)).toEqual({ kind: 'unproved', recheckAfterMs: LOOK_SPACING_MS });
    expect(log.note(look(9_999), LAG).kind).toBe('unproved');
    expect(log.note(look(10_000), LAG).kind).toBe('absent');
  });

  it('takes a last look a lag window after our last write', () => {
    const log = new AbsenceLog();
    log.noteWrite(1_000);
    log.note(look(2_000), LAG);
    expect(log.note(look(60_999), LAG).kind).toBe('unproved');
    expect(log.note(look(61_000), LAG).kind).toBe('absent');
  });

  it('begins anew after a write, after the record was seen, and after a look that proves nothing', () => {
    for (const upset of [
      (log: AbsenceLog) => log.noteWrite(-LAG),
      (log: AbsenceLog) => log.noteFound(),
      (log: AbsenceLog) => void log.note(look(5_000, { missing: false }), LAG),
      (log: AbsenceLog) => void log.note(look(5_000, { workspaceReadable: false }), LAG),
      (log: AbsenceLog) => void log.note(look(5_000, { listed: true }), LAG),
    ]) {
      const log = new AbsenceLog();
      log.note(look(0), LAG);
      upset(log);
      expect(log.note(look(20_000), LAG).kind).toBe('unproved');
      expect(log.note(look(30_000), LAG).kind).toBe('absent');
    }
  });

  it('is never concluded from one look, nor within a lag window of a write, in whatever order things happen', () => {
    const event = fc.oneof(
      fc.record({ do: fc.constant('write' as const) }),
      fc.record({ do: fc.constant('found' as const) }),
      fc.record({
        do: fc.constant('look' as const),
        missing: fc.boolean(),
        workspaceReadable: fc.boolean(),
        listed: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(40_000), event), { maxLength: 20 }), (events) => {
        const log = new AbsenceLog();
        let [now, good, written] = [0, 0, -Infinity];
        const rash: number[] = [];
        for (const [wait, happens] of events) {
          now += wait;
          if (happens.do === 'write') {
            log.noteWrite(now);
            [good, written] = [0, now];
          } else if (happens.do === 'found') {
            log.noteFound();
            good = 0;
          } else {
            const { missing, workspaceReadable, listed } = happens;
            good = missing && workspaceReadable && !listed ? good + 1 : 0;
            const { kind } = log.note(look(now, { missing, workspaceReadable, listed }), LAG);
            if (kind === 'absent' && (good < 2 || now - written < LAG)) rash.push(now);
          }
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
  it('404 and 403 mean gone once the list says the same', () => {
    expect(goneAfterDelete({ status: 404, listed: false })?.kind).toBe('absent');
    expect(goneAfterDelete({ status: 403, listed: false })?.kind).toBe('absent');
  });

  it('nothing else does', () => {
    expect(goneAfterDelete({ status: 404, listed: true })).toBeUndefined();
    for (const status of [undefined, 200, 401, 409, 500]) {
      expect(goneAfterDelete({ status, listed: false })).toBeUndefined();
    }
  });
});
