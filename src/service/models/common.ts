/**
 * Records as they travel. Only what the operator relies on is named and checked; every other field is kept as
 * it came (the index signature), so that it survives a read-modify-write. List entries may lack parts
 * (service-behaviour.md 2.4), hence all but `id` is optional.
 */
export interface AnyRecord {
  id: string;
  uri?: string;
  schema?: string;
  name?: string;
  owner?: string;
  created?: string;
  /** Moves with every change. `YYYY-MM-DD HH:MM:SS.ffffff` UTC. */
  updated?: string;
  [field: string]: unknown;
}

/** Interface document section 2.2; unknown types are carried through. */
export interface VariableRecord {
  name: string;
  type?: string;
  /** A string in the interface document; numbers and booleans are met and kept. */
  value?: unknown;
  required?: boolean;
  visibility?: string;
  /** Dotted path of Box-variable names; absent for the main box. */
  scope?: string;
  automatic_updates?: string;
  [field: string]: unknown;
}

export interface MemberRecord {
  role?: string;
  workspace?: string;
  [field: string]: unknown;
}

/** Interface document section 2.7, plus what an event or a readme adds. */
export interface BlobRecord {
  /** Download path: `/services/blobs/download/<file_id>/<file_name>`. */
  url: string;
  length?: number;
  upload_date?: string;
  content_type?: string | null;
  [field: string]: unknown;
}

/** One line of an instance's activity, or of an operation record's (service-behaviour.md 2.7). */
export interface ActivityRecord {
  text?: string;
  level?: string;
  created?: string;
  box?: string;
  machine?: string;
  event?: string;
  exit_code?: number;
  [field: string]: unknown;
}
