import { expect, it } from 'vitest';
import { CacheRoom } from './cache-room.ts';

it('the room for large resources is a third of the whole for each namespace', () => {
  const room = new CacheRoom({ large: 900_000, small: 900_000 });
  expect(room.take('Box', 'a', 'one', 200_000)).toBeUndefined();
  expect(room.take('Box', 'a', 'two', 200_000)).toBe('large');
  expect(room.take('Box', 'b', 'two', 200_000)).toBeUndefined();
  // In place of its version before; then gone.
  expect(room.take('Box', 'a', 'one', 250_000)).toBeUndefined();
  room.drop('Box', 'a', 'one');
  expect(room.take('PolicyBox', 'a', 'two', 300_000)).toBeUndefined();
  expect(['c', 'd', 'e'].map((namespace) => room.take('Box', namespace, 'x', 290_000))).toEqual([
    undefined,
    'large',
    'large',
  ]);
});

it('small resources have a room of their own, of which one namespace leaves a third to the others', () => {
  const room = new CacheRoom({ large: 0, small: 900_000 });
  const taken = (namespace: string, weight: number): number => {
    let count = 0;
    while (room.take('Box', namespace, `box-${count}`, weight) === undefined) count += 1;
    return count;
  };
  // What is kept beside a resource counts, too: thousands of the smallest are no small thing.
  expect(taken('a', 26_000)).toBe(19);
  expect(taken('b', 0)).toBe(80);
  expect(room.take('Box', 'b', 'box-0', 0)).toBeUndefined();
  room.drop('Box', 'b', 'box-1');
  expect(room.take('Box', 'b', 'new', 0)).toBeUndefined();
  expect(room.take('Box', 'b', 'newer', 0)).toBe('many');
});
