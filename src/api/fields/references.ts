import type { TObject, TString } from 'typebox';
import { object, text, type ReferenceTarget } from '../schema/build.ts';

/** The pattern of a Kubernetes object name (RFC 1123 subdomain). */
const OBJECT_NAME = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
/** The pattern of a key in a Secret or ConfigMap. */
const DATA_KEY = '^[-._a-zA-Z0-9]+$';

function nameOf(target: ReferenceTarget): TString {
  return text(`Name of the ${target}. Required. Can be changed where the reference can.`, {
    minLength: 0,
    maxLength: 253,
    pattern: OBJECT_NAME,
    hint: `name the ${target}: lower-case letters, digits, - and .`,
  });
}

/** `{name}` of a resource in the same namespace. There is no `namespace` field, on purpose. */
export function reference(target: ReferenceTarget, purpose: string): TObject<{ name: TString }> {
  return object(
    `${purpose} Refers by name to a ${target} in the same namespace.`,
    { name: nameOf(target) },
    { reference: target },
  );
}

/** `{name, key}` of a Secret or ConfigMap in the same namespace. */
export function keyReference(
  target: 'Secret' | 'ConfigMap',
  purpose: string,
): TObject<{ name: TString; key: TString }> {
  return object(
    `${purpose} Refers to one key of a ${target} in the same namespace.`,
    {
      name: nameOf(target),
      key: text(`Key in the ${target}'s data. Required. Can be changed where the reference can.`, {
        minLength: 0,
        maxLength: 253,
        pattern: DATA_KEY,
        hint: 'name the key: letters, digits, -, _ and .',
      }),
    },
    { reference: target },
  );
}
