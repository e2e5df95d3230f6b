import { expect, it } from 'vitest';
import { parseRetryAfter } from './retry-after.ts';

const now = Date.UTC(2026, 0, 1);

it.each([
  ['7', 7_000],
  [' 0 ', 0],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['999999999', 600_000],
  ['Fri, 01 Jan 2027 00:00:00 GMT', 600_000],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
])('reads %j', (header, ms) => {
  expect(parseRetryAfter(header, now)).toBe(ms);
});

it.each([undefined, '', '-1', '1.5', 'soon', 'Never, ever', '99999999999999'])(
  'does not understand %j',
  (header) => {
    expect(parseRetryAfter(header, now)).toBeUndefined();
  },
);
