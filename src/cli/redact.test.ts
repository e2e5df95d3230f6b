import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { createLog } from './log.ts';
import { redact } from './redact.ts';

const CANARY = 'canary-8c1f0d7e5b';

/** Whatever is logged, in both formats. */
function logged(fields: object): string {
  let text = '';
  for (const format of ['json', 'text']) {
    const stream = { write: (line: string) => (text += line) };
    const log = createLog({ level: 'debug', format, stream, clock: new VirtualClock() });
    log.debug(fields, 'something happened');
    log.child(fields).info({}, 'something else');
  }
  return text;
}

class BodyError extends Error {
  readonly code = 'Refused';
  readonly body = { token: CANARY };
  readonly request = { headers: { authorization: CANARY } };
}

describe('the log', () => {
  it.each([
    ['a token', { token: CANARY }],
    ['a password deep inside', { a: { b: [{ userPassword: CANARY }] } }],
    ['headers', { headers: { 'x-auth': CANARY } }],
    ['a Secret object', { secret: { data: { password: CANARY }, stringData: { any: CANARY } } }],
    ['bytes', { content: Buffer.from(CANARY) }],
    ['a bearer header in a text', { detail: `sent authorization: Bearer ${CANARY}` }],
    ['a login in a URL', { endpoint: `https://me:${CANARY}@deploy.example.com/` }],
    ['a private key', { pem: `-----BEGIN PRIVATE KEY-----\n${CANARY}\n-----END PRIVATE KEY-----` }],
    ['what hangs on an error', { error: new BodyError('no', { cause: new BodyError('why') }) }],
    ['what hangs on an error inside', { outcome: { first: new BodyError('no') } }],
    ['a cause that is no error', { error: new Error('no', { cause: { token: CANARY } }) }],
  ])('does not tell %s', (_, fields) => {
    const text = logged(fields);
    expect(text).not.toContain(CANARY);
    // The same in the encoding that bytes would travel in.
    expect(text).not.toContain(Buffer.from(CANARY).toString('base64'));
  });

  it('finds a leak planted on purpose', () => {
    expect(logged({ remark: CANARY })).toContain(CANARY);
  });

  it('keeps code, message, stack and causes of an error', () => {
    const error = new BodyError('the call failed', { cause: new TypeError('socket closed') });
    expect(redact({ error })).toMatchObject({
      error: {
        name: 'Error',
        code: 'Refused',
        message: 'the call failed',
        stack: expect.stringContaining('redact.test.ts') as string,
        cause: { name: 'TypeError', message: 'socket closed' },
      },
    });
  });

  it('bounds depth and length', () => {
    const round: Record<string, unknown> = { text: 'x'.repeat(20_000) };
    round['self'] = round;
    expect(JSON.stringify(redact(round)).length).toBeLessThan(100_000);
  });
});

it('writes lines for machines and for people', () => {
  const lines: string[] = [];
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  for (const format of ['json', 'text']) {
    const stream = { write: (line: string) => lines.push(line) };
    createLog({ level: 'info', format, stream, clock }).warn({ items: 3, took: 1.2345 }, 'slow list');
  }
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'warn',
    time: '2026-01-01T00:00:00.000Z',
    items: 3,
    took: 1.2345,
    msg: 'slow list',
  });
  expect(lines[1]).toBe('00:00:00.000 WARN  slow list items=3 took=1.2\n');
});
