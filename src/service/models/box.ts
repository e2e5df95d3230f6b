import type { AnyRecord, BlobRecord, MemberRecord, VariableRecord } from './common.ts';

/** An event's script: a blob and where it goes (interface document section 2.4). */
export interface EventRecord extends BlobRecord {
  destination_path?: string;
}

/** Interface document section 2.3. */
export interface VersionRecord {
  box?: string;
  description?: string;
  number?: { major: number; minor: number; patch: number };
  workspace?: string;
  [field: string]: unknown;
}

/** What a box says about itself, per type (interface document section 2.1). */
export interface BoxFields {
  description?: string;
  visibility?: string;
  members?: MemberRecord[];
  icon?: string | null;
  variables?: VariableRecord[];
  automatic_updates?: string;
  /** script, cloudformation, docker. */
  requirements?: string[];
  /** script. */
  events?: Record<string, EventRecord>;
  /** policy, cloudformation. */
  profile?: Record<string, unknown>;
  provider_id?: string;
  /** policy. */
  claims?: string[];
  lifespan?: Record<string, unknown>;
  version?: VersionRecord;
}

/** A box of any of the four types, as read. */
export interface BoxRecord extends AnyRecord, BoxFields {
  organization?: string;
  deleted?: string | null;
  [field: string]: unknown;
}

/** What is sent to make a box; a change sends the full record, unknown fields included. */
export interface BoxBody extends BoxFields {
  /** `{schema_base}/boxes/<type>`. */
  schema: string;
  name: string;
  owner?: string;
  [field: string]: unknown;
}
