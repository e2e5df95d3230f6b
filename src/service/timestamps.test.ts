import { expect, it } from 'vitest';
import { formatTimestamp, parseTimestamp } from './timestamps.ts';

it.each([
  ['2026-11-27 23:20:01.123456', Date.UTC(2026, 10, 27, 23, 20, 1, 123)],
  ['2024-02-29 00:00:00.000000', Date.UTC(2024, 1, 29)],
  ['2026-11-27 23:20:01', Date.UTC(2026, 10, 27, 23, 20, 1)],
  ['2026-11-27T23:20:01.5Z', Date.UTC(2026, 10, 27, 23, 20, 1, 500)],
  ['0050-01-01 00:00:00.000000', Date.parse('0050-01-01T00:00:00Z')],
])('reads %s as UTC', (text, ms) => {
  expect(parseTimestamp(text)).toBe(ms);
});

it.each([
  '',
  'now',
  '2026-02-31 00:00:00',
  '2026-01-01 24:00:00',
  '2026-13-01 00:00:00',
  '2026-01-01',
  null,
  5,
])('does not understand %j', (text) => {
  expect(parseTimestamp(text)).toBeUndefined();
});

it('writes six digits after the second, and reads back what it wrote', () => {
  const ms = Date.UTC(2026, 0, 2, 3, 4, 5, 60);
  expect(formatTimestamp(ms)).toBe('2026-01-02 03:04:05.060000');
  expect(parseTimestamp(formatTimestamp(ms))).toBe(ms);
});

it('refuses a moment that the service cannot write', () => {
  expect(() => formatTimestamp(Date.UTC(10_000, 0, 1))).toThrow(RangeError);
});
