import { raw } from './exact-json.ts';
import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Lower-case RFC 4648 base32 without padding. */
export function base32(bytes: Uint8Array): string {
  let out = '';
  let value = 0;
  let bits = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      out += ALPHABET[(value >>> (bits - 5)) & 31];
      bits -= 5;
    }
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? out : out + ALPHABET[(value << (5 - bits)) & 31];
}

/**
 * SHA-256 of the parts, in lower-case base32 (52 characters). Each part is preceded by its length, so that
 * no two different lists of parts hash alike.
 */
export function sha256Base32(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) feed(hash, part);
  return base32(hash.digest());
}

/** HMAC-SHA-256 of the parts under `key`, in lower-case base32 (52 characters). */
export function hmacBase32(key: Uint8Array | KeyObject, ...parts: readonly (string | Uint8Array)[]): string {
  const hmac = createHmac('sha256', key);
  for (const part of parts) feed(hmac, part);
  return base32(hmac.digest());
}

/** A key of 32 bytes for another purpose than `key` has: neither tells anything of the other. */
export function derivedKey(key: Uint8Array | KeyObject, purpose: string): KeyObject {
  return createSecretKey(createHmac('sha256', key).update(`boxwright ${purpose}`).digest());
}

function feed(sink: { update(data: Uint8Array): unknown }, part: string | Uint8Array): void {
  const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
  sink.update(Buffer.from(`${bytes.byteLength}:`));
  sink.update(bytes);
}

/** JSON with keys sorted and undefined members left out: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? 'null';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return raw(value);
  const entries = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}
