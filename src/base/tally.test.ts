import { expect, it } from 'vitest';
import { Tally } from './tally.ts';

it('a tally knows what each owner holds, and all together', () => {
  const tally = new Tally();
  tally.add('shop', 5);
  tally.add('desk', 2);
  tally.add('shop', -3);
  expect([tally.of('shop'), tally.of('desk'), tally.of('nobody'), tally.total]).toEqual([2, 2, 0, 4]);
  tally.add('shop', -2);
  expect([tally.of('shop'), tally.total]).toEqual([0, 2]);
});
