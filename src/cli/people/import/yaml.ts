import { isDeepStrictEqual } from 'node:util';
import {
  parseDocument,
  Document,
  type DocumentOptions,
  type ScalarTag,
  type SchemaOptions,
  type Tags,
} from 'yaml';
import { MANIFEST_YAML } from '../../manifest-yaml.ts';
import { printable } from '../../terminal.ts';

/** Characters that a reader of YAML may take for a line break, that are not seen, or that turn the text around. */
const ODD = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/u;
const EACH_ODD = new RegExp(ODD.source, 'gu');

/** Whether a text has characters that cannot stand in a block of YAML. */
export function isOdd(text: string): boolean {
  return ODD.test(text);
}

/** Words that some readers of YAML take for more than text. */
const SUSPECT = /^(<<|=|[-+]?0[obx].*)$/i;

/** Text with such characters, or of such words, in double quotes with escapes. */
const ODD_TEXT: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  identify: (value) => typeof value === 'string' && (isOdd(value) || SUSPECT.test(value)),
  // Another tag with a test of its own, that of merging, would go before this one.
  test: SUSPECT,
  resolve: (text) => text,
  stringify: ({ value }) =>
    JSON.stringify(value).replaceAll(EACH_ODD, (character) => {
      const point = character.codePointAt(0) ?? 0;
      return point > 0xff_ff
        ? `\\U${point.toString(16).padStart(8, '0')}`
        : `\\u${point.toString(16).padStart(4, '0')}`;
    }),
};

/** As kubectl reads it: what is no text there, such as `on` or 0o7, is put in quotes. */
const WRITTEN: DocumentOptions & SchemaOptions = {
  version: '1.1',
  customTags: (tags: Tags): Tags => [ODD_TEXT, ...tags],
};

/** As few quotes as are needed; where a reader then takes something for what it is not, more. */
const QUOTED = [
  {},
  { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' },
  { defaultStringType: 'QUOTE_DOUBLE' },
] as const;

/** An object as a document of YAML, with comments above it. Every reader of YAML gets back what was given. */
export function yamlOf(object: object, comments: readonly string[] = []): string {
  for (const quoted of QUOTED) {
    const document = new Document(object, { ...WRITTEN, aliasDuplicateObjects: false });
    if (comments.length > 0)
      document.commentBefore = comments.map((line) => ` ${printable(line).trim()}`).join('\n');
    const text = document.toString({ lineWidth: 0, ...quoted, directives: false });
    if (READERS.every((reader) => isDeepStrictEqual(readBack(text, reader), exact(object)))) return text;
  }
  throw new Error('a value cannot be written as YAML');
}

/** Of kubectl, and of what reads YAML 1.2. */
const READERS = [MANIFEST_YAML, { version: '1.2' }] as const;

function readBack(text: string, options: object): unknown {
  try {
    const document = parseDocument(text, { ...options, intAsBigInt: true, logLevel: 'silent' });
    return document.errors.length > 0 ? undefined : exact(document.toJS());
  } catch {
    // Such as a key that merges: this is not how it is to be written.
    return undefined;
  }
}

/** The same with whole numbers in one form, whatever their size. */
function exact(value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(exact);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, exact(member)]])),
  );
}
