import { beforeEach, expect, it } from 'vitest';
import { oldBase } from './old-base.ts';
import { stored, Trial } from './trial.ts';

const PATH = '/services/instances/i-1';
const read = (tags: string[]): void => trial.call('GET', PATH, { answer: { id: 'i-1', tags } });
const put = (tags: string[], answer: object = {}): void =>
  trial.call('PUT', PATH, { body: { id: 'i-1', tags }, answer: { id: 'i-1', tags, ...answer } });

let trial: Trial;
beforeEach(() => void (trial = new Trial(oldBase)));

it('takes a PUT that keeps what others added and takes away what was ours', () => {
  trial.call('POST', '/services/instances', { body: { tags: ['ours'] }, answer: { id: 'i-1' } });
  read(['ours', 'theirs']);
  put(['theirs', 'more']);
  put(['theirs']);
  expect(trial.said).toEqual([]);
});

it('takes away what status calls managed', () => {
  trial.store('instances', stored({ status: { id: 'i-1', managed: { tags: ['ours'] } } }));
  read(['ours']);
  put([]);
  expect(trial.said).toEqual([]);
});

it('objects to a PUT that takes away what others added, whichever part it is', () => {
  trial.call('GET', PATH, {
    answer: { id: 'i-1', tags: ['theirs'], variables: [{ name: 'A' }], members: [{ workspace: 'w' }] },
  });
  trial.call('PUT', PATH, { body: { id: 'i-1', tags: [], variables: [], members: [] } });
  expect(trial.said.map((said) => /takes away (\w+)/.exec(said)?.[1])).toEqual([
    'variables',
    'tags',
    'members',
  ]);
});

it('objects to a PUT of what was never read, or not since the last write was answered', () => {
  put(['ours']);
  expect(trial.said).toEqual([expect.stringContaining('nothing was read of it before')]);
  trial.seconds = 1;
  trial.call('PUT', `${PATH}/shutdown`);
  put(['ours']);
  expect(trial.said).toHaveLength(2);
  expect(trial.said[1]).toContain('before the last write was answered');
});
