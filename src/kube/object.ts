/**
 * Kubernetes objects as they travel: plain JSON, dates as RFC 3339 strings, unknown fields kept. No class is
 * ever built from an answer, so what is read can be compared and sent back without losing anything.
 */

/**
 * Metadata as it may be sent. Source of the fields: Kubernetes API conventions, "Metadata". Lists that the
 * API server owns are read-only here.
 */
export interface ObjectMeta {
  name: string;
  namespace?: string | undefined;
  generateName?: string | undefined;
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  generation?: number | undefined;
  creationTimestamp?: string | undefined;
  deletionTimestamp?: string | undefined;
  deletionGracePeriodSeconds?: number | undefined;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
  finalizers?: string[] | undefined;
  ownerReferences?: OwnerReference[] | undefined;
  managedFields?: unknown;
}

/** Metadata as the API server answers it: identity and version are always there. */
export interface StoredMeta extends ObjectMeta {
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
}

/** Kubernetes API conventions, "Garbage collection". */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean | undefined;
  blockOwnerDeletion?: boolean | undefined;
}

/** The least that everything here asks of an object. */
export interface KubeObject {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
}

/** An object of which only the metadata matters: what a metadata-only informer holds. */
export interface StoredObject extends KubeObject {
  metadata: StoredMeta;
}

/** Names a kind to the API server. `group` is empty for the core group (`v1`). */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  /** As in the path, lower case: `configmaps`. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Where one object is. `namespace` is left out for cluster-scoped kinds only. */
export interface ObjectRef {
  namespace?: string | undefined;
  name: string;
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key of caches and queues. */
export type ObjectKey = string;

/** The key of a reference. */
export function keyOf(ref: ObjectRef): ObjectKey {
  return ref.namespace === undefined || ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`;
}

/** The key of an object. */
export function keyOfObject(object: KubeObject): ObjectKey {
  return keyOf(object.metadata);
}

/** The reference behind a key. Kubernetes names hold no slash. */
export function refOf(key: ObjectKey): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** `apiVersion` of a type: `v1`, `apps/v1`. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** What {@link pathOf} takes: nothing for all objects of a kind, a namespace for those in it, a name for one. */
export interface PathParts {
  namespace?: string | undefined;
  name?: string | undefined;
  subresource?: string | undefined;
}

/**
 * The API path of a collection or an object, each segment encoded.
 *
 * An empty name is refused: it would turn a call on one object into one on the collection, which for DELETE
 * means everything in it.
 * @throws {@link InvalidPathError}
 */
export function pathOf(type: ResourceType, parts: PathParts = {}): string {
  const base = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const segments = [base];
  if (parts.namespace !== undefined) {
    if (!type.namespaced) throw new InvalidPathError(`${type.kind} has no namespace, got one`);
    segments.push('namespaces', segment(type, 'namespace', parts.namespace));
  } else if (type.namespaced && parts.name !== undefined) {
    throw new InvalidPathError(`${type.kind} "${parts.name}" needs a namespace`);
  }
  segments.push(type.plural);
  if (parts.name !== undefined) segments.push(segment(type, 'name', parts.name));
  if (parts.subresource !== undefined) {
    if (parts.name === undefined) throw new InvalidPathError(`${type.kind}: a subresource needs a name`);
    segments.push(segment(type, 'subresource', parts.subresource));
  }
  return segments.join('/');
}

/** Thrown by {@link pathOf} for parts that name no object: a mistake of the caller, never of the cluster. */
export class InvalidPathError extends Error {
  readonly code = 'InvalidPath';
  constructor(message: string) {
    super(message);
    this.name = 'InvalidPathError';
  }
}

function segment(type: ResourceType, what: string, text: string): string {
  // Path segments names of Kubernetes documents: "." and ".." and anything with "/" or "%" name nothing.
  if (text === '' || text === '.' || text === '..' || /[/%]/.test(text)) {
    throw new InvalidPathError(`${type.kind}: "${text}" cannot be a ${what}`);
  }
  return encodeURIComponent(text);
}
