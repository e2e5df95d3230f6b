import { expect, test } from 'vitest';
import { begunMark, isPending, pendingMark } from './pending.ts';

const RECORD = { id: 'i', updated: '2026-01-01 12:00:00.000000' };
const TOUCHED = { id: 'i', updated: '2026-01-01 12:00:01.000000' };
const MARK = pendingMark('k:h', RECORD);

test('variables that were put on the record are there, for no other declaration', () => {
  expect(isPending(MARK, 'k:h', RECORD, [])).toBe(true);
  expect(isPending(MARK, 'k:other', RECORD, [])).toBe(false);
  expect(isPending(undefined, 'k:h', RECORD, [])).toBe(false);
});

test('secrets among them are there while nobody has touched the record', () => {
  expect(isPending(MARK, 'k:h', RECORD, [{ secret: true }])).toBe(true);
  expect(isPending(MARK, 'k:h', TOUCHED, [{ secret: true }, {}])).toBe(false);
  expect(isPending(MARK, 'k:h', TOUCHED, [{}])).toBe(true);
});

test('what an earlier version has noted counts as it did', () => {
  expect(isPending('k:h', 'k:h', TOUCHED, [{ secret: true }])).toBe(true);
});

test('a record without a date is marked without one', () => {
  expect(isPending(pendingMark('k:h', { id: 'i' }), 'k:h', { id: 'i' }, [{ secret: true }])).toBe(true);
});

test('a mark of a long word of the service is still the same', () => {
  const long = { id: 'i', updated: 'x'.repeat(200) };
  expect(pendingMark('k:h', long)).toMatch(/^k:h@sha256:[a-z2-7]{52}$/);
  expect(isPending(pendingMark('k:h', long), 'k:h', long, [{ secret: true }])).toBe(true);
});

test('variables that are about to be put there are not there yet', () => {
  expect(isPending(begunMark('k:h'), 'k:h', RECORD, [])).toBe(false);
  expect(isPending(begunMark('k:h'), 'k:h', RECORD, [{ secret: true }])).toBe(false);
});
