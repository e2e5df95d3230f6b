import { base64In, hexIn, readingsOf, spaced, spacedView, type View } from './view.ts';

/** What stands in the place of a secret. */
export const MASK = '****';

/** Shorter values, and shorter lines of longer ones, are words that stand in any text. */
export const SHORTEST_SECRET = 4;
const SHORTEST_LINE = 8;
/** Of a longer value, which is a file, so much is known: characters, and lines. */
const LONGEST = 8_192;
const LINES = 200;
/** A line of a file that says what it holds: `DB_PASSWORD=…`, `"token": "…",`. */
const NAMED_VALUE =
  /^[^=:]{0,64}(?:password|passwd|secret|token|credential|key)[^=:]{0,16}[=:][\s"']*([^\s"',;]{4,})/i;
/** A text is cut to so many units before it is searched. */
const LONGEST_TEXT = 8_192;

/** So much of the beginning of a longer value is taken for it: the service may cut what it quotes. */
const HEAD = 12;
/** Values are known by pieces of so many units, one beginning at each half piece and at each word. */
const PIECE = 64;
/** What stands before a part of a value that may be quoted alone: the password of a URL, the value of a line. */
const BOUNDARY = /[\s=:,;"'@/|<>(){}[\]&?]+/g;
/** An escape that a cut ends in has so many units that say nothing any more. */
const CUT_ESCAPE = 8;
/** One of so many values is forgotten at a time. */
const FORGOTTEN = 16;
/** Where more pieces than this begin alike, a whole piece is masked without a look at them. */
const ALIKE = 8;

/**
 * The secret values that one Connection has to do with, and the one function that makes them unreadable in a text:
 * as they are, reversed, and in percent-encoding, base64, hexadecimal digits, JSON and HTML, also one in the other.
 * The time for a text grows with its length alone, however many values are known and whatever they look like.
 */
export class SecretSet {
  /** As noted, the latest last. */
  readonly #values = new Set<string>();
  #characters = 0;
  readonly #index = new Index();

  readonly #onChange: (characters: number) => void;

  /** @param onChange - hears by how many units there are more or fewer. */
  constructor(onChange: (characters: number) => void = () => undefined) {
    this.#onChange = onChange;
  }

  /** Units of all values. */
  get characters(): number {
    return this.#characters;
  }

  /**
   * Notes a value, and of a file the longer lines and what stands beside a word like `password`. What is shorter than
   * {@link SHORTEST_SECRET} is not known.
   */
  note(value: string): void {
    const text = value.slice(0, LONGEST);
    this.#keep(text);
    for (const line of text.split('\n', LINES)) {
      if (line.length < text.length && line.trim().length >= SHORTEST_LINE) this.#keep(line);
      const named = NAMED_VALUE.exec(line)?.[1];
      if (named !== undefined) this.#keep(named);
    }
  }

  /** Forgets some of the values, those noted longest ago, and one at the least: few, since each takes its time. */
  forgetOldest(): void {
    let left = Math.ceil(this.#values.size / FORGOTTEN);
    for (const value of this.#values) {
      if (left-- === 0) break;
      this.#values.delete(value);
      this.#index.remove(value);
      this.#grow(-value.length);
    }
  }

  /**
   * The text with {@link MASK} for every secret value.
   *
   * @param isCut - whether something was cut off at its end, so that a secret may end there in the middle.
   */
  mask(text: string, isCut = text.length > LONGEST_TEXT): string {
    if (this.#values.size === 0) return text;
    const index = this.#index;
    const source = text.slice(0, LONGEST_TEXT);
    const hidden = new Uint8Array(source.length);
    for (const read of readingsOf(source)) {
      for (const one of [read, ...base64In(read), ...hexIn(read)]) {
        // Of most texts there is nothing to be worked out.
        if (index.mayStandIn(spaced(one.text))) index.hide(spacedView(one.view()), isCut, hidden);
      }
    }
    return withMarks(source, hidden) + (text.length > source.length ? '…' : '');
  }

  #keep(value: string): void {
    const text = spaced(value).trim();
    if (text.length < SHORTEST_SECRET) return;
    if (this.#values.delete(text)) {
      this.#values.add(text);
      return;
    }
    this.#values.add(text);
    this.#index.add(text);
    this.#grow(text.length);
  }

  #grow(characters: number): void {
    this.#characters += characters;
    this.#onChange(characters);
  }
}

/** Pieces that begin alike. */
interface Alike {
  /** How often each stands in a value. */
  counts: Map<string, number>;
  /** Further ones, which are only counted. */
  others: number;
}

/** Finds values, and reversed ones, in texts. */
class Index {
  /** The first units of every value, and how often they are that. */
  readonly #beginnings = new Map<string, number>();
  /** Values of less than {@link HEAD} units; two may be each other's reverse. */
  readonly #short = new Map<string, number>();
  /** Pieces of the others by their heads. */
  readonly #pieces = new Map<string, Alike>();

  add(value: string): void {
    this.#change(value, 1);
  }

  /** Takes away what was added once. */
  remove(value: string): void {
    this.#change(value, -1);
  }

  #change(value: string, by: 1 | -1): void {
    for (const one of [value, Array.from(value).toReversed().join('')]) {
      for (const piece of piecesOf(one)) this.#changePiece(piece, by);
    }
  }

  /** Whether some value can begin in the text. */
  mayStandIn(text: string): boolean {
    for (let at = 0; at + SHORTEST_SECRET <= text.length; at += 1) {
      if (this.#beginnings.has(text.slice(at, at + SHORTEST_SECRET))) return true;
    }
    return false;
  }

  /** Marks in `hidden` where the view shows a secret. */
  hide({ text, from, to }: View, isCut: boolean, hidden: Uint8Array): void {
    const mark = (start: number, end: number): void => {
      hidden.fill(1, from[start] ?? 0, to[end - 1] ?? 0);
    };
    for (let at = 0; at + SHORTEST_SECRET <= text.length; at += 1) {
      if (!this.#beginnings.has(text.slice(at, at + SHORTEST_SECRET))) continue;
      if (isCut && at + HEAD + CUT_ESCAPE > text.length) mark(at, text.length);
      const length = this.#lengthAt(text, at);
      if (length > 0) mark(at, at + length);
    }
  }

  #lengthAt(text: string, at: number): number {
    let longest = 0;
    const most = Math.min(PIECE, text.length - at);
    for (let length = SHORTEST_SECRET; length < HEAD && length <= most; length += 1) {
      if (this.#short.has(text.slice(at, at + length))) longest = length;
    }
    const pieces = this.#pieces.get(text.slice(at, at + HEAD));
    if (pieces === undefined) return longest;
    if (pieces.others > 0) return most;
    for (const piece of pieces.counts.keys()) {
      let length = HEAD;
      while (length < most && length < piece.length && text[at + length] === piece[length]) length += 1;
      longest = Math.max(longest, length);
    }
    return longest;
  }

  #changePiece(piece: string, by: 1 | -1): void {
    count(this.#beginnings, piece.slice(0, SHORTEST_SECRET), by);
    if (piece.length < HEAD) {
      count(this.#short, piece, by);
      return;
    }
    const head = piece.slice(0, HEAD);
    const alike: Alike = this.#pieces.get(head) ?? { counts: new Map(), others: 0 };
    this.#pieces.set(head, alike);
    const isKnown = alike.counts.has(piece);
    if (by === 1 ? isKnown || alike.counts.size < ALIKE : isKnown) count(alike.counts, piece, by);
    else alike.others += by;
    if (alike.counts.size === 0 && alike.others === 0) this.#pieces.delete(head);
  }
}

/** A value in pieces; a short one is its only one. */
function* piecesOf(value: string): Generator<string> {
  if (value.length < HEAD) {
    yield value;
    return;
  }
  const last = Math.max(value.length - PIECE, 0);
  for (let start = 0; start < last; start += PIECE / 2) yield value.slice(start, start + PIECE);
  yield value.slice(last);
  for (const { 0: run, index } of value.matchAll(BOUNDARY)) {
    const start = index + run.length;
    if (start + HEAD <= value.length) yield value.slice(start, start + PIECE);
  }
}

function count(counts: Map<string, number>, text: string, by: 1 | -1): void {
  const now = (counts.get(text) ?? 0) + by;
  if (now === 0) counts.delete(text);
  else counts.set(text, now);
}

function withMarks(source: string, hidden: Uint8Array): string {
  let out = '';
  for (let at = 0; at < source.length;) {
    let end = at;
    while (end < source.length && hidden[end] === hidden[at]) end += 1;
    out += hidden[at] === 1 ? MASK : source.slice(at, end);
    at = end;
  }
  return out;
}
