/**
 * Text cut to a limit. Lengths are counted in characters (code points), as JSON Schema and the API server count
 * them; JavaScript's own `length` counts a character outside the basic plane twice.
 */

const ELLIPSIS = '…';

/** Characters of a text. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Whether a text has at most `limit` characters; takes no longer for a long text than for a short one. */
export function isWithin(text: string, limit: number): boolean {
  if (text.length <= limit) return true;
  return text.length <= 2 * limit && characters(text) <= limit;
}

/** The first `limit` characters. */
export function firstCharacters(text: string, limit: number): string {
  if (isWithin(text, limit)) return text;
  // No character takes more than two units.
  return Array.from(text.slice(0, 2 * limit))
    .slice(0, limit)
    .join('');
}

/** The text without the characters of `ending` at its end; takes one look at each, as `/x+$/` does not. */
export function withoutEnding(text: string, ending: string): string {
  let length = text.length;
  while (length > 0 && ending.includes(text.charAt(length - 1))) length -= 1;
  return text.slice(0, length);
}

/** The text in at most `limit` characters, with an ellipsis inside the limit where it was cut. */
export function cutText(text: string, limit: number): string {
  return isWithin(text, limit) ? text : `${firstCharacters(text, limit - 1)}${ELLIPSIS}`;
}
