import type { AnyRecord, MemberRecord } from './common.ts';

/** Interface document section 2.8. */
export interface ProviderRecord extends AnyRecord {
  type?: string;
  description?: string;
  /** initializing, processing, ready, deleting, unavailable. */
  state?: string;
  services?: AnyObject[];
  members?: MemberRecord[];
  organization?: string;
  icon?: string | null;
  deleted?: string | null;
}

/** Interface document section 2.9; `schema` tells personal from team. */
export interface WorkspaceRecord extends AnyRecord {
  members?: MemberRecord[];
  organizations?: string[];
  organization?: string;
  email?: string;
  icon?: string | null;
  deleted?: string | null;
}

export interface AnyObject {
  [field: string]: unknown;
}
