const MAX_TEXTS = 10;
const MAX_LENGTH = 200;

/** Texts as a Warning header (RFC 7234 section 5.5); no header for none. Bounded, since clients bound headers. */
export function warningHeader(texts: readonly string[]): Record<string, string> {
  if (texts.length === 0) return {};
  const more = texts.length - MAX_TEXTS;
  const said = more > 0 ? [...texts.slice(0, MAX_TEXTS), `and ${more} more`] : texts;
  return { warning: said.map(warning).join(', ') };
}

function warning(text: string): string {
  return `299 - "${text.slice(0, MAX_LENGTH).replaceAll(/[^ -~]|["\\]/g, '?')}"`;
}
