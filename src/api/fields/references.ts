import type { TObject, TString } from 'typebox';
import { defaulted, object, oneOf, text, type ReferenceTarget } from '../schema/build.ts';

/** The pattern of a Kubernetes object name (RFC 1123 subdomain). */
const OBJECT_NAME = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
/** The pattern of a key in a Secret or ConfigMap. */
const DATA_KEY = '^[-._a-zA-Z0-9]+$';

function nameOf(target: string): TString {
  return text(`Name of the ${target}. Required. Can be changed where the reference can.`, {
    minLength: 0,
    maxLength: 253,
    pattern: OBJECT_NAME,
    hint: `must be the name of a ${target}: lower-case letters, digits, - and .`,
  });
}

/** `{name}` of a resource in the same namespace. There is no `namespace` field, on purpose. */
export function reference(target: ReferenceTarget, purpose: string): TObject<{ name: TString }> {
  return object(
    `${purpose} The ${target} must be in the same namespace.`,
    { name: nameOf(target) },
    { reference: target },
  );
}

function keyOf(target: string): TString {
  return text(`Key in the ${target}'s data. Required. Can be changed where the reference can.`, {
    minLength: 0,
    maxLength: 253,
    pattern: DATA_KEY,
    hint: 'must be the name of a key: letters, digits, -, _ and .',
  });
}

/** `{name, key}` of a Secret or ConfigMap in the same namespace. */
export function keyReference(
  target: 'Secret' | 'ConfigMap',
  purpose: string,
): TObject<{ name: TString; key: TString }> {
  return object(
    `${purpose} Names one key; the ${target} must be in the same namespace.`,
    {
      name: nameOf(target),
      key: keyOf(target),
    },
    { reference: target },
  );
}

/** `{kind, name, key}` of certificate authorities, in a ConfigMap or a Secret. */
export function authorityReference() {
  const target = 'ConfigMap or Secret';
  return object(
    'Certificate authorities (PEM) that the operator trusts when it connects to the service. Can be changed. Names one key; the ConfigMap or Secret must be in the same namespace.',
    {
      kind: defaulted(
        oneOf('Kind of the object. Default ConfigMap. Can be changed.', ['ConfigMap', 'Secret']),
        'ConfigMap',
      ),
      name: nameOf(target),
      key: keyOf(target),
    },
    { reference: 'ConfigMap' },
  );
}
