import { withoutEnding } from '../../base/text.ts';

/** One field of a record that does not say what was declared. */
interface Difference {
  field: string;
  want: string;
  have: string;
}

/**
 * What a service does to a value that it keeps in another form, in words; undefined where it is another value. Who
 * corrects such a difference corrects it for ever.
 */
export function normalisationOf({ want, have }: Pick<Difference, 'want' | 'have'>): string | undefined {
  if (want === have) return undefined;
  if (want.trim() === have.trim()) return 'changes white space at the ends of the value';
  if (want.replaceAll('\r\n', '\n') === have.replaceAll('\r\n', '\n')) return 'changes line breaks';
  if (sameNumber(want, have)) return 'writes the number in another way';
  if (want.toLowerCase() === have.toLowerCase()) return 'changes upper and lower case';
  if (want.normalize('NFC') === have.normalize('NFC')) return 'composes accents in another way';
  return undefined;
}

/** Whether two texts are the same decimal number, such as `0.50` and `0.5`. */
export function sameNumber(a: string, b: string): boolean {
  const [one, other] = [decimal(a), decimal(b)];
  return one !== undefined && one === other;
}

/** A decimal number in its shortest form, whatever its size; undefined for other text. */
function decimal(text: string): string | undefined {
  const match = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text.trim());
  if (match === null) return undefined;
  const [, sign = '', digits = '', decimals = ''] = match;
  const whole = digits.replace(/^0+(?=\d)/, '');
  const fraction = withoutEnding(decimals, '0');
  const size = fraction === '' ? whole : `${whole}.${fraction}`;
  return size === '0' ? '0' : `${sign}${size}`;
}

/** The words for differences that are all but another form of the same values; undefined where one is more. */
export function keepsAnotherForm(differences: readonly Difference[]): string | undefined {
  const known = differences.map((one) => ({ ...one, does: normalisationOf(one) }));
  if (known.length === 0 || known.some(({ does }) => does === undefined)) return undefined;
  const shown = known.slice(0, 5).map(({ field, does }) => `${field} (${does})`);
  return (
    `The service keeps another form of ${shown.join(', ')}: declare the value as the service shows it, ` +
    `or set driftPolicy to Ignore`
  );
}
