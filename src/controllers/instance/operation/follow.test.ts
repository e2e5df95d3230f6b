import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CurrentOperation } from '../../../api/instance.ts';
import type { InstanceRecord, OperationRecord } from '../../../service/index.ts';
import type { SentOperation } from '../memory.ts';
import { followOperation, NO_OPERATION, type OperationObservation, type OperationStep } from './follow.ts';

const LAG = 60_000;
const BEFORE = '2026-01-01 00:00:00.000000';
const AFTER = '2026-01-01 00:05:00.000000';

const record = (state: string, event: string, updated = AFTER): InstanceRecord => ({
  id: 'i',
  state,
  operation: { event },
  updated,
});
const listed = (id: string, operation: string, state: string, username = 'ops'): OperationRecord => ({
  id,
  operation,
  state,
  username,
});
const OLD = listed('old', 'reinstall', 'done');

function follow(
  more: Partial<Omit<OperationObservation, 'current' | 'sent' | 'operations'>> & {
    current?: Partial<CurrentOperation>;
    sent?: Partial<SentOperation>;
    operations?: OperationRecord[] | 'unreadable' | undefined;
  } = {},
): OperationStep {
  const { current, sent, operations = [OLD], ...rest } = more;
  return followOperation({
    current: {
      event: 'reinstall',
      updatedBefore: BEFORE,
      lastOperationId: 'old',
      startedAt: '2026-01-01T00:00:00Z',
      deadline: '2026-01-01T00:30:00Z',
      try: 1,
      ...current,
    },
    record: record('done', 'deploy', BEFORE),
    sent: {
      key: 'k',
      outcome: 'unknown',
      correcting: false,
      since: 0,
      quietSince: 0,
      updated: BEFORE,
      ...sent,
    },
    operations: operations === 'unreadable' ? { kind: 'unreadable' } : { kind: 'read', records: operations },
    user: 'ops',
    monotonic: LAG,
    lagWindowMs: LAG,
    ...rest,
  });
}

describe('an operation under way', () => {
  it('is sent once it is noted, and waited for while it runs', () => {
    expect(follow({ sent: { outcome: 'unsent' } })).toEqual({ do: 'send' });
    expect(follow({ record: record('processing', 'reinstall') })).toEqual({ do: 'wait' });
  });

  it('is not sent where another one has begun since it was noted', () => {
    const running = record('processing', 'shutdown');
    expect(follow({ sent: { outcome: 'unsent' }, record: running })).toEqual({ do: 'drop' });
  });

  it('is over when its record has ended, whatever the pair shows by now', () => {
    const ours = [OLD, listed('new', 'reinstall', 'done'), listed('later', 'shutdown', 'done')];
    expect(follow({ operations: ours, record: record('done', 'shutdown') })).toEqual({
      do: 'end',
      outcome: 'Succeeded',
    });
    expect(follow({ operations: [OLD, listed('new', 'reinstall', 'unavailable')] })).toEqual({
      do: 'end',
      outcome: 'Failed',
    });
    const second = [OLD, listed('new', 'terminate_service', 'done')];
    expect(follow({ operations: second, current: { event: 'terminate' } })).toMatchObject({ do: 'end' });
  });

  it("is not ended by somebody else's operation of the same kind", () => {
    const theirs = [OLD, listed('new', 'reinstall', 'done', 'somebody')];
    expect(follow({ operations: theirs, record: record('done', 'reinstall') })).toEqual({ do: 'again' });
  });

  it('is not ended by old records where none was noted, or the noted one is not listed', () => {
    for (const lastOperationId of [undefined, 'cut off']) {
      const current: Partial<CurrentOperation> = lastOperationId === undefined ? {} : { lastOperationId };
      const step = follow({
        current: { lastOperationId: undefined, ...current } as Partial<CurrentOperation>,
        operations: [OLD],
        monotonic: 0,
      });
      expect(step.do).toBe('wait');
    }
    expect(follow({ current: { lastOperationId: NO_OPERATION }, operations: [OLD] }).do).toBe('end');
  });

  it('is sent again when there is no record and nothing has moved for a lag window', () => {
    expect(follow({ monotonic: LAG - 1 })).toEqual({ do: 'wait', recheckAfterMs: 1 });
    expect(follow({ monotonic: LAG })).toEqual({ do: 'again' });
  });

  it('is not taken for done because the record moved while it shows an earlier operation of the same kind', () => {
    const edited = { record: record('done', 'reinstall'), sent: { quietSince: LAG / 2 } };
    expect(follow({ ...edited, monotonic: LAG }).do).toBe('wait');
    expect(follow({ ...edited, monotonic: 2 * LAG })).toEqual({ do: 'again' });
  });

  it('is waited for no longer than it was given, though the record moves all the time', () => {
    const moving = { record: record('done', 'deploy'), current: { event: 'reinstall' } };
    const at = (monotonic: number): OperationStep =>
      follow({ ...moving, sent: { outcome: 'accepted', quietSince: monotonic }, monotonic });
    expect(at(1_799_999)).toEqual({ do: 'wait', recheckAfterMs: 1 });
    expect(at(1_800_000)).toEqual({ do: 'again' });
  });

  it('is not ended by a record of before that is listed twice', () => {
    expect(follow({ operations: [OLD, OLD], monotonic: 0 }).do).toBe('wait');
  });

  it('gives way to what somebody else did, after a lag window', () => {
    const theirs = {
      operations: [OLD, listed('new', 'shutdown', 'done')],
      record: record('done', 'shutdown'),
    };
    expect(follow({ ...theirs, monotonic: 1 }).do).toBe('wait');
    expect(follow(theirs)).toEqual({ do: 'end', outcome: 'Superseded' });
  });

  it('goes by the pair where the operations cannot be read', () => {
    const unreadable = { operations: 'unreadable', monotonic: 0 } as const;
    expect(follow({ ...unreadable, record: record('done', 'reinstall') })).toEqual({
      do: 'end',
      outcome: 'Succeeded',
    });
    expect(follow({ ...unreadable, record: record('unavailable', 'reinstall') })).toEqual({
      do: 'end',
      outcome: 'Failed',
    });
    expect(follow({ ...unreadable, record: record('done', 'reinstall', BEFORE) }).do).toBe('wait');
  });

  it('looks for an earlier try before it is dropped for a 409', () => {
    const refused = { sent: { outcome: 'conflict' }, current: { try: 2 } } as const;
    expect(follow({ ...refused, operations: [OLD, listed('new', 'reinstall', 'done')] })).toEqual({
      do: 'end',
      outcome: 'Succeeded',
    });
    expect(follow(refused)).toEqual({ do: 'drop' });
    expect(follow({ ...refused, record: record('processing', 'shutdown') })).toEqual({ do: 'wait' });
  });

  it('is never sent a second time within a lag window, nor once it was accepted or is listed', () => {
    const states = fc.constantFrom('processing', 'done', 'unavailable');
    const events = fc.constantFrom('reinstall', 'deploy', 'shutdown', 'shutdown_service');
    const operation = fc.record({
      operation: events,
      state: states,
      username: fc.constantFrom('ops', 'somebody'),
    });
    fc.assert(
      fc.property(
        fc.record({ state: states, event: events, updated: fc.constantFrom(BEFORE, AFTER) }),
        fc.array(operation, { maxLength: 3 }),
        fc.boolean(),
        fc.constantFrom('accepted' as const, 'unknown' as const, 'conflict' as const),
        fc.integer({ min: 0, max: 2 * LAG }),
        (shown, newer, readable, outcome, quiet) => {
          const operations = newer.map((entry, n) =>
            listed(`n${n}`, entry.operation, entry.state, entry.username),
          );
          const step = follow({
            record: record(shown.state, shown.event, shown.updated),
            operations: readable ? [OLD, ...operations] : 'unreadable',
            sent: { outcome },
            monotonic: quiet,
          });
          const ours = readable && newer.some((o) => o.operation === 'reinstall' && o.username === 'ops');
          const rash = step.do === 'again' && (quiet < LAG || ours || shown.state === 'processing');
          expect(rash).toBe(false);
        },
      ),
    );
  });
});
