import { describe, expect, it } from 'vitest';
import { ANNOTATIONS, FINALIZER } from '../../src/api/names.ts';
import { markerOf } from '../../src/controllers/record/identity/marker.ts';
import type { Court } from './judge.ts';
import {
  formerOf,
  hasEnded,
  holds,
  homeOf,
  isMarked,
  markersIn,
  mayRemoveFormer,
  readyOf,
  standingOf,
} from './parts.ts';
import { ENDPOINT, INSTALLATION, stored } from './trial.ts';

const CLAIM = (uid: string): object => ({
  annotations: { [ANNOTATIONS.externalId]: 'i-1', [ANNOTATIONS.claim]: `${INSTALLATION}/marker/${uid}` },
});
const COURT = { installation: () => INSTALLATION } as Court;
const DELETING = { deletionTimestamp: '2027-01-01T00:00:00Z' };

describe('the standing of a resource', () => {
  it('is what its metadata and status say', () => {
    const metadata = { ...CLAIM('uid-of-web'), ...DELETING, finalizers: ['others/own', FINALIZER] };
    expect(standingOf(stored({ metadata, status: { id: 'i-1' } }))).toEqual({
      finalizer: true,
      intent: undefined,
      claimed: 'i-1',
      statusId: 'i-1',
      deleting: true,
    });
  });

  it('has no claim that another life of the name made, and no finalizer of others', () => {
    const metadata = { ...CLAIM('uid-of-a-dead-one'), finalizers: ['others/own'] };
    expect(standingOf(stored({ metadata }))).toMatchObject({ finalizer: false, claimed: undefined });
  });
});

it.each([
  ['its status names it', stored({ status: { id: 'i-1' } }), true],
  ['its claim names it', stored({ metadata: CLAIM('uid-of-web') }), true],
  [
    'its claim names it and its status another',
    stored({ metadata: CLAIM('uid-of-web'), status: { id: 'i-2' } }),
    false,
  ],
  ['the claim of another life names it', stored({ metadata: CLAIM('uid-of-a-dead-one') }), false],
])('a resource holds a record where %s: %s', (_what, resource, isHeld) => {
  expect(holds(resource, 'i-1')).toBe(isHeld);
});

it.each([
  ['Surplus', {}, true],
  ['Gone', {}, false],
  ['Gone', DELETING, true],
])('an earlier record that is %s may be removed for a resource with %o: %s', (why, metadata, may) => {
  const resource = stored({ metadata, status: { former: [{ id: 'i-1', endpoint: ENDPOINT, why }] } });
  expect([mayRemoveFormer(resource, 'i-1'), mayRemoveFormer(resource, 'i-9')]).toEqual([may, false]);
});

describe('a marker', () => {
  const marker = markerOf(INSTALLATION, { kind: 'Instance', namespace: 'shop', name: 'web' });
  const ofBox = markerOf(INSTALLATION, { kind: 'Box', namespace: 'shop', name: 'web' });

  it('is found in a text, and not where it is part of a longer word', () => {
    expect(markersIn(`tags ["${marker}"] and ${marker}x and x${marker}`)).toEqual([marker]);
  });

  it.each([
    ['instances', { name: 'web', tags: [marker] }, true],
    ['instances', { name: marker, tags: [] }, false],
    ['instances', { name: 'web', tags: [`${marker}x`] }, false],
    ['instances', { name: 'web', tags: [ofBox] }, false],
    ['boxes', { name: ofBox }, true],
    ['boxes', { name: 'web', tags: [ofBox] }, false],
    ['connections', { name: ofBox }, false],
  ])('of %s is on the record %o: %s', (plural, record, isOn) => {
    expect(isMarked(COURT, { id: 'i-1', ...record }, plural, 'shop/web')).toBe(isOn);
  });

  it('is nobody’s before there is an installation', () => {
    const court = { installation: () => undefined } as unknown as Court;
    expect(isMarked(court, { id: 'i-1', name: 'web', tags: [marker] }, 'instances', 'shop/web')).toBe(false);
  });
});

it.each([
  ['done', 'terminate', true],
  ['done', 'terminate_service', true],
  ['processing', 'terminate', false],
  ['unavailable', 'terminate', false],
  ['done', 'shutdown', false],
])('a record that is %s after %s is over: %s', (state, event, isOver) => {
  expect(hasEnded({ state, operation: { event } })).toBe(isOver);
});

it('reads what is absent as absent', () => {
  expect([homeOf(undefined), formerOf(undefined), readyOf(undefined)]).toEqual([undefined, [], undefined]);
  expect(hasEnded({})).toBe(false);
});
