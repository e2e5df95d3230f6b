import { expect, test } from 'vitest';
import { ClockSkew } from './clock-skew.ts';

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);
const at = (ms: number): string => new Date(ms).toUTCString();

test('the service’s clock is told by the Date of its answers, in the middle of the call', () => {
  const skew = new ClockSkew();
  expect(skew.ms).toBeUndefined();
  skew.note({ date: at(NOW + 7_200_000) }, NOW, NOW + 1_000);
  expect(skew.ms).toBe(7_200_000);
  skew.note({ date: at(NOW - 90_000) }, NOW, NOW + 1_000);
  expect(skew.ms).toBe(-90_000);
});

test.each([
  ['none', {}, 1_000],
  ['no date', { date: 'soon' }, 1_000],
  ['one that a cache has kept', { date: at(NOW + 7_200_000), age: '7200' }, 1_000],
  ['one of a call that took long', { date: at(NOW + 7_200_000) }, 25_000],
])('%s tells nothing', (_what, headers, took) => {
  const skew = new ClockSkew();
  skew.note(headers, NOW, NOW + took);
  expect(skew.ms).toBeUndefined();
});
