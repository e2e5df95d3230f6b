import type { SandboxAnswer } from '../http.ts';
import type { Fault } from './faults.ts';

const encode = (text: string): Uint8Array => Buffer.from(text, 'utf8');

type Spoiler = (answer: SandboxAnswer) => SandboxAnswer;

const SPOILERS: Readonly<Record<NonNullable<Fault['body']>, Spoiler>> = {
  truncated: (answer) => ({ ...answer, body: answer.body.subarray(0, Math.floor(answer.body.length / 2)) }),
  empty: (answer) => ({ ...answer, body: new Uint8Array() }),
  text: (answer) => typed(answer, 'text/plain', 'Service is being maintained'),
  html: (answer) => typed(answer, 'text/html', '<!doctype html><title>Log in</title><form>Log in</form>'),
  'wrong-types': (answer) => json(answer, wrong),
  'extra-fields': (answer) =>
    json(answer, (value) =>
      isObject(value)
        ? { ...value, friendly_id: 'x', icon_metadata: { fill: '#fff' }, categories: [] }
        : value,
    ),
};

/** The answer with its body spoilt. */
export function spoil(answer: SandboxAnswer, how: NonNullable<Fault['body']>): SandboxAnswer {
  return SPOILERS[how](answer);
}

function typed(answer: SandboxAnswer, type: string, body: string): SandboxAnswer {
  return { ...answer, headers: { ...answer.headers, 'content-type': type }, body: encode(body) };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function json(answer: SandboxAnswer, change: (value: unknown) => unknown): SandboxAnswer {
  const value: unknown = JSON.parse(Buffer.from(answer.body).toString('utf8') || 'null');
  const changed = Array.isArray(value) ? value.map(change) : change(value);
  return { ...answer, body: encode(JSON.stringify(changed)) };
}

/** Every text becomes a number and every number a text. */
function wrong(value: unknown): unknown {
  if (typeof value === 'string') return value.length;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.map(wrong);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, wrong(member)]));
}
