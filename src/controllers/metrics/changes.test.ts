import { describe, expect, it } from 'vitest';
import type { Instance } from '../../api/instance.ts';
import type { Condition } from '../../api/resource.ts';
import { tellingsOf, type Telling } from './changes.ts';

const CREATED = '2026-01-01T00:00:00Z';
const NOW = Date.parse('2026-01-01T01:00:00Z');

function instance(status: object, more: object = {}): Instance {
  return {
    kind: 'Instance',
    metadata: { name: 'web', namespace: 'shop', uid: 'u', creationTimestamp: CREATED },
    status: { observedGeneration: 1, ...status },
    ...more,
  } as Instance;
}

function condition(type: string, status: Condition['status'], reason = 'X', at = CREATED): Condition {
  return { type, status, reason, message: '', lastTransitionTime: at };
}

const told = (before: object, after: object): Telling[] => tellingsOf(instance(before), instance(after), NOW);

const CURRENT = {
  event: 'reinstall',
  startedAt: '2026-01-01T00:10:00Z',
  deadline: '2026-01-01T00:40:00Z',
  try: 1,
};
const ENDED = {
  event: 'reinstall',
  outcome: 'Succeeded',
  startedAt: '2026-01-01T00:10:00Z',
  endedAt: '2026-01-01T00:12:30Z',
};

const ending = (event: string): Telling[] => told({}, { lastOperation: { ...ENDED, event } });

describe('a change of status tells', () => {
  it('nothing where only words or times differ', () => {
    expect(told({ phase: 'Online' }, { phase: 'Online', address: '10.0.0.1' })).toEqual([]);
    expect(told({ lastOperation: ENDED }, { lastOperation: ENDED, phase: 'Online' })).toEqual([]);
  });

  it('that a resource became Ready, and how long it was not, for the first time since it was made', () => {
    const ready = { conditions: [condition('Ready', 'True')] };
    expect(told({}, ready)).toEqual([{ tells: 'ready', afterMs: 3_600_000 }]);
    const since = condition('Ready', 'False', 'Deploying', '2026-01-01T00:59:00Z');
    expect(told({ conditions: [since] }, ready)).toEqual([{ tells: 'ready', afterMs: 60_000 }]);
    expect(told(ready, ready)).toEqual([]);
  });

  it('that an operation ended, and how long it took', () => {
    const expected = { tells: 'operation', operation: 'reinstall', outcome: 'Succeeded', ms: 150_000 };
    expect(told({ currentOperation: CURRENT }, { lastOperation: ENDED })).toEqual([expected]);
    const again = { ...ENDED, startedAt: '2026-01-01T00:20:00Z', endedAt: '2026-01-01T00:21:00Z' };
    expect(told({ lastOperation: ENDED }, { lastOperation: again })).toMatchObject([{ ms: 60_000 }]);
  });

  it('the end of the first deploy by the start that the service shows', () => {
    const operation = { event: 'deploy', created: '2026-01-01 00:10:00.000000' };
    const lastOperation = { event: 'deploy', outcome: 'Succeeded', endedAt: '2026-01-01T00:12:00Z' };
    expect(told({}, { operation, lastOperation })).toMatchObject([{ operation: 'deploy', ms: 120_000 }]);
    expect(told({}, { operation: { event: 'deploy', created: 'soon' }, lastOperation })).toEqual([
      { tells: 'operation', operation: 'deploy', outcome: 'Succeeded' },
    ]);
  });

  it('that an operation was refused: by the service, or since the state does not allow it', () => {
    const refused = { conditions: [condition('Stalled', 'True', 'Refused'), condition('Ready', 'False')] };
    const expected = { tells: 'operation', operation: 'reinstall', outcome: 'Refused' };
    expect(told({ currentOperation: CURRENT }, refused)).toEqual([expected]);
    const refusedRequest = { operation: 'reinstall', message: 'needs it online' };
    const handledRequests = { reinstall: '1' };
    expect(told({}, { refusedRequest, handledRequests })).toEqual([expected]);
    expect(told({ refusedRequest, handledRequests }, { refusedRequest, handledRequests })).toEqual([]);
    // Dropped for a 409, to be decided upon anew.
    expect(told({ currentOperation: CURRENT }, {})).toEqual([]);
  });

  it('operations in a closed list of words, whatever stands in status', () => {
    expect(ending('shutdown_service')).toMatchObject([{ operation: 'shutdown' }]);
    expect(ending('something else')).toMatchObject([{ operation: 'other' }]);
  });

  it('that a lease was carried out, by whom, once', () => {
    const armed = { operation: 'Shutdown', released: false };
    const released = { operation: 'Shutdown', released: true, by: 'Operator' };
    expect(told({ lease: armed }, { lease: released })).toEqual([
      { tells: 'leaseEnd', operation: 'Shutdown', by: 'Operator' },
    ]);
    expect(told({ lease: released }, { lease: released, phase: 'ShutDown' })).toEqual([]);
  });

  it('nothing of a stored object that does not fit its schema', () => {
    const odd = instance({ lastOperation: 'oops' }, { problems: [{ field: '', message: '' }] });
    expect(tellingsOf(instance({}), odd, NOW)).toEqual([]);
  });
});
