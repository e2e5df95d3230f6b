import { isRecord, type StoredObject } from './objects.ts';
import type { Cause } from './refusals.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const ANNOTATION_BYTES = 256 * 1_024;

/** What the API server finds wrong with metadata, whatever the kind. */
export function metadataMistakes(object: StoredObject, old: StoredObject | undefined): Cause[] {
  const { annotations, finalizers, labels, name } = object.metadata;
  const causes: Cause[] = [];
  const bad = (field: string, message: string): number =>
    causes.push({ field, reason: 'FieldValueInvalid', message });
  if (old === undefined && (!SUBDOMAIN.test(name) || name.length > 253)) {
    bad(
      'metadata.name',
      `Invalid value: ${JSON.stringify(name)}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'`,
    );
  }
  for (const [key, value] of Object.entries(isRecord(labels) ? labels : {})) {
    if (!QUALIFIED.test(key))
      bad(
        'metadata.labels',
        `Invalid value: ${JSON.stringify(key)}: name part must consist of alphanumeric characters`,
      );
    if (typeof value !== 'string' || !LABEL_VALUE.test(value)) {
      bad(
        'metadata.labels',
        `Invalid value: ${JSON.stringify(value)}: a valid label must be an empty string or consist of alphanumeric characters`,
      );
    }
  }
  let size = 0;
  for (const [key, value] of Object.entries(isRecord(annotations) ? annotations : {})) {
    if (!QUALIFIED.test(key.toLowerCase()))
      bad(
        'metadata.annotations',
        `Invalid value: ${JSON.stringify(key)}: name part must consist of alphanumeric characters`,
      );
    if (typeof value !== 'string')
      bad('metadata.annotations', `Invalid value: ${JSON.stringify(value)}: must be a string`);
    size += Buffer.byteLength(key) + Buffer.byteLength(JSON.stringify(value));
  }
  if (size > ANNOTATION_BYTES)
    causes.push({
      field: 'metadata.annotations',
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${ANNOTATION_BYTES} bytes`,
    });
  for (const finalizer of finalizers ?? []) {
    if (!QUALIFIED.test(finalizer))
      bad(
        'metadata.finalizers',
        `Invalid value: ${JSON.stringify(finalizer)}: name part must consist of alphanumeric characters`,
      );
  }
  const added = (finalizers ?? []).filter((one) => !(old?.metadata.finalizers ?? []).includes(one));
  if (old?.metadata.deletionTimestamp !== undefined && added.length > 0) {
    causes.push({
      field: 'metadata.finalizers',
      reason: 'FieldValueForbidden',
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((one) => JSON.stringify(one)).join(', ')}}`,
    });
  }
  return causes;
}
