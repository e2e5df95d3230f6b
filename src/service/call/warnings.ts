import type { SecretSet } from '../../base/masking/secret-set.ts';
import { cutText } from '../../base/text.ts';
import type { PortAnswer } from '../port.ts';

/** So much of the header is looked at, characters. */
const HEADER_LIMIT = 8_192;
/** So many warnings of one answer are kept. */
const KEPT = 5;
/** Characters of one. */
const TEXT_LIMIT = 256;

/** One warning: code, agent, and the text in quotes (RFC 7234 section 5.5). */
const WARNING = /\b[0-9]{3} [^\s"]{1,256} "((?:[^"\\]|\\.)*)"/g;

/** The texts of an answer's Warning headers, cut, and without `secrets`. */
export function warningsOf(
  { headers }: Pick<PortAnswer, 'headers'>,
  secrets: Pick<SecretSet, 'mask'>,
): string[] {
  const header = headers['warning'];
  if (header === undefined) return [];
  const texts = new Set<string>();
  for (const [, quoted = ''] of header.slice(0, HEADER_LIMIT).matchAll(WARNING)) {
    const text = quoted
      .replaceAll(/\\(.)/g, '$1')
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim();
    if (text !== '') texts.add(cutText(secrets.mask(text), TEXT_LIMIT));
    if (texts.size === KEPT) break;
  }
  return [...texts];
}
