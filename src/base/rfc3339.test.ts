import { describe, expect, it } from 'vitest';
import { rfc3339, wholeSecond } from './rfc3339.ts';

describe('rfc3339', () => {
  it('writes whole seconds in UTC', () => {
    expect(rfc3339(Date.UTC(2026, 11, 24, 18, 0, 0, 999))).toBe('2026-12-24T18:00:00Z');
  });

  it('writes what reads back as the same second', () => {
    const moment = Date.UTC(2026, 1, 28, 23, 59, 59, 123);
    expect(Date.parse(rfc3339(moment))).toBe(wholeSecond(moment));
  });
});
