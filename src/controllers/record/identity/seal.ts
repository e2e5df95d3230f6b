import type { KeyObject } from 'node:crypto';
import { derivedKey, hmacBase32, sha256Base32 } from '../../../base/hash.ts';
import { canonicalEndpoint } from '../../../service/index.ts';

/** Who is spoken of: this installation, and one life of a resource. */
export interface Sealed {
  installationId: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
}

/** Where a record is, or is to be: a service, and the workspace there that owns it. */
export interface Place {
  endpoint: string;
  owner: string;
}

/** What a seal says. */
export type SealReading =
  /** `isCurrent`: under the key that seals are made with now. */
  | ({ kind: 'holds'; isCurrent: boolean } & Place)
  /** There is none, or it is none that a key in hand has made for this: it counts for nothing. */
  | { kind: 'false' }
  /** It names a key that is not in hand: nobody can tell. */
  | { kind: 'unreadable' };

const KEY_ID = /^[a-z2-7]{8}$/;
const HASH = /^[a-z2-7]{32}$/;

/** Names a key without giving it away. */
export function keyIdOf(key: Uint8Array): string {
  return sha256Base32('digest key', key).slice(0, 8);
}

/**
 * Seals what the operator writes into annotations, which anybody who may write the resource can write, too. A seal
 * reads `<key id>/<endpoint>/<owner>/<keyed hash>`; endpoint and owner are percent-encoded, so that neither holds a
 * slash.
 */
export class Seals {
  readonly #current: string;
  readonly #keys: ReadonlyMap<string, KeyObject>;

  /** @param earlier - keys that seals were made with before: for reading only. */
  constructor(key: Uint8Array, earlier: readonly Uint8Array[] = []) {
    this.#current = keyIdOf(key);
    // A key of its own for seals, so that no keyed hash that status shows is ever one.
    this.#keys = new Map([...earlier, key].map((one) => [keyIdOf(one), derivedKey(one, 'seals')]));
  }

  /** The seal of a claim on record `id`. */
  claim(of: Sealed, id: string, { endpoint, owner }: Place): string {
    const hash = this.#hash(this.#current, 'claim', of, [id, endpoint, owner]);
    return [this.#current, encoded(endpoint), encoded(owner), hash].join('/');
  }

  /** Reads the seal of a claim on record `id`. */
  readClaim(text: string | undefined, of: Sealed, id: string): SealReading {
    const [keyId = '', rawEndpoint = '', rawOwner = '', hash = '', ...more] = text?.split('/') ?? [];
    const [endpoint, owner] = [decoded(rawEndpoint), decoded(rawOwner)];
    if (!KEY_ID.test(keyId) || !HASH.test(hash) || more.length > 0) return { kind: 'false' };
    if (endpoint === undefined || owner === undefined) return { kind: 'false' };
    if (!this.#keys.has(keyId)) return { kind: 'unreadable' };
    if (this.#hash(keyId, 'claim', of, [id, endpoint, owner]) !== hash) return { kind: 'false' };
    return {
      kind: 'holds',
      isCurrent: keyId === this.#current,
      endpoint: canonicalEndpoint(endpoint),
      owner,
    };
  }

  /** The seal of a note, such as a create-intent. */
  note(what: string, of: Sealed, text: string): string {
    return `${this.#current}/${this.#hash(this.#current, what, of, [text])}`;
  }

  /** Whether a note was sealed so, under whichever key in hand. */
  holdsNote(seal: string, what: string, of: Sealed, text: string): boolean {
    const [keyId = '', hash] = seal.split('/');
    return this.#keys.has(keyId) && this.#hash(keyId, what, of, [text]) === hash;
  }

  #hash(keyId: string, what: string, of: Sealed, more: readonly string[]): string {
    const { installationId, kind, namespace, name, uid } = of;
    const key = this.#keys.get(keyId);
    if (key === undefined) throw new Error(`no such key: ${keyId}`);
    return hmacBase32(key, what, installationId, kind, namespace, name, uid, ...more).slice(0, 32);
  }
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // nothing that this operator has written
  }
}
