/** Options every call takes. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface ListOptions extends CallOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Objects per page; @defaultValue 500 */
  pageSize?: number | undefined;
  metadataOnly?: boolean | undefined;
}

export interface WriteOptions extends CallOptions {
  subresource?: 'status' | undefined;
  fieldManager?: string | undefined;
  dryRun?: boolean | undefined;
}

export interface MergePatchOptions extends WriteOptions {
  /** The version the patch was made from: a newer one in the cluster answers 409. Makes the call retriable. */
  resourceVersion?: string | undefined;
}

export interface ApplyOptions extends WriteOptions {
  /** Takes fields over from other managers; @defaultValue false */
  force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Only this incarnation of the name: another answers 409. Makes the call retriable. */
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan' | undefined;
}
