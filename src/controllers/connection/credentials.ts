import { secretText } from '../content/secret-text.ts';
import type { Credentials } from '../../service/index.ts';
import { BASIC_AUTH_TYPE, credentialsRefusal } from '../secret-policy.ts';
import type { WholeSecret } from '../sources.ts';

/** What a Secret gives, or what is wrong with it, in words. */
export type CredentialsFound =
  { kind: 'found'; credentials: Credentials } | { kind: 'missing'; message: string };

/** Bytes that a credential may have; longer ones are a mistake, not a secret. */
const LONGEST = 8_192;

/**
 * Reads the credentials out of a Secret: `token`, or `email` and `password`. One of type basic-auth calls the email
 * `username`.
 */
export function credentialsIn(
  name: string,
  secret: Omit<WholeSecret, 'version'> | undefined,
): CredentialsFound {
  if (secret === undefined) {
    return missing(`Secret "${name}" does not exist: create it with key token, or keys email and password`);
  }
  const refused = secret.refused ?? credentialsRefusal(secret);
  if (refused !== undefined) return missing(`Secret "${name}" ${refused}`);
  const { data, type } = secret;
  const token = textOf(data, 'token');
  if (token !== undefined) return { kind: 'found', credentials: { kind: 'token', token } };
  const email = textOf(data, 'email') ?? (type === BASIC_AUTH_TYPE ? textOf(data, 'username') : undefined);
  const password = textOf(data, 'password');
  if (email !== undefined && password !== undefined) {
    return { kind: 'found', credentials: { kind: 'password', email, password } };
  }
  const needs = 'it needs key token, or keys email and password';
  const unusable = ['token', 'email', 'password'].find(
    (key) => Object.hasOwn(data, key) && textOf(data, key) === undefined,
  );
  if (unusable !== undefined) {
    const bytes = data[unusable] ?? new Uint8Array();
    const what =
      bytes.byteLength > LONGEST
        ? `holds ${bytes.byteLength} bytes, which is no credential`
        : secretText(bytes) === undefined
          ? 'is not UTF-8 text'
          : 'is empty';
    return missing(`Secret "${name}": key ${unusable} ${what}; ${needs}`);
  }
  const has = Object.keys(data).toSorted().slice(0, 5).join(', ');
  return missing(`Secret "${name}" has ${has === '' ? 'no keys' : `only ${has}`}: ${needs}`);
}

function textOf(data: Readonly<Record<string, Uint8Array>>, key: string): string | undefined {
  const bytes = Object.hasOwn(data, key) ? data[key] : undefined;
  if (bytes === undefined || bytes.byteLength > LONGEST) return undefined;
  const text = secretText(bytes);
  return text === '' ? undefined : text;
}

function missing(message: string): CredentialsFound {
  return { kind: 'missing', message };
}
