import { beforeEach, expect, it } from 'vitest';
import { statusContract } from './status-contract.ts';
import { stored, Trial } from './trial.ts';

const condition = (type: string, status = 'True', reason = 'Settled', message = 'said'): object => ({
  type,
  status,
  reason,
  message,
});

let trial: Trial;
beforeEach(() => {
  trial = new Trial(statusContract);
  trial.store('boxes', stored({ metadata: { generation: 2 }, status: { observedGeneration: 1 } }));
});

it('takes a status that keeps to it', () => {
  const conditions = [condition('Ready', 'False', 'Refused'), condition('Stalled')];
  trial.patch('boxes', { status: { observedGeneration: 2, conditions } });
  trial.patch('boxes', { status: { conditions: [condition('Ready')] } });
  expect(trial.said).toEqual([]);
});

it.each([
  ['observedGeneration runs ahead', { observedGeneration: 3 }],
  ['observedGeneration went back', { observedGeneration: 0 }],
  ['status has 30', { stack: 'x'.repeat(30_000) }],
  ['Reconciling and Stalled both stand', { conditions: [condition('Reconciling'), condition('Stalled')] }],
  ['Stalled stands although it is False', { conditions: [condition('Stalled', 'False')] }],
  ['reason Weird is not in the list', { conditions: [condition('Ready', 'True', 'Weird')] }],
  ['says nothing', { conditions: [condition('Ready', 'True', 'Settled', '')] }],
])('objects: %s', (said, status) => {
  trial.patch('boxes', { status });
  expect(trial.said).toEqual([expect.stringContaining(said)]);
});

it('objects to a status that names no version', () => {
  trial.patch('boxes', { metadata: { resourceVersion: undefined }, status: { observedGeneration: 2 } });
  expect(trial.said).toEqual([expect.stringContaining('without a resourceVersion')]);
});
