import { beforeEach, expect, it } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';
import { Trial } from './trial.ts';

const PATH = '/services/instances/i-1';
const PUT = ['PUT', PATH] as const;

let trial: Trial;
beforeEach(() => void (trial = new Trial(oneAtATime)));

it('takes one write after the other, reads beside them, and writes to two records at a time', () => {
  const first = trial.begins(...PUT);
  const other = trial.begins('PUT', '/services/instances/i-2');
  trial.call('GET', PATH);
  trial.ends(first);
  trial.ends(other);
  trial.call(...PUT);
  expect(trial.said).toEqual([]);
});

it('objects to a write that goes out while another one to the record is under way', () => {
  trial.begins(...PUT);
  trial.begins('DELETE', `${PATH}?operation=terminate`);
  expect(trial.said).toEqual([expect.stringContaining('is under way')]);
});

it('objects to a write to an instance that was seen at work, unless it forces the end', () => {
  trial.call('GET', PATH, { answer: { id: 'i-1', state: 'processing' } });
  trial.call('DELETE', `${PATH}?operation=force_terminate`);
  trial.call('GET', PATH, { answer: { id: 'i-1', state: 'processing' } });
  expect(trial.said).toEqual([]);
  trial.call(...PUT);
  expect(trial.said).toEqual([expect.stringContaining('was seen processing')]);
});

it('takes a write once a list has shown the end, or a process has started anew', () => {
  trial.call('GET', PATH, { answer: { id: 'i-1', state: 'processing' } });
  trial.call('GET', '/services/workspaces/w-1/instances', { answer: [{ id: 'i-1', state: 'done' }] });
  trial.begins(...PUT);
  trial.judge.started?.();
  trial.call(...PUT);
  expect(trial.said).toEqual([]);
});
