import { parseExactJson } from '../../base/exact-json.ts';
import type { PortAnswer } from '../port.ts';
import { checkCounted, countJson, JsonLimitError, type CountLimits } from '../../base/json-size.ts';

/** Thrown inside the client when an answer cannot be what it should; turned into a `BadAnswer` result. */
export class BadAnswer extends Error {
  readonly code: 'BadAnswer' | 'TooLarge';

  constructor(message: string, code: 'BadAnswer' | 'TooLarge' = 'BadAnswer') {
    super(message);
    this.name = 'BadAnswer';
    this.code = code;
  }
}

type Body = Pick<PortAnswer, 'body' | 'counted' | 'text'>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Text of a body; throws {@link BadAnswer} when it is not UTF-8. */
export function decodeText(body: Uint8Array): string {
  const text = textOf(body);
  if (text === undefined) throw new BadAnswer('the body is not UTF-8');
  return text;
}

/**
 * JSON of a body, whole numbers exact, within the limits, without the keys that could reach a prototype when the record is
 * copied. Throws {@link BadAnswer}; its message never quotes the body.
 */
export function decodeJson({ body, counted, text }: Body, limits: CountLimits): unknown {
  let value: unknown;
  try {
    if (counted === undefined) countJson(body, limits);
    else checkCounted(counted, limits);
    value = parseExactJson(text ?? utf8.decode(body));
  } catch (error) {
    throw unreadable(error, body);
  }
  withoutPrototypes(value);
  return value;
}

/** What is wrong with a body that does not parse. The parser's message quotes the text, hence is dropped. */
export function unreadable(error: unknown, body: Uint8Array): BadAnswer {
  if (error instanceof BadAnswer) return error;
  if (error instanceof JsonLimitError) {
    return new BadAnswer(error.message, error.limit === 'depth' ? 'BadAnswer' : 'TooLarge');
  }
  if (error instanceof TypeError && !isCompressed(body)) return new BadAnswer('the body is not UTF-8');
  const head = Buffer.from(body.subarray(0, 256)).toString('latin1').trimStart();
  if (head === '') return new BadAnswer('the body is empty');
  if (head.startsWith('<')) return new BadAnswer('the body is HTML, not JSON');
  if (isCompressed(body)) return new BadAnswer('the body is compressed, which was not asked for');
  return new BadAnswer('the body is not JSON');
}

/** Text of a body; undefined when it is not UTF-8, which is for the decoder to refuse. */
export function textOf(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

/** RFC 1952, 2.3.1. */
function isCompressed(body: Uint8Array): boolean {
  return body[0] === 0x1f && body[1] === 0x8b;
}

/** An object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Takes away the members that could reach a prototype; the value is no deeper than its limit. */
export function withoutPrototypes(value: unknown): void {
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    for (const member of value) withoutPrototypes(member);
    return;
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
      Reflect.deleteProperty(value, key);
    } else {
      withoutPrototypes((value as Record<string, unknown>)[key]);
    }
  }
}
