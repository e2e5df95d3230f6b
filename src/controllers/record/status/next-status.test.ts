import { describe, expect, it } from 'vitest';
import { eventOf, nextStatus, type AnyStatus } from './next-status.ts';
import { verdict } from './verdict.ts';

const NOW = '2026-01-02T00:00:00.000Z';
const REGARDING = {
  apiVersion: 'boxwright.dev/v1alpha1',
  kind: 'Box',
  namespace: 'shop',
  name: 'web',
  uid: 'u',
};

interface Status extends AnyStatus {
  id?: string;
  phase?: string;
}

const say = (status: Status, reason: 'Settled' | 'Refused' | 'Unknown', generation = 1): Status =>
  nextStatus(status, { verdict: verdict(reason, reason), fields: {} }, generation, NOW);

describe('the next status', () => {
  it('keeps what no field speaks of, and takes away what a field says is gone', () => {
    const next = nextStatus<Status>(
      { observedGeneration: 1, id: 'r1', phase: 'Online' },
      { verdict: verdict('Settled', 'x'), fields: { phase: undefined } },
      1,
      NOW,
    );
    expect(next.id).toBe('r1');
    expect(next.phase).toBeUndefined();
  });

  it('never moves observedGeneration back', () => {
    expect(say({ observedGeneration: 3 }, 'Settled', 2).observedGeneration).toBe(3);
    expect(say({ observedGeneration: -1 }, 'Settled', 1).observedGeneration).toBe(1);
  });

  it('is the same when the same is said again', () => {
    const once = say({ observedGeneration: -1 }, 'Settled');
    expect(say(once, 'Settled')).toEqual(once);
  });
});

const conditions = (reason: 'Settled' | 'Refused' | 'Unknown') =>
  say({ observedGeneration: 1 }, reason).conditions ?? [];

describe('an event', () => {
  it('is told when the leading reason changes, once', () => {
    expect(eventOf(undefined, conditions('Settled'), REGARDING)).toMatchObject({
      type: 'Normal',
      reason: 'Settled',
    });
    expect(eventOf(conditions('Settled'), conditions('Refused'), REGARDING)).toMatchObject({
      type: 'Warning',
      reason: 'Refused',
    });
    expect(eventOf(conditions('Refused'), conditions('Refused'), REGARDING)).toBeUndefined();
  });
});
