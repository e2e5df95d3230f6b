import { createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';
import { hmacBase32, sha256Base32 } from '../base/hash.ts';
import { KubeApiError, SECRETS, type KubeClient, type KubeObject } from '../kube/index.ts';

/** Name of the one Secret that the operator makes, in its own namespace. */
export const DIGEST_SECRET = 'boxwright-digest-key';

const KEY_BYTES = 32;
/** A shorter key could be guessed, and with it the values behind the hashes in status. */
const SHORTEST_KEY_BYTES = 16;

/** Thrown when the Secret holds a key that is none. */
export class DigestKeyError extends Error {
  readonly code = 'DigestKey';
  constructor(namespace: string, bytes: number) {
    super(
      `Secret "${DIGEST_SECRET}" in namespace "${namespace}": data.key has ${bytes} bytes, fewer than ` +
        `${SHORTEST_KEY_BYTES}: restore it from a backup, or delete the Secret, and another key is made`,
    );
    this.name = 'DigestKeyError';
  }
}

interface KeySecret extends KubeObject {
  data?: Record<string, string>;
}

function keyIdOf(hash: string): string {
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
    this.keyId = sha256Base32('digest key', key).slice(0, 8);
  }

  /** `<key id>:<hmac>` of the parts. */
  of(...parts: readonly (string | Uint8Array)[]): string {
    return `${this.keyId}:${hmacBase32(this.#key, ...parts).slice(0, 32)}`;
  }

  /** A key of 32 bytes for another purpose: neither tells anything of the other. */
  keyFor(purpose: string): KeyObject {
    return createSecretKey(Buffer.from(hkdfSync('sha256', this.#key, '', `boxwright ${purpose}`, KEY_BYTES)));
  }

  /** Whether two hashes are of different things; of hashes under two keys nobody can tell. */
  static differ(a: string, b: string): boolean {
    return a !== b && keyIdOf(a) === keyIdOf(b);
  }

  /** Whether a stored hash was made with this key. */
  knows(hash: string): boolean {
    return hash.startsWith(`${this.keyId}:`);
  }

  /**
   * Reads the key's Secret in `namespace`, or makes it. Of two processes that make it one wins.
   * @throws DigestKeyError, KubeApiError, KubeTransportError
   */
  static async load(kube: KubeClient, namespace: string, signal?: AbortSignal): Promise<Digest> {
    const ref = { namespace, name: DIGEST_SECRET };
    for (;;) {
      const secret = await kube.get<KeySecret>(SECRETS, ref, { signal });
      const stored = secret?.data?.key;
      if (stored !== undefined && stored !== '') {
        const key = Buffer.from(stored, 'base64');
        if (key.byteLength < SHORTEST_KEY_BYTES) throw new DigestKeyError(namespace, key.byteLength);
        return new Digest(key);
      }
      const data = { key: randomBytes(KEY_BYTES).toString('base64') };
      try {
        if (secret === undefined) await kube.create<KeySecret>(SECRETS, { metadata: ref, data }, { signal });
        else {
          const { resourceVersion } = secret.metadata;
          await kube.mergePatch<KeySecret>(SECRETS, ref, { data }, { resourceVersion, signal });
        }
      } catch (error) {
        // Somebody else was quicker: theirs is the key.
        if (!(error instanceof KubeApiError && error.status === 409)) throw error;
      }
    }
  }
}
