const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The value of a Secret's key where text is wanted: a token, an email, a password, a Password variable. One rule for
 * all of them: one line break at the end is what `echo` and editors leave, and is no part of the value; whoever means
 * it writes two. A file's content is bytes and stays as it is.
 *
 * @returns undefined for bytes that are no UTF-8, which no text can carry.
 */
export function secretText(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes).replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}
