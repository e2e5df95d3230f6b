import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REASONS, type Reason } from '../../../api/reasons.ts';
import type { Condition } from '../../../api/resource.ts';
import { conditionsOf, verdict } from './verdict.ts';

const REASON_WORDS = Object.keys(REASONS) as Reason[];
const THEN = '2026-01-01T00:00:00.000Z';
const NOW = '2026-01-02T00:00:00.000Z';

function conditions(
  reason: Reason,
  current: { observedGeneration: number; conditions?: Condition[] } = { observedGeneration: -1 },
  generation = 1,
): Map<string, Condition> {
  const list = conditionsOf(verdict(reason, 'why'), { generation, current, now: NOW });
  return new Map(list.map((condition) => [condition.type, condition]));
}

const settled = (): Condition[] =>
  conditionsOf(verdict('Settled', 'as declared'), {
    generation: 1,
    current: { observedGeneration: 1 },
    now: THEN,
  });

describe('conditions', () => {
  it('take Ready back where it is not known whether the resource is as declared', () => {
    const current = { observedGeneration: 1, conditions: settled() };
    const said = { ...verdict('Unknown', 'not seen'), doubtsReady: true };
    const list = conditionsOf(said, { generation: 1, current, now: NOW });
    expect(list.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'Unknown', reason: 'Unknown' });
  });

  it('always have Ready, and never Reconciling and Stalled together; Stalled only with Ready False', () => {
    fc.assert(
      fc.property(fc.constantFrom(...REASON_WORDS), fc.boolean(), (reason, before) => {
        const found = conditions(
          reason,
          before ? { observedGeneration: 1, conditions: settled() } : { observedGeneration: -1 },
        );
        expect(found.has('Ready')).toBe(true);
        expect(found.has('Reconciling') && found.has('Stalled')).toBe(false);
        expect(found.has('Stalled') && found.get('Ready')?.status !== 'False').toBe(false);
        const beside = ['Reconciling', 'Stalled'].map((type) => found.get(type)?.status ?? 'True');
        expect(beside).toEqual(['True', 'True']);
      }),
    );
  });

  it('keep Ready through an outage while the generation is the one that was applied', () => {
    const during = conditions('ServiceUnavailable', { observedGeneration: 1, conditions: settled() });
    expect(during.get('Ready')).toMatchObject({ status: 'True', reason: 'Settled' });
    expect(during.get('Reconciling')).toMatchObject({ status: 'True', reason: 'ServiceUnavailable' });
    const changed = conditions('ServiceUnavailable', { observedGeneration: 1, conditions: settled() }, 2);
    expect(changed.get('Ready')).toMatchObject({ status: 'False', reason: 'ServiceUnavailable' });
  });

  it('move lastTransitionTime only with the status', () => {
    const current = { observedGeneration: 1, conditions: settled() };
    expect(conditions('ShutDown', current).get('Ready')?.lastTransitionTime).toBe(THEN);
    expect(conditions('Refused', current).get('Ready')?.lastTransitionTime).toBe(NOW);
  });

  it('are sorted, and cut what is too long', () => {
    const [ready] = conditionsOf(verdict('Settled', 'x'.repeat(5_000)), {
      generation: 1,
      current: { observedGeneration: 1 },
      now: NOW,
    });
    expect(ready?.message).toHaveLength(2_048);
    const types = conditionsOf(
      { ...verdict('Unknown', 'why'), extra: [{ type: 'Drifted', reason: 'Drifted', message: 'x' }] },
      { generation: 1, current: { observedGeneration: 1 }, now: NOW },
    ).map(({ type }) => type);
    expect(types).toEqual(types.toSorted());
  });
});
