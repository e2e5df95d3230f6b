import { beforeEach, expect, it } from 'vitest';
import { FINALIZER } from '../../src/api/names.ts';
import { markerOf } from '../../src/controllers/record/identity/marker.ts';
import { absence } from './absence.ts';
import { ENDPOINT, INSTALLATION, stored, Trial } from './trial.ts';

const MARKER = markerOf(INSTALLATION, { kind: 'Instance', namespace: 'shop', name: 'web' });
const LIVING = { id: 'i-1', name: 'web', owner: 'w-1', state: 'done', operation: { event: 'deploy' } };
const POST = '/services/instances';
const HOME = { endpoint: ENDPOINT, owner: 'w-1' };

let trial: Trial;
beforeEach(() => {
  trial = new Trial(absence);
  trial.records.instances.push({ ...LIVING, tags: [MARKER] });
});

const deleted = (spec: Record<string, unknown> = {}): void =>
  trial.store(
    'instances',
    stored({
      metadata: { finalizers: [FINALIZER], deletionTimestamp: '2027-01-01T00:00:00Z' },
      spec,
      status: { id: 'i-1', home: HOME },
    }),
  );
const letGo = (): void => trial.patch('instances', { metadata: { finalizers: [] } });
/** Looks that do not show it, one each 15 s for a minute and more. */
const unseen = (seconds: number): void => {
  for (const end = trial.seconds + seconds; trial.seconds <= end; trial.seconds += 15) {
    trial.call('GET', '/services/instances/i-1', { status: 404 });
    trial.call('GET', '/services/workspaces/w-1/instances', { answer: [] });
  }
};

it('objects to a second create while the first record lives', () => {
  trial.store('instances', stored({}));
  trial.call('POST', POST, { body: { owner: 'w-1' } });
  expect(trial.said).toEqual([expect.stringContaining('a second record is made while i-1 lives')]);
});

it('lets a second one be created once the first has ended', () => {
  trial.records.instances[0] = { ...LIVING, tags: [MARKER], operation: { event: 'terminate' } };
  trial.store('instances', stored({}));
  trial.call('POST', POST, { body: { owner: 'w-1' } });
  expect(trial.said).toEqual([]);
});

it.each([0, 30])(
  'objects to a finalizer that goes after %d s in which reads did not show the record',
  (s) => {
    deleted();
    unseen(s);
    letGo();
    expect(trial.said).toEqual([expect.stringContaining('its finalizer goes while i-1 is there')]);
  },
);

it('lets the finalizer go once reads have not shown the record for a lag window, or with Orphan', () => {
  deleted({ deletionPolicy: 'Orphan' });
  letGo();
  deleted();
  unseen(90);
  letGo();
  expect(trial.said).toEqual([]);
});

it('objects where a write of ours came in between, after which the window begins anew', () => {
  deleted();
  unseen(45);
  trial.call('PUT', '/services/instances/i-1');
  unseen(30);
  letGo();
  expect(trial.said).toHaveLength(1);
});

it('objects to a status that lets go of a record that lives', () => {
  trial.store(
    'instances',
    stored({ metadata: { finalizers: [FINALIZER] }, status: { id: 'i-1', home: HOME } }),
  );
  trial.patch('instances', { status: { id: null } });
  expect(trial.said).toEqual([expect.stringContaining('status lets go of i-1')]);
});

it('objects to a finalizer that goes while an earlier record is there', () => {
  trial.store(
    'instances',
    stored({
      metadata: { finalizers: [FINALIZER], deletionTimestamp: '2027-01-01T00:00:00Z' },
      status: { former: [{ id: 'i-1', endpoint: ENDPOINT, why: 'Gone' }] },
    }),
  );
  letGo();
  expect(trial.said).toEqual([expect.stringContaining('an earlier record, is there')]);
});
