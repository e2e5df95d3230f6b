import { beforeEach, expect, it } from 'vitest';
import { hammering } from './hammering.ts';
import { stored, Trial } from './trial.ts';

const PUT = ['PUT', '/services/boxes/b-1'] as const;

let trial: Trial;
beforeEach(() => void (trial = new Trial(hammering)));

const send = (times: number, status: number, everyS = 1): void => {
  for (let sent = 0; sent < times; sent++) {
    trial.call(...PUT, { status });
    trial.seconds += everyS;
  }
};

it.each([
  ['a refusal 12 times a day', 12, 400],
  ['an error 20 times an hour', 20, 503],
  ['what comes to nothing 20 times an hour', 20, 200],
])('takes %s, and no more', (_what, times, status) => {
  send(times, status);
  expect(trial.said).toEqual([]);
  send(1, status);
  expect(trial.said).toHaveLength(1);
});

it('takes any number of reads, and of writes that are far apart', () => {
  for (let read = 0; read < 1_000; read++) trial.call('GET', '/services/boxes/b-1');
  send(100, 503, 200);
  expect(trial.said).toEqual([]);
});

it('counts one more for each change that a person makes, and none for what the operator writes', () => {
  trial.store('boxes', stored({}));
  trial.store('boxes', stored({ metadata: { annotations: { 'boxwright.dev/requested-at': 'now' } } }));
  trial.patch('boxes', { status: { id: 'b-1' } });
  send(14, 400);
  expect(trial.said).toEqual([]);
  send(1, 400);
  expect(trial.said).toHaveLength(1);
});
