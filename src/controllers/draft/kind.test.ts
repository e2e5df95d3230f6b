import { expect, it } from 'vitest';
import type { BoxRecord } from '../../service/index.ts';
import { boxCandidate, boxUnchanged, misfitOf } from './kind.ts';

const box = (more: object): BoxRecord => ({ id: 'b', name: 'web', ...more });

it('a box carries the marker as its name until it gets its own', () => {
  expect(boxCandidate(box({ name: 'bw-marker' }), 'bw-marker', 'web')).toEqual({
    id: 'b',
    marked: true,
    named: false,
  });
  expect(boxCandidate(box({}), 'bw-marker', 'web')).toEqual({ id: 'b', marked: false, named: true });
});

it('a list entry proves that nothing has changed only by the same name and a known time of change', () => {
  const known = box({ updated: 't1' });
  expect(boxUnchanged(box({ updated: 't1' }), known)).toBe(true);
  expect(boxUnchanged(box({ updated: 't2' }), known)).toBe(false);
  expect(boxUnchanged(box({ updated: 't1', name: 'other' }), known)).toBe(false);
  expect(boxUnchanged(box({}), box({}))).toBe(false);
});

it('a record of another type is no box to take over, whatever the schema begins with', () => {
  expect(misfitOf(box({ schema: 'https://any.example.com/v9/boxes/script' }), 'script')).toBeUndefined();
  expect(misfitOf(box({ schema: 'https://any.example.com/v9/boxes/policy' }), 'script')?.why).toBe(
    'it is a box of type "policy", not "script"',
  );
  expect(misfitOf(box({}), 'policy')?.why).toContain('"unknown"');
});
