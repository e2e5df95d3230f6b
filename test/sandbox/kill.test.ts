import { expect, test } from 'vitest';
import { killUnderLoad } from './kill.ts';

test('no acknowledged write is lost when the sandbox is killed under load', async () => {
  const { acknowledged, lost } = await killUnderLoad(3, Math.random);
  expect(acknowledged).toBeGreaterThan(0);
  expect(lost).toEqual([]);
}, 120_000);
