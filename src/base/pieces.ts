/** Smaller pieces are copied together, bytes. */
const SMALL = 1_024;
/** Into blocks of so many. */
const BLOCK = 4_096;

/**
 * Bytes as they arrive, until somebody takes them. Whoever sends decides how they are cut: a body of ten megabytes in
 * pieces of one byte would take a gigabyte of objects, so that small pieces are copied together.
 */
export class Pieces {
  #pieces: Uint8Array[] = [];
  /** The last piece, where it is a block with room left; and how far it is filled. */
  #block: Buffer | undefined;
  #filled = 0;
  #bytes = 0;

  /** How many there are. */
  get bytes(): number {
    return this.#bytes;
  }

  push(piece: Uint8Array): void {
    this.#bytes += piece.byteLength;
    if (piece.byteLength >= SMALL) {
      this.#close();
      this.#pieces.push(piece);
      return;
    }
    if (this.#block === undefined || this.#filled + piece.byteLength > BLOCK) {
      this.#close();
      this.#block = Buffer.allocUnsafeSlow(BLOCK);
    }
    this.#block.set(piece, this.#filled);
    this.#filled += piece.byteLength;
  }

  /** Takes the first of them out, as many as come in one piece; undefined: there are none. */
  shift(): Uint8Array | undefined {
    if (this.#pieces.length === 0) this.#close();
    const first = this.#pieces.shift();
    this.#bytes -= first?.byteLength ?? 0;
    return first;
  }

  /** Takes all of them out. */
  take(): Buffer {
    this.#close();
    const all = Buffer.concat(this.#pieces, this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
    return all;
  }

  #close(): void {
    if (this.#block !== undefined && this.#filled > 0)
      this.#pieces.push(this.#block.subarray(0, this.#filled));
    this.#block = undefined;
    this.#filled = 0;
  }
}
