import { sha256Base32 } from '../base/hash.ts';
import { isWithin } from '../base/text.ts';

/**
 * Request tokens: any text that a person or a tool puts into an annotation, where only a new one counts. Status
 * keeps the last one as it is; one that is longer than status takes is kept as its hash. Who compares a token with
 * status makes it by {@link tokenOf} first.
 */

/** Characters of a token that status keeps as they are. */
export const TOKEN_LIMIT = 256;

/** A token as status keeps it; undefined for an empty one, which asks for nothing. */
export function tokenOf(text: string | undefined, limit: number = TOKEN_LIMIT): string | undefined {
  if (text === undefined || text === '') return undefined;
  return isWithin(text, limit) && text.isWellFormed() ? text : `sha256:${sha256Base32(text)}`;
}
