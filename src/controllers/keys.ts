import type { KubeObject } from '../kube/index.ts';
import { Digest } from './digest.ts';
import { Seals } from './record/identity/seal.ts';

/** Name of the one Secret that the operator makes, in its own namespace. */
export const DIGEST_SECRET = 'boxwright-digest-key';

export const KEY_BYTES = 32;
/** A shorter key could be guessed, and with it the values behind the hashes in status. */
const SHORTEST_KEY_BYTES = 16;
/** Entries of the Secret that begin so hold earlier keys: for reading what was sealed with them. */
const EARLIER = 'earlier-';

/** Thrown when the Secret holds a key that is none. */
export class DigestKeyError extends Error {
  readonly code = 'DigestKey';
  constructor(namespace: string, entry: string, bytes: number) {
    super(
      `Secret "${DIGEST_SECRET}" in namespace "${namespace}": data.${entry} has ${bytes} bytes, fewer than ` +
        `${SHORTEST_KEY_BYTES}: restore it from a backup, or delete the Secret and start the operator with --installation-id`,
    );
    this.name = 'DigestKeyError';
  }
}

export interface KeySecret extends KubeObject {
  data?: Record<string, string>;
}

/** What the one key is used for. */
export interface Keys {
  digest: Digest;
  seals: Seals;
}

/**
 * The keys that a Secret holds; undefined where it holds none.
 * @throws DigestKeyError
 */
export function readKeys(secret: Pick<KeySecret, 'data'>, namespace: string, isThere: true): Keys;
export function readKeys(secret: Pick<KeySecret, 'data'> | undefined, namespace: string): Keys | undefined;
export function readKeys(secret: Pick<KeySecret, 'data'> | undefined, namespace: string): Keys | undefined {
  const keyIn = (entry: string, text: string): Uint8Array => {
    const bytes = Buffer.from(text, 'base64');
    if (bytes.byteLength < SHORTEST_KEY_BYTES) throw new DigestKeyError(namespace, entry, bytes.byteLength);
    return bytes;
  };
  const { key = '', ...others } = secret?.data ?? {};
  if (key === '') return undefined;
  const current = keyIn('key', key);
  const earlier = Object.entries(others)
    .filter(([entry]) => entry.startsWith(EARLIER))
    .map(([entry, text]) => keyIn(entry, text));
  return { digest: new Digest(current), seals: new Seals(current, earlier) };
}
