/** JSON text of records, made once per version of a record: documents are immutable, so identity is enough. */
export class ViewCache {
  #texts: Record<string, WeakMap<object, string>> = {};

  /** The text of `doc` in `mode`, made by `make` when there is none yet. */
  text(mode: string, doc: object, make: () => unknown): string {
    const texts = (this.#texts[mode] ??= new WeakMap());
    let text = texts.get(doc);
    if (text === undefined) {
      text = JSON.stringify(make());
      texts.set(doc, text);
    }
    return text;
  }

  /** Forgets everything, after a reading was switched. */
  clear(): void {
    this.#texts = {};
  }
}
