import * as fc from 'fast-check';
import { wholeMinute } from '../../../base/rfc3339.ts';
import { describe, expect, it } from 'vitest';
import {
  expireOf,
  readLease,
  sameLease,
  termsHash,
  wantedLease,
  wireLease,
  type LeaseSource,
} from './terms.ts';

const T0 = Date.parse('2026-01-01T00:00:00Z');
const HOUR = 3_600_000;

const source = (terms: Partial<LeaseSource['terms']>, more: Partial<LeaseSource> = {}): LeaseSource => ({
  kind: 'InstanceLease',
  name: 'nights',
  uid: 'u',
  deletionPolicy: 'Delete',
  terms: { operation: 'Shutdown', ...terms },
  renew: undefined,
  paused: false,
  warnBefore: undefined,
  ...more,
});

describe('the end of a lease', () => {
  it('is rounded up to a whole minute, and is never before what was asked for', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (ms) => {
        const rounded = wholeMinute(ms);
        expect(rounded % 60_000).toBe(0);
        expect(rounded - ms).toBeGreaterThanOrEqual(0);
        expect(rounded - ms).toBeLessThan(60_000);
      }),
    );
  });

  it('counts `after` from the given time, takes `expireAt` as it is, and is none for AlwaysOn', () => {
    expect(expireOf({ operation: 'Shutdown', after: '8h' }, T0)).toBe(T0 + 8 * HOUR);
    expect(expireOf({ operation: 'Shutdown', expireAt: '2026-01-01T00:00:30Z' }, 0)).toBe(T0 + 60_000);
    expect(expireOf({ operation: 'AlwaysOn' }, T0)).toBeUndefined();
  });

  it('stays as it was noted until the terms change, or it is renewed', () => {
    const lease = source({ after: '8h' });
    const first = wantedLease(lease, { noted: undefined, deployed: undefined, now: T0 });
    expect(first).toMatchObject({ expire: T0 + 8 * HOUR, isNew: true });
    const noted = {
      kind: 'InstanceLease' as const,
      name: 'nights',
      uid: 'u',
      deletionPolicy: 'Delete' as const,
      terms: first.terms,
      expire: '2026-01-01T08:00:00Z',
    };
    const later = { noted, deployed: undefined, now: T0 + HOUR };
    expect(wantedLease(lease, later)).toMatchObject({ expire: T0 + 8 * HOUR, isNew: false });
    expect(wantedLease({ ...lease, renew: 'again' }, later)).toMatchObject({
      expire: T0 + 9 * HOUR,
      isNew: true,
    });
    expect(wantedLease(source({ after: '1h' }), later)).toMatchObject({ expire: T0 + 2 * HOUR, isNew: true });
  });

  it('is taken from the record of an instance that was deployed with it', () => {
    const deployed = { operation: 'shutdown', expire: '2026-01-01 08:00:00.000000' };
    const now = T0 + HOUR;
    expect(wantedLease(source({ after: '8h' }), { noted: undefined, deployed, now })).toMatchObject({
      expire: T0 + 8 * HOUR,
      isNew: false,
    });
    const other = source({ expireAt: '2026-01-02T00:00:00Z' });
    expect(wantedLease(other, { noted: undefined, deployed, now }).isNew).toBe(true);
  });
});

describe('terms', () => {
  it('are others for another source, time, operation or renewal, and the same for another policy', () => {
    const base = source({ after: '8h' });
    const same = [
      source({ after: '8h' }, { deletionPolicy: 'Orphan' }),
      source({ after: '8h' }, { warnBefore: '2h' }),
      source({ after: '8h' }, { renew: '' }),
    ];
    for (const other of same) expect(termsHash(other)).toBe(termsHash(base));
    const others = [
      source({ after: '8h' }, { uid: 'v' }),
      source({ after: '9h' }),
      source({ after: '8h', operation: 'Terminate' }),
      source({ after: '8h' }, { renew: '1' }),
    ];
    for (const other of others) expect(termsHash(other)).not.toBe(termsHash(base));
  });
});

describe('the lease of a record', () => {
  it('reads back what was sent', () => {
    expect(readLease(wireLease({ operation: 'Terminate', expire: T0 }))).toEqual({
      operation: 'Terminate',
      expire: T0,
      released: false,
    });
  });

  it('is none where there is none, or where its word is not known', () => {
    expect(readLease(undefined)).toBeUndefined();
    expect(readLease(null)).toBeUndefined();
    expect(readLease({ operation: 'hibernate', expire: '2026-01-01 00:00:00.000000' })).toBeUndefined();
    expect(readLease({ operation: 'shutdown', expire: 'soon' })?.expire).toBeUndefined();
  });

  it('is compared by the minute, and none is the same as always on', () => {
    const shown = { operation: 'Shutdown' as const, expire: T0 + 30_000, released: false };
    expect(sameLease(shown, { operation: 'Shutdown', expire: T0 })).toBe(true);
    expect(sameLease(shown, { operation: 'Shutdown', expire: T0 + 60_000 })).toBe(false);
    expect(sameLease(shown, { operation: 'Terminate', expire: T0 })).toBe(false);
    expect(sameLease(undefined, { operation: 'AlwaysOn', expire: undefined })).toBe(true);
    expect(sameLease(undefined, undefined)).toBe(true);
    expect(sameLease(shown, undefined)).toBe(false);
  });
});
