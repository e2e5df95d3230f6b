/** What JSON from outside may be, before it is parsed. */
export interface JsonLimits {
  /** Bytes of one value. */
  bytes: number;
  /** Values in it, as {@link JsonSize} counts them. */
  values: number;
  /** Lists and objects inside each other. */
  depth: number;
}

/** Limits of what {@link JsonSize} counts. */
export type CountLimits = Pick<JsonLimits, 'values' | 'depth'>;

/** What JSON holds. */
export interface CountedJson {
  /** A list or an object as two, and one for each comma and each name. */
  readonly values: number;
  /** The most lists and objects inside each other. */
  readonly deepest: number;
}

/** Thrown for JSON beyond its {@link JsonLimits}. Its message names the limit, never the text. */
export class JsonLimitError extends Error {
  readonly code = 'JsonLimit';
  readonly limit: keyof JsonLimits;
  constructor(limit: keyof JsonLimits, message: string) {
    super(message);
    this.name = 'JsonLimitError';
    this.limit = limit;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Where {@link JsonSize.count} has stopped. */
export type Mark = 'open' | 'comma' | 'close';

/**
 * Goes through JSON byte by byte, in pieces as they arrive, and counts what it will take once it is parsed: a list or
 * an object as two, and one for each comma and each name. Whether it is JSON at all is for the parser to say.
 */
export class JsonSize implements CountedJson {
  values = 0;
  /** How deep the place is that was reached. */
  depth = 0;
  deepest = 0;
  #isInString = false;
  #isEscaped = false;

  /**
   * Counts from `from` to the end of the piece, or to the next mark at `level`: a comma between the members of what is
   * `level` deep, a list or object that opens as such a member, and the end of what is `level` deep. Answers the place
   * after it.
   */
  count(piece: Uint8Array, from: number, limits: CountLimits, level = -1): { at: number; mark?: Mark } {
    let { values, depth, deepest } = this;
    let isInString = this.#isInString;
    let isEscaped = this.#isEscaped;
    let skipAt = from + SHORT_STRING;
    let at = from;
    let mark: Mark | undefined;
    for (; at < piece.length && mark === undefined; at++) {
      const byte = piece[at];
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInString = false;
        else if (at >= skipAt) at = skipText(piece, at);
        continue;
      }
      switch (byte) {
        case QUOTE:
          isInString = true;
          skipAt = at + SHORT_STRING;
          break;
        case COMMA:
          values += 1;
          if (depth === level) mark = 'comma';
          break;
        case COLON:
          values += 1;
          break;
        case OPEN_LIST:
        case OPEN_OBJECT:
          values += 2;
          if (depth === level) mark = 'open';
          depth += 1;
          if (depth > deepest) {
            deepest = depth;
            checkDepth(deepest, limits);
          }
          break;
        case CLOSE_LIST:
        case CLOSE_OBJECT:
          depth -= 1;
          if (depth === level - 1) mark = 'close';
          break;
        default:
      }
      if (values > limits.values) throw tooMany(limits);
    }
    this.values = values;
    this.depth = depth;
    this.deepest = deepest;
    this.#isInString = isInString;
    this.#isEscaped = isEscaped;
    return mark === undefined ? { at } : { at, mark };
  }
}

/** Shorter strings are gone through as fast as they are skipped, bytes. */
const SHORT_STRING = 32;

/** The place before the next sign of a string that means something: its end, or the backslashes before that. */
function skipText(piece: Uint8Array, from: number): number {
  const quote = piece.indexOf(QUOTE, from);
  let next = quote < 0 ? piece.length : quote;
  while (next > from && piece[next - 1] === BACKSLASH) next -= 1;
  return next - 1;
}

/**
 * Counts a whole text.
 * @throws JsonLimitError
 */
export function countJson(text: Uint8Array, limits: CountLimits): CountedJson {
  const size = new JsonSize();
  size.count(text, 0, limits);
  return size;
}

/**
 * Holds what was counted before against limits.
 * @throws JsonLimitError
 */
export function checkCounted({ values, deepest }: CountedJson, limits: CountLimits): void {
  checkDepth(deepest, limits);
  if (values > limits.values) throw tooMany(limits);
}

function checkDepth(depth: number, limits: CountLimits): void {
  if (depth > limits.depth) throw new JsonLimitError('depth', 'the body is nested too deep');
}

function tooMany({ values }: CountLimits): JsonLimitError {
  return new JsonLimitError(
    'values',
    `it holds more than ${values} values, which would take too much memory`,
  );
}
