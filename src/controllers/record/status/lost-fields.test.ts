import { describe, expect, it, test } from 'vitest';
import { LostFields } from './lost-fields.ts';

const MINUTE = 60_000;

function everybody(): boolean {
  return true;
}

test('what an answer lacks is named once, and holds what it may decide', () => {
  const lost = new LostFields('Instance', everybody);
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
  expect(lost.over('u', {})).toEqual({});
  expect(lost.probe('u', false, MINUTE)).toBeUndefined();
  expect(lost.probe('u', false, 10 * MINUTE)).toEqual({ lease: patch.lease });
  lost.probed('u', { lease: patch.lease }, { lease: patch.lease }, 10 * MINUTE);
  expect(lost.hold(10 * MINUTE)).toBeUndefined();
});

test('what was lost of an object is laid over what was kept of it', () => {
  const lost = new LostFields('Box', everybody);
  const kept = { home: { owner: 'w' }, managed: { tags: ['t'] } };
  lost.note('u', { home: { endpoint: 'https://a.test' } }, kept, 0);
  expect(lost.over('u', kept)).toEqual({ ...kept, home: { owner: 'w', endpoint: 'https://a.test' } });
});

test('what only shows holds nothing', () => {
  const lost = new LostFields('Instance', everybody);
  lost.note(
    'u',
    { uri: '/services/boxes/b', machines: [{ name: 'm', state: 'done' }] },
    { machines: [{ name: 'm' }] },
    0,
  );
  expect(lost.hold(0)).toBeUndefined();
  expect(lost.over('u', {})).toEqual({});
});

test('a patch of nothing but what was lost waits; one that says more goes out', () => {
  const lost = new LostFields('Box', everybody);
  expect(lost.covers({ uri: '/a' }, 0)).toBe(false);
  lost.note('u', { uri: '/a' }, {}, 0);
  expect(lost.covers({ uri: '/a' }, MINUTE)).toBe(true);
  expect(lost.covers({ uri: '/a', draftHash: 'h' }, MINUTE)).toBe(false);
  expect(lost.covers({ uri: '/a' }, 10 * MINUTE)).toBe(false);
});

test('it is over when an answer has the field, or nobody has lost it for long', () => {
  const lost = new LostFields('Box', everybody);
  lost.note('u', { draftHash: 'h' }, {}, 0);
  expect(lost.over('u', {})).toEqual({ draftHash: 'h' });
  lost.note('u', { draftHash: 'h' }, { draftHash: 'h' }, MINUTE);
  expect(lost.hold(MINUTE)).toBeUndefined();
  expect(lost.over('u', {})).toEqual({});
  lost.note('u', { draftHash: 'h' }, {}, 0);
  expect(lost.hold(21 * MINUTE)).toBeUndefined();
});

test('a field that is taken away, and lists of another length, say nothing', () => {
  const lost = new LostFields('Box', everybody);
  expect(lost.note('u', { drift: null, files: [{ path: 'a' }, { path: 'b' }] }, { files: [{}] }, 0)).toEqual(
    [],
  );
  expect(lost.note('u', { draftHash: 'h' }, undefined, 0)).toEqual([]);
});

test('items of a list are compared whatever their order', () => {
  const lost = new LostFields('Box', everybody);
  const files = [{ path: 'a', hmac: '1' }, { path: 'b' }];
  expect(lost.note('u', { files }, { files: files.toReversed() }, 0)).toEqual([]);
  expect(lost.note('u', { files }, { files: [{ path: 'b' }, { path: 'a' }] }, 0)).toEqual(['files.[].hmac']);
  expect(lost.hold(0)).toMatchObject({ reason: 'NeedsUser' });
});

test.each([[{}], [[]], [{ reinstall: null }], [{ deep: { deeper: [] } }]])(
  'nothing is held for the loss of what says nothing: %o',
  (empty) => {
    const lost = new LostFields('Instance', everybody);
    expect(lost.note('u', { handledRequests: empty }, {}, 0)).toEqual(['handledRequests']);
    expect(lost.hold(0)).toBeUndefined();
    expect(lost.over('u', {})).toEqual({});
    // It is not written over and over either.
    expect(lost.covers({ handledRequests: empty }, MINUTE)).toBe(true);
    lost.note('u', { handledRequests: { reinstall: '1' } }, {}, MINUTE);
    expect(lost.hold(MINUTE)).toMatchObject({ reason: 'NeedsUser' });
  },
);

test('taking a lost field away does not prove that it is known', () => {
  const lost = new LostFields('Box', everybody);
  lost.note('u', { draftHash: 'h' }, {}, 0);
  lost.note('v', { draftHash: null, id: 'b' }, { id: 'b' }, 0);
  expect(lost.hold(0)).toMatchObject({ reason: 'NeedsUser' });
});

test('an answer that has the field says so, whoever wrote it and when', () => {
  const lost = new LostFields('Box', everybody);
  lost.note('u', { draftHash: 'h' }, {}, 0);
  lost.note('v', { id: 'b' }, { id: 'b', draftHash: 'other' }, 0);
  expect(lost.hold(0)).toBeUndefined();
});

describe('when a resource that has lost a field is gone', () => {
  it('nobody is held for it, and nothing is remembered of it', () => {
    const living = new Set(['u', 'v', 'w']);
    const lost = new LostFields('Box', (uid) => living.has(uid));
    lost.note('u', { draftHash: 'h' }, {}, 0);
    lost.note('v', { draftHash: 'i' }, {}, 0);
    living.delete('u');
    expect(lost.hold(0)).toMatchObject({ reason: 'NeedsUser' });
    expect(lost.size).toBe(1);
    living.delete('v');
    expect(lost.hold(0)).toBeUndefined();
    expect(lost.size).toBe(0);
    expect(lost.covers({ draftHash: 'h' }, 0)).toBe(false);
  });

  it('the write of another one forgets it, though nobody asks whether anything is held', () => {
    const living = new Set(['u', 'v']);
    const lost = new LostFields('Box', (uid) => living.has(uid));
    lost.note('u', { draftHash: 'h' }, {}, 0);
    living.delete('u');
    lost.note('v', { id: 'b' }, { id: 'b' }, 0);
    expect(lost.size).toBe(0);
  });
});

test('who asks on a resource that has lost nothing has what another one lost tried', () => {
  const lost = new LostFields('Box', everybody);
  lost.note('u', { draftHash: 'h' }, {}, 0);
  expect(lost.probe('v', false, 10 * MINUTE)).toBeUndefined();
  expect(lost.probe('v', true, 0)).toEqual({ draftHash: 'h' });
  lost.probed('v', { draftHash: 'h' }, { draftHash: 'h' }, 0);
  expect(lost.hold(0)).toBeUndefined();
});

test('who asks on a resource that has lost nothing has tried all that the others have lost', () => {
  const lost = new LostFields('Box', everybody);
  const told = { managed: { variables: ['a'] } };
  lost.note('t', told, {}, 0);
  lost.probed('t', told, told, 0);
  lost.note('u', { draftHash: 'h', lease: { by: 'Operator' } }, {}, 0);
  lost.note('v', { lease: { source: { uid: 'l' } } }, {}, 0);
  const all = { draftHash: 'h', lease: { by: 'Operator', source: { uid: 'l' } } };
  expect(lost.probe('w', true, 0)).toEqual(all);
  expect(lost.probe('t', true, 0)).toEqual(all);
  expect(lost.probe('t', false, 20 * MINUTE)).toBeUndefined();
  lost.probed('w', all, all, 0);
  expect(lost.hold(0)).toBeUndefined();
});

test('a try that was not answered is made again at the next look', () => {
  const lost = new LostFields('Box', everybody);
  lost.note('u', { draftHash: 'h' }, {}, 0);
  expect(lost.probe('u', false, 10 * MINUTE)).toEqual({ draftHash: 'h' });
  lost.unanswered('u', 10 * MINUTE);
  expect(lost.probe('u', false, 10 * MINUTE)).toEqual({ draftHash: 'h' });
  expect(lost.probe('u', false, 10 * MINUTE)).toBeUndefined();
});
