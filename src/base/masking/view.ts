/**
 * A text as it reads once an encoding is taken off it, and where in the source each of its characters stands.
 */
export interface View {
  readonly text: string;
  /** Per character of `text`: from where to where (exclusive) it stands in the source. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** A way to read a text. Where its characters stand is worked out when it is asked for. */
export interface Reading {
  readonly text: string;
  readonly view: () => View;
}

class Builder {
  #text = '';
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  /** Adds what stands between two places; all of its units stand there. */
  add(text: string, from: number, to: number): void {
    this.#text += text;
    for (let unit = 0; unit < text.length; unit += 1) {
      this.#from.push(from);
      this.#to.push(to);
    }
  }

  /** Adds a part of another view as it is. */
  copy(view: View, start: number, end: number): void {
    for (let at = start; at < end; at += 1) this.add(view.text[at] ?? '', startOf(view, at), endOf(view, at));
  }

  /** Adds bytes as UTF-8, and what is none as Latin-1; `place` says where the byte of an index stands. */
  addBytes(bytes: Uint8Array, place: (index: number) => { from: number; to: number }): void {
    for (let index = 0; index < bytes.length;) {
      const length = sequenceLength(bytes, index);
      const text =
        length === 1
          ? String.fromCharCode(bytes[index] ?? 0)
          : Buffer.from(bytes.buffer, bytes.byteOffset + index, length).toString('utf8');
      this.add(text, place(index).from, place(index + length - 1).to);
      index += length;
    }
  }

  view(): View {
    return { text: this.#text, from: this.#from, to: this.#to };
  }
}

/** The text as it is, and with its escapes taken off: twice, as for JSON in JSON and HTML of a URL. */
export function readingsOf(source: string): Reading[] {
  const out: Reading[] = [{ text: source, view: () => plainView(source) }];
  for (let times = 0; times < 2; times += 1) {
    const last = out.at(-1);
    // Most texts have none, and are not looked at closely.
    const view = last === undefined || !/[%\\&]/.test(last.text) ? undefined : unescapedView(last.view());
    if (view === undefined) break;
    out.push({ text: view.text, view: () => view });
  }
  return out;
}

function plainView(text: string): View {
  const from = Array.from({ length: text.length }, (_, index) => index);
  return { text, from, to: from.map((index) => index + 1) };
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};
const SHORT: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
const ESCAPE =
  /(?<percent>(?:%[0-9a-f]{2})+)|\\u(?<unicode>[0-9a-f]{4})|\\x(?<hex>[0-9a-f]{2})|\\(?<short>["'\\/nrtbf])|&#x(?<entityHex>[0-9a-f]{1,6});|&#(?<entity>\d{1,7});|&(?<named>amp|lt|gt|quot|apos|nbsp);/gi;

/** Percent-encoding and the escapes of JSON and HTML taken off, once; undefined where there are none. */
function unescapedView(view: View): View | undefined {
  const builder = new Builder();
  let done = 0;
  for (const match of view.text.matchAll(ESCAPE)) {
    const { percent, unicode, hex, short, entityHex, entity, named } = match.groups ?? {};
    builder.copy(view, done, match.index);
    done = match.index + match[0].length;
    if (percent === undefined) {
      const text =
        short !== undefined
          ? (SHORT[short.toLowerCase()] ?? short)
          : named !== undefined
            ? (NAMED[named.toLowerCase()] ?? '')
            : characterOf(entity === undefined ? Number(`0x${unicode ?? hex ?? entityHex}`) : Number(entity));
      builder.add(text, startOf(view, match.index), endOf(view, done - 1));
    } else {
      const bytes = Buffer.from(percent.replaceAll('%', ''), 'hex');
      builder.addBytes(bytes, (index) => {
        const first = match.index + 3 * index;
        return { from: startOf(view, first), to: endOf(view, first + 2) };
      });
    }
  }
  if (done === 0) return undefined;
  builder.copy(view, done, view.text.length);
  return builder.view();
}

/** Line breaks stand inside, since base64 is wrapped. */
const BASE64 = /[a-z0-9+/_-]{6,}(?:\r?\n[a-z0-9+/_-]+)*/gi;
const HEX = /[0-9a-f]{8,}/gi;

/** What stands in base64, whichever character of a group of four it begins with. */
export function base64In({ text, view }: Reading): Reading[] {
  const out: Reading[] = [];
  for (const { 0: run, index: start } of text.matchAll(BASE64)) {
    const digits = run.includes('\n') ? run.replaceAll(/[\r\n]/g, '') : run;
    for (let phase = 0; phase < 4; phase += 1) {
      // Node takes the alphabet for URLs as well.
      const bytes = Buffer.from(phase === 0 ? digits : digits.slice(phase), 'base64');
      out.push({
        text: bytes.toString('utf8'),
        view() {
          const whole = view();
          const places = Array.from(run.matchAll(/[^\r\n]/g), (match) => start + match.index).slice(phase);
          const placeOf = (bits: number): number => places[Math.floor(bits / 6)] ?? places.at(-1) ?? start;
          return bytesView(bytes, (byte) => ({
            from: startOf(whole, placeOf(byte * 8)),
            to: endOf(whole, placeOf(byte * 8 + 7)),
          }));
        },
      });
    }
  }
  return out;
}

/** What stands in hexadecimal digits, whichever of a pair it begins with. */
export function hexIn({ text, view }: Reading): Reading[] {
  const out: Reading[] = [];
  for (const { 0: run, index: start } of text.matchAll(HEX)) {
    for (const phase of [0, 1]) {
      // An odd digit at the end is left out.
      const bytes = Buffer.from(run.slice(phase), 'hex');
      out.push({
        text: bytes.toString('utf8'),
        view() {
          const whole = view();
          const first = start + phase;
          return bytesView(bytes, (byte) => ({
            from: startOf(whole, first + 2 * byte),
            to: endOf(whole, first + 2 * byte + 1),
          }));
        },
      });
    }
  }
  return out;
}

function bytesView(bytes: Uint8Array, place: (index: number) => { from: number; to: number }): View {
  const builder = new Builder();
  builder.addBytes(bytes, place);
  return builder.view();
}

const SPACES = /[\s+]+/g;

/** White space as one space, as forms (`+`), logs and our own messages have it. */
export function spacedView(view: View): View {
  const builder = new Builder();
  let done = 0;
  for (const { 0: run, index } of view.text.matchAll(SPACES)) {
    builder.copy(view, done, index);
    done = index + run.length;
    builder.add(' ', startOf(view, index), endOf(view, done - 1));
  }
  if (done === 0) return view;
  builder.copy(view, done, view.text.length);
  return builder.view();
}

/** White space as {@link spacedView} has it. */
export function spaced(text: string): string {
  return text.replaceAll(SPACES, ' ');
}

function startOf(view: View, index: number): number {
  return view.from[index] ?? 0;
}

function endOf(view: View, index: number): number {
  return view.to[index] ?? 0;
}

function characterOf(code: number): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : '';
}

/** Bytes of the character that begins there; 1 for what is no UTF-8. */
function sequenceLength(bytes: Uint8Array, index: number): number {
  const lead = bytes[index] ?? 0;
  const length = lead >= 0xf0 && lead < 0xf5 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
  if (lead >= 0xf5 || index + length > bytes.length) return 1;
  for (let next = index + 1; next < index + length; next += 1) {
    if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 1;
  }
  return length;
}
