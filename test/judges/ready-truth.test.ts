import { beforeEach, expect, it } from 'vitest';
import type { Shown } from '../support/world.ts';
import { readyTruth } from './ready-truth.ts';
import { ENDPOINT, stored, Trial } from './trial.ts';

const READY = [{ type: 'Ready', status: 'True', reason: 'Settled', message: 'as declared' }];
const deploy = { operation: 'deploy', state: 'done', created: '2027-01-01', instance: 'i-1' };

let trial: Trial;
beforeEach(() => {
  trial = new Trial(readyTruth);
  holds([], ['blue']);
  trial.operations.push(deploy);
});

const holds = (variables: object[], tags: string[]): void => {
  const operation = { event: 'deploy' };
  trial.records.instances[0] = { id: 'i-1', name: 'web', state: 'done', operation, variables, tags };
};
const declared = (spec: Record<string, unknown>, generation = 1): void =>
  trial.store(
    'instances',
    stored({ metadata: { generation }, spec, status: { id: 'i-1', home: { endpoint: ENDPOINT } } }),
  );
const current = (): Shown => trial.stored('instances');
const ready = (observedGeneration = 1): void =>
  trial.patch('instances', { status: { observedGeneration, conditions: READY } });

it('takes Ready for what the record holds, and for what it held before somebody changed it', () => {
  declared({ tags: ['blue'] });
  ready();
  holds([], []);
  trial.patch('instances', { status: { phase: 'Online' } });
  expect(trial.said).toEqual([]);
});

it('takes Ready for what the record held before somebody changes it by hand, and status speaks', () => {
  declared({ tags: ['red'] }, 2);
  holds([], ['red']);
  trial.judge.byHand?.();
  holds([], []);
  ready(2);
  expect(trial.said).toEqual([]);
});

it('takes what others have changed for drift where a generation between was never spoken of', () => {
  declared({ tags: ['blue'], driftPolicy: 'Ignore' });
  ready();
  holds([], []);
  trial.store('instances', {
    ...current(),
    metadata: { ...current().metadata, generation: 2 },
    spec: { tags: [], driftPolicy: 'Ignore' },
  });
  trial.store('instances', {
    ...current(),
    metadata: { ...current().metadata, generation: 3 },
    spec: { tags: ['blue'], driftPolicy: 'Ignore' },
  });
  ready(3);
  expect(trial.said).toEqual([]);
});

it.each([
  ['a tag that the record lacks', { tags: ['red'] }, 'tag red is missing'],
  ['a variable that it lacks', { variables: [{ name: 'PORT', value: '80' }] }, 'variable PORT is missing'],
])('objects to Ready with %s', (_what, spec, said) => {
  declared(spec);
  ready();
  expect(trial.said).toEqual([expect.stringContaining(said)]);
});

it('objects to Ready where there is no record', () => {
  trial.records.instances.pop();
  declared({});
  ready();
  expect(trial.said).toEqual([expect.stringContaining('there is no record i-1')]);
});

it('objects to Ready before an operation has brought changed variables to the machines, and takes it after', () => {
  const spec = { applyChanges: 'Reconfigure', variables: [{ name: 'PORT', value: '80' }] };
  holds([{ name: 'PORT', type: 'Text', value: '80' }], []);
  declared(spec);
  ready();
  const changed = { ...spec, variables: [{ name: 'PORT', value: '81' }] };
  declared(changed, 2);
  holds([{ name: 'PORT', type: 'Text', value: '81' }], []);
  trial.operations.push({ ...deploy, operation: 'reconfigure' });
  ready(2);
  expect(trial.said).toEqual([]);
  declared({ ...spec, variables: [{ name: 'PORT', value: '82' }] }, 3);
  holds([{ name: 'PORT', type: 'Text', value: '82' }], []);
  ready(3);
  expect(trial.said).toEqual([expect.stringContaining('no operation has brought them')]);
});

it('takes anything of what is only observed, or paused', () => {
  declared({ tags: ['red'], managementPolicy: 'Observe' });
  ready();
  declared({ tags: ['red'], paused: true }, 2);
  ready(2);
  expect(trial.said).toEqual([]);
});
