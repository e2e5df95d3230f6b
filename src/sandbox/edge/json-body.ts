import { invalid } from '../http.ts';

/** Objects and lists within each other; what is nested deeper could not be written out again. */
const MAX_DEPTH = 64;

/** The JSON object of a request body. @throws Refusal 400 that says why it is none */
export function parseJsonObject(bytes: Uint8Array): object {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid(`the body is not UTF-8 (${(cause as Error).message})`);
  }
  if (text.trim() === '') throw invalid('a JSON body is needed');
  if (depthOf(text) > MAX_DEPTH) throw invalid(`the body is nested deeper than ${MAX_DEPTH} levels`);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (cause) {
    throw invalid(`the body is not JSON: ${(cause as Error).message}`);
  }
  throw invalid('the body has to be a JSON object');
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (quoted) {
      if (char === '\\') at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') deepest = Math.max(deepest, ++depth);
    else if (char === '}' || char === ']') depth--;
  }
  return deepest;
}
