import { beforeEach, expect, it } from 'vitest';
import { ANNOTATIONS } from '../../src/api/names.ts';
import { markerOf } from '../../src/controllers/record/identity/marker.ts';
import { ownRecords } from './own-records.ts';
import { BY, INSTALLATION, stored, Trial } from './trial.ts';

const MARKER = markerOf(INSTALLATION, { kind: 'Instance', namespace: 'shop', name: 'web' });
const PUT = ['PUT', '/services/instances/i-1'] as const;
const DELETE = ['DELETE', '/services/instances/i-1?operation=delete'] as const;

let trial: Trial;
beforeEach(() => {
  trial = new Trial(ownRecords);
  trial.records.instances.push({ id: 'i-1', name: 'web', tags: [] });
});

/** The operator notes the id, whatever gives it a right to it. */
const noted = (metadata: object = {}): void => {
  trial.store('instances', stored({ metadata, status: {} }));
  trial.patch('instances', { status: { id: 'i-1' } });
};

it('takes a write to what a create of the resource made', () => {
  trial.call('POST', '/services/instances', { answer: { id: 'i-1' } });
  noted();
  trial.call(...PUT);
  expect(trial.said).toEqual([]);
});

it('takes a write to what carries the marker, is adopted, or stood in status before', () => {
  noted({ annotations: { [ANNOTATIONS.adopt]: 'i-1' } });
  trial.call(...PUT);
  trial.records.instances.push({ id: 'i-2', name: 'web', tags: [MARKER] });
  trial.store('instances', stored({ status: { id: 'i-2' } }));
  trial.call('PUT', '/services/instances/i-2');
  trial.records.instances.push({ id: 'i-3', name: 'web', tags: [] });
  trial.store('instances', stored({ status: { id: 'i-3' } }));
  trial.call('PUT', '/services/instances/i-3');
  expect(trial.said).toEqual([]);
});

it('takes away what was let go of after a delete and is there again, while nobody has it', () => {
  trial.call('POST', '/services/instances', { answer: { id: 'i-1' } });
  noted();
  trial.drop('instances');
  trial.call(...DELETE);
  expect(trial.said).toEqual([]);
  trial.store('instances', stored({ name: 'other', status: { id: 'i-1' } }));
  trial.call(...DELETE);
  expect(trial.said).toHaveLength(1);
});

it.each([
  ['that nothing gives it a right to', () => noted(), {}, 'nothing gives it a right'],
  [
    'that it does not hold',
    () => trial.store('instances', stored({ status: {} })),
    {},
    'holds no such record',
  ],
  ['of nobody', () => undefined, {}, "nobody's"],
  ['for a Box', () => noted(), { by: BY.replace('instances', 'boxes') }, "nobody's"],
])('objects to a write to a record %s', (_what, before, parts, said) => {
  before();
  trial.call(...PUT, parts);
  expect(trial.said[0]).toContain(said);
});

it('objects to a write to what an older resource has a right to', () => {
  trial.call('POST', '/services/instances', { answer: { id: 'i-1' }, by: 'instances shop/older' });
  trial.store(
    'instances',
    stored({ name: 'older', metadata: { creationTimestamp: '2026-01-01T00:00:00Z' }, status: { id: 'i-1' } }),
  );
  noted({ creationTimestamp: '2026-02-01T00:00:00Z', annotations: { [ANNOTATIONS.adopt]: 'i-1' } });
  trial.call(...PUT);
  expect(trial.said).toEqual([expect.stringContaining('shop/older holds that record and is older')]);
});
