/** Every way in which a service may quote a value. */
export const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  percent: encodeURIComponent,
  'percent, lower case': (text) => encodeURIComponent(text).replaceAll(/%../g, (one) => one.toLowerCase()),
  'percent of every byte': (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  form: (text) => new URLSearchParams({ v: text }).toString().slice(2),
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64, second alignment': (text) => Buffer.from(`x${text}`).toString('base64'),
  'base64, third alignment': (text) => Buffer.from(`xy${text}z`).toString('base64'),
  'base64 for URLs': (text) => Buffer.from(text).toString('base64url'),
  'base64 in lines': (text) => Buffer.from(`ab${text}`).toString('base64').replaceAll(/.{7}/g, '$&\n'),
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  'JSON with code points': (text) =>
    Array.from(
      { length: text.length },
      (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify(text)),
  HTML: (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  'HTML with numbers': (text) => Array.from(text, (char) => `&#${char.codePointAt(0)};`).join(''),
  'HTML with hexadecimal numbers': (text) =>
    Array.from(text, (char) => `&#x${char.codePointAt(0)?.toString(16)};`).join(''),
  'HTML of a URL': (text) => encodeURIComponent(text).replaceAll('%26', '%26amp%3B'),
  reversed: (text) => Array.from(text).toReversed().join(''),
  'reversed in base64': (text) => Buffer.from(Array.from(text).toReversed().join('')).toString('base64'),
  'base64 in a URL': (text) => encodeURIComponent(Buffer.from(text).toString('base64')),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'with its white space folded': (text) => text.replaceAll(/\s+/g, ' '),
};
