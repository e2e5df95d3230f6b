import type { OwnerReference } from '../../../src/kube/object.ts';

/** An object as the fake keeps it: plain JSON. */
export interface StoredObject {
  apiVersion: string;
  kind: string;
  metadata: StoredMetadata;
  [member: string]: unknown;
}

export interface StoredMetadata {
  name: string;
  namespace?: string;
  generateName?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  [member: string]: unknown;
}

export type JsonRecord = Record<string, unknown>;

export function isRecord(value: unknown): value is JsonRecord {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** What JSON makes of it: a deep copy without undefined members. */
export function copy<T>(value: T): T {
  return copied(value) as T;
}

/** By hand, as it is most of what the fake does: text in between costs three times as much. */
function copied(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (Number.isSafeInteger(value)) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => copied(item) ?? null);
  if (value === undefined) return undefined;
  if (!isRecord(value) || !isPlain(value)) return viaText(value);
  const result: JsonRecord = {};
  for (const key of Object.keys(value)) {
    const member = copied(value[key]);
    if (member !== undefined) result[key] = member;
  }
  return result;
}

/** Whether it holds nothing that JSON, or assignment, treats in a way of its own. */
function isPlain(value: JsonRecord): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === Object.prototype || prototype === null) &&
    typeof value['toJSON'] !== 'function' &&
    !Object.hasOwn(value, '__proto__')
  );
}

function viaText(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : JSON.parse(text);
}

/** RFC 7386. Members that are null in the patch go, at any depth of what it adds as well. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: JsonRecord = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

/** RFC 3339 to the second, as `metav1.Time` travels. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
