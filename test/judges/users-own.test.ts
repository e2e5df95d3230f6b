import { beforeEach, expect, it } from 'vitest';
import { ANNOTATIONS, FINALIZER } from '../../src/api/names.ts';
import { stored, Trial } from './trial.ts';
import { usersOwn } from './users-own.ts';

let trial: Trial;
beforeEach(() => {
  trial = new Trial(usersOwn);
  const metadata = { labels: { app: 'shop' }, annotations: { note: 'mine' }, finalizers: ['theirs/hold'] };
  trial.store('boxes', stored({ metadata }));
});

it('takes what the operator writes of its own', () => {
  const annotations = { [ANNOTATIONS.externalId]: 'b-1' };
  trial.patch('boxes', { metadata: { annotations, finalizers: ['theirs/hold', FINALIZER] } });
  trial.patch('boxes', { status: { id: 'b-1' } });
  expect(trial.said).toEqual([]);
});

it.each([
  ['spec', { spec: { paused: true } }, 'writes spec'],
  ['a label', { metadata: { labels: { app: null } } }, 'changes labels'],
  ['an annotation', { metadata: { annotations: { note: 'ours' } } }, '(note)'],
  ['a finalizer', { metadata: { finalizers: [FINALIZER] } }, '(theirs/hold)'],
])('objects to a write of %s of the user', (_what, patch, said) => {
  trial.patch('boxes', patch);
  expect(trial.said).toEqual([expect.stringContaining(said)]);
});

it('says nothing of what the user has changed meanwhile', () => {
  trial.patch('boxes', { metadata: { annotations: { note: 'new' }, resourceVersion: '0' } });
  expect(trial.said).toEqual([]);
});
