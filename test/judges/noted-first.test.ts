import { beforeEach, expect, it } from 'vitest';
import { ANNOTATIONS, FINALIZER } from '../../src/api/names.ts';
import { markerOf } from '../../src/controllers/record/identity/marker.ts';
import { notedFirst } from './noted-first.ts';
import { INSTALLATION, stored, Trial } from './trial.ts';

const MARKER = markerOf(INSTALLATION, { kind: 'Instance', namespace: 'shop', name: 'web' });
const INTENDED = { finalizers: [FINALIZER], annotations: { [ANNOTATIONS.createIntent]: '{}' } };
const create = (): void => trial.call('POST', '/services/instances', { body: { tags: [MARKER] } });

let trial: Trial;
beforeEach(() => void (trial = new Trial(notedFirst)));

it('takes what is noted before it goes out', () => {
  trial.store('instances', stored({ metadata: INTENDED }));
  create();
  trial.store('instances', stored({ status: { id: 'i-1', currentOperation: { event: 'shutdown' } } }));
  trial.call('PUT', '/services/instances/i-1/shutdown');
  trial.store('instances', stored({ status: { id: 'i-1', deleteSentAt: 'now' } }));
  trial.call('DELETE', '/services/instances/i-1?operation=delete');
  trial.call('DELETE', '/services/instances/i-1?operation=terminate');
  expect(trial.said).toEqual([]);
});

it.each([
  ['without an intent', { finalizers: [FINALIZER] }, {}],
  ['without a finalizer', { annotations: INTENDED.annotations }, {}],
  ['although it has a record', INTENDED, { id: 'i-1' }],
])('objects to a create that goes out %s', (_what, metadata, status) => {
  trial.store('instances', stored({ metadata, status }));
  create();
  expect(trial.said).toHaveLength(1);
});

it('objects to a create with the marker of nobody', () => {
  create();
  expect(trial.said).toEqual([expect.stringContaining('carries the marker of 0 resources')]);
});

it.each([
  ['PUT', '/services/instances/i-1/shutdown', 'shutdown goes out before status names it'],
  ['DELETE', '/services/instances/i-1?operation=delete', 'goes out before status notes it'],
])('objects to %s %s that status does not name', (method, path, said) => {
  trial.store('instances', stored({ status: { id: 'i-1', currentOperation: { event: 'poweron' } } }));
  trial.call(method, path);
  expect(trial.said).toEqual([expect.stringContaining(said)]);
});
