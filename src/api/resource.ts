/**
 * The envelope of every resource, as it travels: what the API server sends, after its defaulting.
 */

/** An owner reference; times are RFC 3339 strings everywhere here. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** `metadata` of a namespaced resource as read from the API server, without managedFields. */
export interface Meta {
  name: string;
  namespace: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  /** RFC 3339. */
  creationTimestamp: string;
  /** RFC 3339; present once somebody has asked for deletion. */
  deletionTimestamp?: string;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
}

/** `metadata` as a user writes it. */
export interface ManifestMeta {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** metav1.Condition. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** The `metadata.generation` that it speaks of. */
  observedGeneration?: number;
  /** RFC 3339; moves only when `status` changes. */
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/** A resource as the operator sees it: fields with a default are never absent, status included. */
export interface Resource<Spec, Status, Kind extends string = string> {
  apiVersion: string;
  kind: Kind;
  metadata: Meta;
  spec: Spec;
  status: Status;
}

/** A resource as a user writes it: fields with a default may be left out, there is no status. */
export interface ManifestOf<Spec, Kind extends string = string> {
  apiVersion: string;
  kind: Kind;
  metadata: ManifestMeta;
  spec: Spec;
}

/** Something in a stored object that its schema does not allow. */
export interface Problem {
  /** Such as `spec.variables[2].value`. */
  path: string;
  /** What stands there, as JSON cut to 80 characters; empty for fields that may hold secrets or long text. */
  value: string;
  /** Names the field, the value and the next step. */
  message: string;
}

/** What a parser answers: it never throws. `metadata` is there when that much could be read. */
export type Parsed<T> = { ok: true; resource: T } | { ok: false; problems: Problem[]; metadata?: Meta };
