import { randomInt } from 'node:crypto';
import type { Random } from '../base/clock.ts';

/** Numbers in [0, 1) that nobody can guess: tokens are made from them. */
export const strongRandom: Random = () => randomInt(2 ** 47) / 2 ** 47;

/** Identifiers in the shapes of service-behaviour.md 9; reproducible when the source of numbers is seeded. */
export class Ids {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Random text of `length` characters of `alphabet`. */
  text(alphabet: string, length: number): string {
    let out = '';
    for (let i = 0; i < length; i++) out += alphabet[Math.floor(this.#random() * alphabet.length)];
    return out;
  }

  hex(length: number): string {
    return this.text('0123456789abcdef', length);
  }

  /** A version 4 UUID: boxes, providers, operations, tokens. */
  uuid(): string {
    const variant = this.text('89ab', 1);
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-${variant}${this.hex(3)}-${this.hex(12)}`;
  }

  /** `i-` and six characters. */
  instance(): string {
    return `i-${this.text('abcdefghijklmnopqrstuvwxyz0123456789', 6)}`;
  }

  /** `eb-` and five characters; machines are `<service>-<n>`. */
  service(): string {
    return `eb-${this.text('abcdefghijklmnopqrstuvwxyz0123456789', 5)}`;
  }

  /** 24 hex digits. */
  blob(): string {
    return this.hex(24);
  }
}
