import { beforeEach, expect, it } from 'vitest';
import { generations } from './generations.ts';
import { stored, Trial } from './trial.ts';

let trial: Trial;
beforeEach(() => {
  trial = new Trial(generations);
  trial.store('boxes', stored({ metadata: { generation: 2 }, status: { observedGeneration: 1 } }));
});

it('is silent where each generation is spoken of in time', () => {
  trial.seconds = 14;
  trial.patch('boxes', { status: { observedGeneration: 2 } });
  trial.seconds = 3_600;
  expect(trial.end()).toEqual([]);
});

it('objects to one that is spoken of late, and to one that never is', () => {
  trial.store('boxes', stored({ name: 'never', status: {} }));
  trial.seconds = 16;
  trial.patch('boxes', { status: { observedGeneration: 2 } });
  expect(trial.end()).toEqual([
    'boxes shop/web, generation 2: not spoken of for 16.0 s',
    'boxes shop/never, generation 1: not spoken of for 16.0 s',
  ]);
});

it('counts from a start, from when the API server could be reached again, and from a write that failed', () => {
  for (const event of [
    () => trial.judge.started?.(),
    () => trial.judge.reached?.(0),
    () => trial.patch('boxes', { status: { observedGeneration: 2 } }, { status: 500 }),
  ]) {
    trial.seconds += 14;
    event();
  }
  trial.seconds += 14;
  expect(trial.end()).toEqual([]);
});

it('waits for the answer to a call of its pass, and longer after each refusal of the API server', () => {
  const call = trial.begins('GET', '/services/boxes/b1', { by: 'boxes shop/web' });
  trial.seconds = 24;
  trial.ends(call);
  trial.seconds = 38;
  trial.patch('boxes', { status: { observedGeneration: 2 } }, { status: 403 });
  trial.seconds = 900;
  trial.patch('boxes', { status: { observedGeneration: 2 } });
  expect(trial.end()).toEqual([]);
});

it('does not wait for ever after a refusal', () => {
  trial.patch('boxes', { status: { observedGeneration: 2 } }, { status: 403 });
  trial.seconds = 940;
  expect(trial.end()).toEqual(['boxes shop/web, generation 2: not spoken of for 940.0 s']);
});
