import { describe, expect, it } from 'vitest';
import { KubeApiError, statusOf } from './errors.ts';

const call = { method: 'PATCH', path: '/api/v1/namespaces/shop/secrets/db' };

describe('KubeApiError', () => {
  it('carries status, reason, causes and the time to wait', () => {
    const body = {
      kind: 'Status',
      reason: 'Invalid',
      message: 'spec.size: too big',
      code: 422,
      details: {
        causes: [{ reason: 'FieldValueInvalid', message: 'too big', field: 'spec.size' }],
        retryAfterSeconds: 3,
      },
    };
    const error = new KubeApiError(statusOf(422, body), call);
    expect(error).toMatchObject({
      code: 'KubeApi',
      status: 422,
      isInvalid: true,
      causes: [{ field: 'spec.size' }],
      retryAfterMs: 3_000,
    });
    expect(error.message).toBe('PATCH /api/v1/namespaces/shop/secrets/db: 422 Invalid: spec.size: too big');
  });

  it('tells a conflict from a name that is taken', () => {
    const taken = new KubeApiError(statusOf(409, { kind: 'Status', reason: 'AlreadyExists' }), call);
    expect([taken.isConflict, taken.isAlreadyExists]).toEqual([false, true]);
    const conflict = new KubeApiError(statusOf(409, { kind: 'Status', reason: 'Conflict' }), call);
    expect([conflict.isConflict, conflict.isAlreadyExists]).toEqual([true, false]);
  });

  it('reads an expired version in the stream, where the HTTP status is 200', () => {
    const error = new KubeApiError(statusOf(200, { kind: 'Status', code: 410, reason: 'Expired' }), call);
    expect(error.isGone).toBe(true);
    expect(error.status).toBe(410);
  });

  it.each([
    undefined,
    null,
    '',
    '<html>',
    7,
    [],
    { kind: 'Status', details: { causes: 'no' } },
    { kind: 'Pod' },
  ])('makes do with %j for a body', (body) => {
    expect(statusOf(502, body)).toMatchObject({ status: 502, reason: '', causes: [] });
  });

  it('keeps long texts short and prefers the header over the body', () => {
    const parts = statusOf(
      429,
      { kind: 'Status', message: 'x'.repeat(10_000), details: { retryAfterSeconds: 9 } },
      { 'retry-after': '2' },
    );
    expect(parts.message).toHaveLength(1_024);
    expect(parts.retryAfterMs).toBe(2_000);
    expect(
      statusOf(429, {}, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }).retryAfterMs,
    ).toBeUndefined();
  });
});
