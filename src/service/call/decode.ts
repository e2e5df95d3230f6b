import { parseExactJson } from '../../base/exact-json.ts';

/** Thrown inside the client when an answer cannot be what it should; turned into a `BadAnswer` result. */
export class BadAnswer extends Error {
  readonly code = 'BadAnswer';

  constructor(message: string) {
    super(message);
    this.name = 'BadAnswer';
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Text of a body; throws {@link BadAnswer} when it is not UTF-8. */
export function decodeText(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new BadAnswer('the body is not UTF-8');
  }
}

/**
 * JSON of a body, whole numbers exact, at most `maxDepth` deep, without the keys that could reach a prototype when the record is
 * copied. Throws {@link BadAnswer}; its message never quotes the body.
 */
export function decodeJson(body: Uint8Array, maxDepth: number): unknown {
  const text = decodeText(body);
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    // The parser's message quotes the text, hence is dropped.
    const head = text.slice(0, 256).trimStart();
    if (head === '') throw new BadAnswer('the body is empty');
    throw new BadAnswer(head.startsWith('<') ? 'the body is HTML, not JSON' : 'the body is not JSON');
  }
  clean(value, maxDepth);
  return value;
}

/** An object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function clean(value: unknown, depth: number): void {
  if (value === null || typeof value !== 'object') return;
  if (depth <= 0) throw new BadAnswer('the body is nested too deep');
  if (Array.isArray(value)) {
    for (const member of value) clean(member, depth - 1);
    return;
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
      Reflect.deleteProperty(value, key);
    } else {
      clean((value as Record<string, unknown>)[key], depth - 1);
    }
  }
}
