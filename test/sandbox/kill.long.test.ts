import { expect, test } from 'vitest';
import { killUnderLoad } from './kill.ts';

test('300 kills at random under load lose no acknowledged write', async () => {
  const { kills, acknowledged, lost } = await killUnderLoad(300, Math.random);
  console.log(`${kills} kills, ${acknowledged} acknowledged writes, ${lost.length} lost`);
  expect(lost).toEqual([]);
}, 3_600_000);
