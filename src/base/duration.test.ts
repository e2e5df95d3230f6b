import { describe, expect, it } from 'vitest';
import { formatDuration, InvalidDurationError, parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it.each([
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['0s', 0],
    ['1.5h', 5_400_000],
    ['99.5ms', 99.5],
    ['1.1s', 1_100],
  ])('reads %s as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '5', 'h', '-5s', '5 s', '5d', '1h 5m', 'NaNs', '9'.repeat(400) + 's'])(
    'refuses %j and says what to write',
    (text) => {
      expect(() => parseDuration(text)).toThrow(InvalidDurationError);
      expect(() => parseDuration(text)).toThrow(/write a number and a unit/);
    },
  );
});

describe('formatDuration', () => {
  it.each([
    [250, '250ms'],
    [45_000, '45s'],
    [5_400_000, '1h30m'],
    [3_600_000, '1h'],
    [90_061_000, '1d1h'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
