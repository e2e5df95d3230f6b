import type { Credentials } from '../../service/index.ts';

/** What a Secret gives, or what is wrong with it, in words. */
export type CredentialsFound =
  { kind: 'found'; credentials: Credentials } | { kind: 'missing'; message: string };

/** Bytes that a credential may have; longer ones are a mistake, not a secret. */
const LONGEST = 8_192;

/** Reads the credentials out of a Secret's data: `token`, or `email` and `password`. */
export function credentialsIn(
  name: string,
  data: Readonly<Record<string, Uint8Array>> | undefined,
): CredentialsFound {
  if (data === undefined) {
    return missing(`Secret "${name}" does not exist: create it with key token, or keys email and password`);
  }
  const token = textOf(data, 'token');
  if (token !== undefined) return { kind: 'found', credentials: { kind: 'token', token } };
  const email = textOf(data, 'email');
  const password = textOf(data, 'password');
  if (email !== undefined && password !== undefined) {
    return { kind: 'found', credentials: { kind: 'password', email, password } };
  }
  const needs = 'it needs key token, or keys email and password';
  const unusable = ['token', 'email', 'password'].find(
    (key) => Object.hasOwn(data, key) && textOf(data, key) === undefined,
  );
  if (unusable !== undefined) {
    const size = data[unusable]?.byteLength ?? 0;
    const what = size > LONGEST ? `holds ${size} bytes, which is no credential` : 'is empty';
    return missing(`Secret "${name}": key ${unusable} ${what}; ${needs}`);
  }
  const has = Object.keys(data).toSorted().slice(0, 5).join(', ');
  return missing(`Secret "${name}" has ${has === '' ? 'no keys' : `only ${has}`}: ${needs}`);
}

/** A line break at the end is what `echo` and editors leave, never part of the credential. */
function textOf(data: Readonly<Record<string, Uint8Array>>, key: string): string | undefined {
  const bytes = Object.hasOwn(data, key) ? data[key] : undefined;
  if (bytes === undefined || bytes.byteLength > LONGEST) return undefined;
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  return text === '' ? undefined : text;
}

function missing(message: string): CredentialsFound {
  return { kind: 'missing', message };
}
