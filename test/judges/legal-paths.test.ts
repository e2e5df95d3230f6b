import { beforeEach, describe, expect, it } from 'vitest';
import { ANNOTATIONS, FINALIZER } from '../../src/api/names.ts';
import { legalPaths } from './legal-paths.ts';
import { stored, Trial } from './trial.ts';

const INTENT = JSON.stringify({ try: 1, skip: [], seal: 'one' });
const CLAIM = { [ANNOTATIONS.externalId]: 'i-1', [ANNOTATIONS.claim]: 'installation-one/marker/uid-of-web' };
const HELD = { finalizers: [FINALIZER] };
const DELETING = { deletionTimestamp: '2027-01-01T00:00:00Z' };

/** An Instance that names the lease and has it. */
const instance = (metadata: object = {}): ReturnType<typeof stored> =>
  stored({
    metadata,
    spec: { leaseRef: { name: 'nights' } },
    status: { observedGeneration: 1, lease: { source: { uid: 'uid-of-nights' } } },
  });

let trial: Trial;
beforeEach(() => void (trial = new Trial(legalPaths)));

describe('a resource with a record', () => {
  const intended = { ...HELD, annotations: { [ANNOTATIONS.createIntent]: INTENT } };
  const claimed = { ...HELD, annotations: CLAIM };

  it('may go from intent to claim, and let go when it is deleted', () => {
    trial.store('instances', stored({}));
    trial.patch('instances', { metadata: intended });
    trial.patch('instances', {
      metadata: { annotations: { ...CLAIM, [ANNOTATIONS.createIntent]: null } },
    });
    trial.patch('instances', { status: { id: 'i-1' } });
    trial.store('instances', stored({ metadata: { ...claimed, ...DELETING }, status: { id: 'i-1' } }));
    trial.patch('instances', { metadata: { finalizers: [] } });
    expect(trial.end()).toEqual([]);
  });

  it.each([
    ['begin without a finalizer', {}, { annotations: { [ANNOTATIONS.createIntent]: INTENT } }],
    ['let go although nobody deletes it', claimed, { finalizers: [] }],
    ['claim another record than it has', claimed, { annotations: { [ANNOTATIONS.externalId]: 'i-2' } }],
    [
      'try again with fewer tries',
      { ...HELD, annotations: { [ANNOTATIONS.createIntent]: INTENT.replace('"try":1', '"try":2') } },
      { annotations: { [ANNOTATIONS.createIntent]: INTENT } },
    ],
  ])('may not %s', (_what, metadata, patch) => {
    const status = 'annotations' in metadata && metadata.annotations === CLAIM ? { id: 'i-1' } : {};
    trial.store('instances', stored({ metadata, status }));
    trial.patch('instances', { metadata: patch });
    expect(trial.said).toEqual([expect.stringContaining('no legal path')]);
  });

  it('names the version that it is patched from', () => {
    trial.store('instances', stored({}));
    trial.patch('instances', { metadata: { ...intended, resourceVersion: undefined } });
    expect(trial.said).toEqual([expect.stringContaining('without a resourceVersion')]);
  });

  it.each([
    ['may not change status.id', { id: 'i-2' }, 'status.id goes from i-1 to i-2'],
    ['may not note a delete that nobody asks for', { deleteSentAt: 'now' }, 'notes a delete'],
  ])('%s', (_what, status, said) => {
    trial.store('instances', stored({ metadata: HELD, status: { id: 'i-1' } }));
    trial.patch('instances', { status });
    expect(trial.said).toEqual([expect.stringContaining(said)]);
  });

  it('may have an earlier record back', () => {
    trial.store('instances', stored({ status: { id: 'i-2', former: [{ id: 'i-1', why: 'Gone' }] } }));
    trial.patch('instances', { status: { id: 'i-1', former: [{ id: 'i-2', why: 'Surplus' }] } });
    expect(trial.said).toEqual([]);
  });
});

describe('a lease', () => {
  const of = { name: 'nights' };

  it('may be held once an Instance names it, and let go when it is deleted and no Instance has it', () => {
    trial.store('instances', instance());
    trial.store('instanceleases', stored({ name: 'nights' }));
    trial.patch('instanceleases', { metadata: HELD }, of);
    trial.drop('instances');
    trial.store('instanceleases', stored({ name: 'nights', metadata: { ...HELD, ...DELETING } }));
    trial.patch('instanceleases', { metadata: { finalizers: [] } }, of);
    expect(trial.end()).toEqual([]);
  });

  it('may be let go while an Instance that has it has not said yet that it names another', () => {
    trial.store('instances', instance({ generation: 2 }));
    trial.store('instanceleases', stored({ name: 'nights', metadata: { ...HELD, ...DELETING } }));
    trial.patch('instanceleases', { metadata: { finalizers: [] } }, of);
    expect(trial.said).toEqual([]);
  });

  it.each([
    ['be held that no Instance names', {}, HELD, false],
    ['be let go that nobody deletes', HELD, { finalizers: [] }, false],
    ['be let go that an Instance has', { ...HELD, ...DELETING }, { finalizers: [] }, true],
    ['be claimed', HELD, { annotations: CLAIM }, true],
  ])('may not %s', (_what, metadata, patch, isNamed) => {
    if (isNamed) trial.store('instances', instance());
    trial.store('instanceleases', stored({ name: 'nights', metadata }));
    trial.patch('instanceleases', { metadata: patch }, of);
    expect(trial.said).toEqual([expect.stringContaining('no legal path')]);
  });
});
