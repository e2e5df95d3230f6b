import { createSecretKey, type KeyObject } from 'node:crypto';
import { hmacBase32 } from '../base/hash.ts';
import { keyIdOf } from './record/identity/seal.ts';

function keyOf(hash: string): string {
  return hash.split(':', 1)[0] ?? '';
}

/**
 * Keyed hashes: what was last sent of a secret is remembered as an HMAC, so that status, which anybody who
 * reads the namespace can see, gives nothing away.
 */
export class Digest {
  /** Names the key; a hash under another key can be compared with nothing. */
  readonly keyId: string;
  readonly #key: KeyObject;

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key);
    this.keyId = keyIdOf(key);
  }

  /** `<key id>:<hmac>` of the parts. */
  of(...parts: readonly (string | Uint8Array)[]): string {
    return `${this.keyId}:${hmacBase32(this.#key, ...parts).slice(0, 32)}`;
  }

  /** Whether two hashes are of different things; of hashes under two keys nobody can tell. */
  static differ(a: string, b: string): boolean {
    return a !== b && keyOf(a) === keyOf(b);
  }

  /** Whether a stored hash was made with this key. */
  knows(hash: string): boolean {
    return hash.startsWith(`${this.keyId}:`);
  }
}
