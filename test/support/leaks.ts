import { ENCODINGS } from './encodings.ts';

/** Texts in which a secret would be found, by where they are. */
export type Places = Readonly<Record<string, string>>;

/** Parts of so many characters are looked for, one beginning at each fourth: eleven in a row are always found. */
const PART = 8;
const STEP = 4;

/**
 * Every `place: canary` where a part of a canary shows, plain or in one of the forms in which it travels. It knows
 * nothing of how the operator masks.
 */
export function leaks(texts: Places, canaries: Readonly<Record<string, string>>): string[] {
  const forms = Object.entries(canaries).map(([what, secret]) => ({ what, forms: [...formsOf(secret)] }));
  return Object.entries(texts).flatMap(([place, text]) =>
    forms
      .filter((one) => one.forms.some((form) => text.includes(form)))
      .map(({ what }) => `${place}: ${what}`),
  );
}

function formsOf(secret: string): Set<string> {
  const forms = new Set<string>();
  const reversed = Array.from(secret).toReversed().join('');
  for (const whole of [secret, reversed]) {
    const points = Array.from(whole);
    for (let at = 0; at + PART <= points.length; at += STEP) {
      const part = points.slice(at, at + PART).join('');
      for (const [name, encode] of Object.entries(ENCODINGS)) {
        if (!/base64|in JSON/.test(name)) forms.add(encode(part));
      }
    }
    for (const before of ['', 'x', 'xy']) {
      // Digits that the bytes before it, and those after it, have no part in.
      const digits = Buffer.from(`${before}${whole}`)
        .toString('base64')
        .replaceAll('=', '')
        .slice(before === '' ? 0 : 4, -2);
      for (let at = 0; at + PART <= digits.length; at += STEP) {
        const part = digits.slice(at, at + PART);
        forms.add(part).add(part.replaceAll('+', '-').replaceAll('/', '_')).add(encodeURIComponent(part));
      }
    }
  }
  return forms;
}
