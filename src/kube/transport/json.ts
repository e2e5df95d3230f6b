import { parseExactJson } from '../../base/exact-json.ts';

/**
 * JSON from the network, whole numbers exact: undefined when it does not parse. A member named `__proto__` is dropped, because
 * whoever copies it by assignment would change the copy's prototype.
 */
export function parseJson(text: string): unknown {
  try {
    return parseSafeJson(text);
  } catch {
    return undefined;
  }
}

/** The same, which throws a SyntaxError when it does not parse. */
export function parseSafeJson(text: string): unknown {
  // The reviver costs three times the parsing, so only the rare text that needs it pays. Escapes could
  // spell the name too.
  return text.includes('__proto__') || text.includes('\\u005f') || text.includes('\\u005F')
    ? parseExactJson(text, isProto)
    : parseExactJson(text);
}

function isProto(name: string): boolean {
  return name === '__proto__';
}
