/** Longer texts are rarely the same twice, and costly to compare. */
const LONGEST = 256;

/**
 * Makes equal texts one text: of a thousand records from a service most texts stand in each, and parsing makes each anew.
 * Bounded: what did not come up for a while is forgotten, and then kept once more at most.
 */
export class Interned {
  readonly #capacity: number;
  #recent = new Map<string, string>();
  #older = new Map<string, string>();

  /** @param capacity - texts that are known at least; twice as many at most */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The one text that equals `text`. */
  text(text: string): string {
    if (text.length > LONGEST) return text;
    const recent = this.#recent.get(text);
    if (recent !== undefined) return recent;
    const known = this.#older.get(text) ?? text;
    if (this.#recent.size >= this.#capacity) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(known, known);
    return known;
  }

  /** Replaces the texts in parsed JSON by those that equal them, where they stand: nobody can tell the difference. */
  replaceIn(value: unknown): void {
    const open = [value];
    for (let one = open.pop(); one !== undefined || open.length > 0; one = open.pop()) {
      if (!isPlain(one)) continue;
      for (const name of Object.keys(one)) {
        const field = one[name];
        if (typeof field === 'string') one[name] = this.text(field);
        else open.push(field);
      }
    }
  }
}

/** Something that JSON.parse makes, and nobody has frozen. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}
