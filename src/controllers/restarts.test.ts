import { expect, it } from 'vitest';
import { Restarts } from './restarts.ts';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;
const ago = (...minutes: number[]): Restarts => new Restarts(minutes.map((minute) => NOW - minute * MINUTE));

it('starts over and over with the fourth start in ten minutes', () => {
  expect(ago(9, 6, 3, 0).isLoop(NOW)).toBe(true);
  expect(ago(6, 3, 0).isLoop(NOW)).toBe(false);
  expect(ago(30, 20, 10, 0).isLoop(NOW)).toBe(false);
});

it('knows how often it was started before in the last hour, whatever clocks of other machines say', () => {
  expect(ago(90, 50, 20, 0).before(NOW)).toBe(2);
  expect(ago(-30, 0).before(NOW)).toBe(0);
  expect(ago().before(NOW)).toBe(0);
});
