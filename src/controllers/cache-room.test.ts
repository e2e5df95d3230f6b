import { expect, it } from 'vitest';
import { CacheRoom } from './cache-room.ts';

it('the room for large resources is a third of the whole for each namespace, and small ones always fit', () => {
  const room = new CacheRoom(900_000);
  expect(room.take('Box', 'a', 'one', 200_000)).toBe(true);
  expect(room.take('Box', 'a', 'two', 200_000)).toBe(false);
  expect(room.take('Box', 'b', 'two', 200_000)).toBe(true);
  expect(room.take('Box', 'a', 'small', 30_000)).toBe(true);
  // In place of its version before; then gone.
  expect(room.take('Box', 'a', 'one', 250_000)).toBe(true);
  room.drop('Box', 'a', 'one');
  expect(room.take('PolicyBox', 'a', 'two', 300_000)).toBe(true);
  expect(['c', 'd', 'e'].map((namespace) => room.take('Box', namespace, 'x', 290_000))).toEqual([
    true,
    false,
    false,
  ]);
});
