import { expect, test } from 'vitest';
import { LostFields } from './lost-fields.ts';

const MINUTE = 60_000;

test('what an answer lacks is named once, and holds what it may decide', () => {
  const lost = new LostFields('Instance');
  const patch = { lease: { released: false, source: { name: 'a' } }, phase: 'Online', id: 'i' };
  expect(lost.note('u', patch, { lease: { released: false }, id: 'i' }, 0)).toEqual([
    'lease.source',
    'phase',
  ]);
  expect(lost.note('v', patch, { lease: { released: false }, id: 'i' }, 0)).toEqual([]);
  expect(lost.hold(0)).toMatchObject({
    reason: 'NeedsUser',
    message: expect.stringContaining('drops status.lease.source:') as string,
  });
  lost.note('u', { conditions: [] }, { conditions: [] }, 1);
  // Nothing was sent: it is no note to be made up for, but worth a try.
  expect(lost.pending('u')).toEqual({});
  expect(lost.probe('u', false, MINUTE)).toBeUndefined();
  expect(lost.probe('u', false, 10 * MINUTE)).toEqual({ lease: patch.lease });
  lost.probed('u', { lease: patch.lease }, { lease: patch.lease }, 10 * MINUTE);
  expect(lost.hold(10 * MINUTE)).toBeUndefined();
});

test('what only shows holds nothing', () => {
  const lost = new LostFields('Box');
  lost.note(
    'u',
    { uri: '/services/boxes/b', machines: [{ name: 'm', state: 'done' }] },
    { machines: [{ name: 'm' }] },
    0,
  );
  expect(lost.hold(0)).toBeUndefined();
  expect(lost.pending('u')).toEqual({});
});

test('a patch of nothing but what was lost waits; one that says more goes out', () => {
  const lost = new LostFields('Box');
  expect(lost.covers({ uri: '/a' }, 0)).toBe(false);
  lost.note('u', { uri: '/a' }, {}, 0);
  expect(lost.covers({ uri: '/a' }, MINUTE)).toBe(true);
  expect(lost.covers({ uri: '/a', draftHash: 'h' }, MINUTE)).toBe(false);
  expect(lost.covers({ uri: '/a' }, 10 * MINUTE)).toBe(false);
});

test('it is over when an answer has the field, or nobody has lost it for long', () => {
  const lost = new LostFields('Box');
  lost.note('u', { draftHash: 'h' }, {}, 0);
  expect(lost.pending('u')).toEqual({ draftHash: 'h' });
  lost.note('u', { draftHash: 'h' }, { draftHash: 'h' }, MINUTE);
  expect(lost.hold(MINUTE)).toBeUndefined();
  expect(lost.pending('u')).toEqual({});
  lost.note('u', { draftHash: 'h' }, {}, 0);
  expect(lost.hold(21 * MINUTE)).toBeUndefined();
});

test('a field that is taken away, and lists of another length, say nothing', () => {
  const lost = new LostFields('Box');
  expect(lost.note('u', { drift: null, files: [{ path: 'a' }, { path: 'b' }] }, { files: [{}] }, 0)).toEqual(
    [],
  );
  expect(lost.note('u', { draftHash: 'h' }, undefined, 0)).toEqual([]);
});
