import { parseExactJson } from './exact-json.ts';
import { Pieces } from './pieces.ts';
import { JsonLimitError, JsonSize, type JsonLimits } from './json-size.ts';

/** Elements are parsed together up to so many bytes or values: a millisecond or two. */
const PIECE = { bytes: 32_768, values: 4_096 };
/** The object around a list may take so many bytes. */
const AROUND_LIMIT = 65_536;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** How a {@link JsonList} reads. */
export interface JsonListOptions {
  /** The list is this member of the object that the text is; absent: it is the text. */
  member?: string;
  /** Of each element. */
  limits: JsonLimits;
  /** Throws a SyntaxError for what is no JSON. @default as it is, whole numbers exact */
  parse?: (text: string) => unknown;
  /** Takes elements as they come, in order, with the bytes and values (see {@link JsonSize}) that they took. */
  take(elements: unknown[], bytes: number, values: number): void;
}

/**
 * A list in JSON, taken in pieces as they arrive: no more of it is in memory than what has arrived of one element, and
 * what is made of the elements before. A few elements at a time are cut out and parsed by `JSON.parse` itself, so that
 * what is JSON, and what a number is, is the same here as anywhere. (Streaming parsers of the registry make the values
 * themselves, four to six times as slowly, as measured, each with rules of its own for numbers, names and bad UTF-8.)
 *
 * {@link push} and {@link end} throw a SyntaxError for what is no such list, and a {@link JsonLimitError}.
 */
export class JsonList {
  readonly #options: JsonListOptions;
  readonly #size = new JsonSize();
  /** How deep the list's elements stand. */
  readonly #level: number;
  #state: 'before' | 'inside' | 'after' = 'before';
  /** What has arrived of the piece in hand. */
  readonly #kept = new Pieces();
  /** Values of the elements in hand that are complete. */
  #values = 0;
  #elementBytes = 0;
  /** A comma was the last: something must follow. */
  #isOpen = false;
  /** A character for each byte: a piece may end within a character. */
  #around = '';

  constructor(options: JsonListOptions) {
    this.#options = options;
    this.#level = options.member === undefined ? 1 : 2;
  }

  /** Bytes that wait for the rest of an element. */
  get heldBytes(): number {
    return this.#kept.bytes + this.#around.length;
  }

  push(piece: Uint8Array): void {
    let at = 0;
    while (at < piece.length) {
      if (this.#state === 'inside') at = this.#inside(piece, at);
      else at = this.#outside(piece, at);
    }
  }

  /** Whether the text is complete; answers what stands around the list, with an empty one in its place. */
  end(): unknown {
    // As a member it may be missing, or null.
    const isMissing = this.#state === 'before' && this.#options.member !== undefined;
    if (this.#state !== 'after' && !isMissing) throw new SyntaxError('the text ends before its list does');
    return this.#parse(utf8.decode(Buffer.from(this.#around, 'latin1')));
  }

  #inside(piece: Uint8Array, from: number): number {
    const { limits } = this.#options;
    const { at, mark } = this.#size.count(piece, from, limits, this.#level);
    this.#elementBytes += at - from;
    if (this.#elementBytes > limits.bytes) {
      throw new JsonLimitError('bytes', `an entry of the list is larger than ${limits.bytes} bytes`);
    }
    const isEnd = mark === 'comma' || mark === 'close';
    this.#kept.push(piece.subarray(from, isEnd ? at - 1 : at));
    if (!isEnd) return at;
    if (mark === 'close' && piece[at - 1] !== CLOSE_LIST)
      throw new SyntaxError('the list ends with another sign');
    this.#values += this.#size.values;
    this.#size.values = 0;
    this.#elementBytes = 0;
    const isLarge = this.#kept.bytes >= PIECE.bytes || this.#values >= PIECE.values;
    if (mark === 'comma' && !isLarge) {
      this.#kept.push(piece.subarray(at - 1, at));
      return at;
    }
    this.#flush(mark === 'comma');
    if (mark === 'close') {
      this.#state = 'after';
      this.#around += ']';
    }
    return at;
  }

  /** Goes on to the list, or through what follows it. */
  #outside(piece: Uint8Array, from: number): number {
    const { at, mark } = this.#size.count(piece, from, this.#options.limits, this.#level - 1);
    this.#around += Buffer.from(piece.subarray(from, at)).toString('latin1');
    if (this.#around.length > AROUND_LIMIT)
      throw new JsonLimitError('bytes', 'too much stands around the list');
    const isList = mark === 'open' && piece[at - 1] === OPEN_LIST;
    if (this.#state === 'before' && this.#level === 1 && !isList && this.#around.trim() !== '') {
      throw new SyntaxError('the text is not a list');
    }
    if (this.#state === 'after' || !isList || !this.#isBegun()) return at;
    this.#state = 'inside';
    this.#size.values = 0;
    return at;
  }

  /** Whether what has come so far ends with the beginning of the list. */
  #isBegun(): boolean {
    const { member } = this.#options;
    const before = this.#around.slice(0, -1).trimEnd();
    if (member === undefined) return before === '';
    const name = before.endsWith(':') ? before.slice(0, -1).trimEnd() : '';
    const quoted = `"${member}"`;
    return name.endsWith(quoted) && /[{,]$/.test(name.slice(0, -quoted.length).trimEnd());
  }

  #flush(goesOn: boolean): void {
    const { bytes } = this.#kept;
    const values = this.#values;
    const elements = this.#elements();
    this.#values = 0;
    // An empty list has nothing in it; between two commas there must be something.
    if (elements.length === 0 && (goesOn || this.#isOpen)) throw new SyntaxError('an element is missing');
    this.#isOpen = goesOn;
    if (elements.length > 0) this.#options.take(elements, bytes, values);
  }

  #elements(): unknown[] {
    const text = utf8.decode(this.#kept.take());
    return this.#parse(`[${text}]`) as unknown[];
  }

  #parse(text: string): unknown {
    return (this.#options.parse ?? parseExactJson)(text);
  }
}

const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
