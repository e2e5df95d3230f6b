/** Shorter values, and shorter lines of longer ones, are words that stand in any text. */
const SHORTEST_VALUE = 6;
const SHORTEST_LINE = 16;
/** Longer values are files; what would be quoted of them is a line. */
const LONGEST_VALUE = 8_192;
const LINES = 200;
/** So many values are kept, those read last. */
const KEPT = 10_000;

/** Remembers the values of Secrets that were read, so that no text shows them. */
export class SecretValues {
  readonly #values = new Set<string>();

  /** Notes a value of a Secret's `data`, in base64 as it travels. */
  note(base64: string): void {
    const text = Buffer.from(base64, 'base64').toString('utf8').trim();
    if (text.length >= SHORTEST_VALUE && text.length <= LONGEST_VALUE) this.#keep(text);
    const lines = text.split(/\r?\n/);
    if (lines.length === 1) return;
    for (const line of lines.slice(0, LINES)) {
      if (line.trim().length >= SHORTEST_LINE) this.#keep(line.trim());
    }
  }

  all(): readonly string[] {
    return [...this.#values];
  }

  #keep(value: string): void {
    this.#values.delete(value);
    this.#values.add(value);
    const [oldest] = this.#values;
    if (this.#values.size > KEPT && oldest !== undefined) this.#values.delete(oldest);
  }
}
