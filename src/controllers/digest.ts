import { createSecretKey, type KeyObject } from 'node:crypto';
import { derivedKey, hmacBase32, sha256Base32 } from '../base/hash.ts';
import { keyIdOf } from './record/identity/seal.ts';

function keyOf(hash: string): string {
  return hash.split(':', 1)[0] ?? '';
}

/** Whose status a hash is shown in: equal values look different everywhere. */
export interface Domain {
  kind: string;
  namespace: string;
  name: string;
}

/** The domain of what the status of a resource shows. */
export function domainOf({
  kind,
  metadata,
}: {
  kind: string;
  metadata: { namespace: string; name: string };
}): Domain {
  const { namespace, name } = metadata;
  return { kind, namespace, name };
}

/**
 * Keyed hashes: what was last sent of a secret is remembered as an HMAC, so that status, which anybody who
 * reads the namespace can see, gives nothing away.
 *
 * What status shows is hashed once more, under a key of its own, with the resource and the field: whoever may read
 * one namespace and write in another must not be able to try guesses there. Earlier versions showed the inner hash: it
 * is told by its key id, and can be compared once it is hashed so, too.
 */
export class Digest {
  /** Names the key; a hash under another key can be compared with nothing. */
  readonly keyId: string;
  readonly #key: KeyObject;
  readonly #shownKeyId: string;
  readonly #shownKey: KeyObject;

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key);
    this.keyId = keyIdOf(key);
    this.#shownKey = derivedKey(key, 'shown hashes');
    this.#shownKeyId = sha256Base32('shown key', this.#shownKey.export()).slice(0, 8);
  }

  /** `<key id>:<hmac>` of the parts: to be hashed on, and shown nowhere. */
  of(...parts: readonly (string | Uint8Array)[]): string {
    return `${this.keyId}:${hmacBase32(this.#key, ...parts).slice(0, 32)}`;
  }

  /** A key for another purpose, see {@link derivedKey}. */
  keyFor(purpose: string): KeyObject {
    return derivedKey(this.#key, purpose);
  }

  /** What the status of a resource shows of a hash in one of its fields. */
  shown({ kind, namespace, name }: Domain, field: string, hash: string): string {
    const shown = hmacBase32(this.#shownKey, kind, namespace, name, field, hash);
    return `${this.#shownKeyId}:${shown.slice(0, 32)}`;
  }

  /** A hash that status shows, as this version shows it. */
  present(domain: Domain, field: string, stored: string): string {
    return keyOf(stored) === this.keyId ? this.shown(domain, field, stored) : stored;
  }

  /** Whether two hashes are of different things; of hashes under two keys nobody can tell. */
  static differ(a: string, b: string): boolean {
    return a !== b && keyOf(a) === keyOf(b);
  }

  /** Whether a hash in status was made with this key. */
  knows(hash: string): boolean {
    return keyOf(hash) === this.#shownKeyId;
  }
}
