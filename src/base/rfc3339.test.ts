import { describe, expect, it } from 'vitest';
import { parseRfc3339, rfc3339, wholeMinute, wholeSecond } from './rfc3339.ts';

describe('rfc3339', () => {
  it('writes whole seconds in UTC', () => {
    expect(rfc3339(Date.UTC(2026, 11, 24, 18, 0, 0, 999))).toBe('2026-12-24T18:00:00Z');
  });

  // B2
  it('holds at the edge what four digits of a year cannot write', () => {
    expect(rfc3339(Date.UTC(10_000, 0, 1))).toBe('9999-12-31T23:59:59Z');
    expect(rfc3339(Infinity)).toBe('9999-12-31T23:59:59Z');
    expect(rfc3339(Date.parse('0000-01-01T00:00:00+14:00'))).toBe('0000-01-01T00:00:00Z');
    expect(rfc3339(wholeMinute(Date.parse('9999-12-31T23:59:59Z')))).toBe('9999-12-31T23:59:00Z');
    expect(rfc3339(wholeMinute(Infinity))).toBe('9999-12-31T23:59:00Z');
    expect(rfc3339(wholeMinute(-Infinity))).toBe('0000-01-01T00:00:00Z');
    expect(rfc3339(wholeMinute(Date.UTC(2026, 0, 1, 0, 0, 1)))).toBe('2026-01-01T00:01:00Z');
  });

  it('reads every time that the schema admits', () => {
    expect(parseRfc3339('2016-12-31T23:59:60Z')).toBe(Date.UTC(2016, 11, 31, 23, 59, 59));
    expect(parseRfc3339('2016-12-31T23:59:60.5+00:00')).toBe(Date.UTC(2016, 11, 31, 23, 59, 59, 500));
    expect(parseRfc3339('2026-01-01T10:60:00Z')).toBeNaN();
    expect(parseRfc3339('2026-01-01t00:00:00.123456789z')).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 123));
  });

  it('writes what reads back as the same second', () => {
    const moment = Date.UTC(2026, 1, 28, 23, 59, 59, 123);
    expect(Date.parse(rfc3339(moment))).toBe(wholeSecond(moment));
  });
});
