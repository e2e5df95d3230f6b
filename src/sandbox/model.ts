/**
 * What the tables hold. Field names follow the interface document where the field is on the wire; the rest is
 * the service's own business. Values are immutable: a change makes a new document.
 */

/** A variable in a request to deploy or update: the type may be left out. */
export interface Override {
  name: string;
  type?: string;
  value?: unknown;
  required?: boolean;
  visibility?: string;
  scope?: string;
  automatic_updates?: string;
  [more: string]: unknown;
}

export interface Variable extends Override {
  type: string;
}

export interface Member {
  role: string;
  workspace: string;
}

export interface VersionNumber {
  major: number;
  minor: number;
  patch: number;
}

export interface Version {
  box: string;
  description: string;
  number: VersionNumber;
  workspace: string;
}

export interface Lease {
  expire?: string;
  operation: string;
  released: boolean;
}

export type BoxKind = 'script' | 'policy' | 'cloudformation' | 'docker';

export interface BoxDoc {
  id: string;
  kind: BoxKind;
  name: string;
  description: string;
  owner: string;
  organization: string;
  visibility: string;
  members: Member[];
  icon: string;
  created: string;
  updated: string;
  deleted: string | null;
  variables: Variable[];
  automatic_updates: string;
  draft_from?: string;
  version?: Version;
  /** Per-type fields of interface document section 2.1, and fields unknown to us that a client sent. */
  fields: Record<string, unknown>;
}

export interface AccountDoc {
  id: string;
  email: string;
  salt: string;
  hash: string;
  /** Id of the personal workspace, which is also the user's name. */
  workspace: string;
  organization: string;
}

export interface TokenDoc {
  /** SHA-256 of the token: the token itself is nowhere. */
  id: string;
  account: string;
  created: string;
}

export interface WorkspaceDoc {
  id: string;
  kind: 'personal' | 'team';
  name: string;
  icon: string;
  created: string;
  updated: string;
  deleted: string | null;
  organizations: string[];
  /** User name that owns a team workspace; the own id of a personal one. */
  owner: string;
  members: Member[];
  ldap_groups: unknown[];
  email?: string;
  fields: Record<string, unknown>;
}

export interface OrganizationDoc {
  /** The name in the path. */
  id: string;
  created: string;
  updated: string;
  /** Everything of interface document section 2.10 that a client can set. */
  fields: Record<string, unknown>;
  ldap_last_sync_completed: string | null;
}

export interface ProviderDoc {
  id: string;
  kind: string;
  type: string;
  name: string;
  description: string;
  icon: string;
  owner: string;
  organization: string;
  members: Member[];
  state: string;
  services: Record<string, unknown>[];
  created: string;
  updated: string;
  deleted: string | null;
  /** Usable by everybody, like the Test Provider. */
  shared: boolean;
  /** A credential called `invalid` was given: the account cannot be used. */
  invalid: boolean;
  images: MachineImage[];
  fields: Record<string, unknown>;
}

export interface MachineImage {
  id: string;
  name: string;
  location: string;
  description: string;
}

export interface ProviderLogDoc {
  id: string;
  provider_id: string;
  workspace: string;
  created: string;
  updated: string;
  text: string;
  level: string;
}

export interface Machine {
  name: string;
  state: string;
  workflow: { box: string; event: string; script: string }[];
  token: string;
  external_id: string;
  address: Record<string, unknown>;
}

export interface ServiceDoc {
  id: string;
  type: string;
  token: string;
  state: string;
  machines: Machine[];
  state_history: { state: string; started: string; completed: string | null }[];
}

export interface InstanceDoc {
  id: string;
  name: string;
  owner: string;
  /** Id of the deployed box, never of a version. */
  box: string;
  /** Revisions (key of the revisions table) of the boxes that form the stack, the main box first. */
  stack: string[];
  policy: string;
  policyVariables: Variable[];
  automatic_updates: string;
  service: ServiceDoc;
  variables: Variable[];
  tags: string[];
  bindings: { name: string; instance: string }[];
  members: Member[];
  state: string;
  operation: { event: string; workspace: string; created: string };
  lease?: Lease;
  icon: string | null;
  ipv4_address?: string;
  created: string;
  updated: string;
  deleted: string | null;
  /** Of the user who deployed it: its tags and quotas apply. */
  organization: string;
  /** Machines that the profile asks for. */
  machineCount: number;
}

export interface ActivityLine {
  username: string;
  text: string;
  level: string;
  created: string;
  box?: string;
  machine?: string;
  event?: string;
  exit_code?: number;
}

export interface OperationDoc {
  id: string;
  instance: string;
  /** The user operation: deploy, shutdown, terminate, … */
  operation: string;
  username: string;
  workspace: string;
  state: string;
  created: string;
  updated: string;
  deleted: string | null;
  activity: ActivityLine[];
}

export interface LogDoc {
  id: string;
  instance: string;
  operation: string;
  machine: string;
  box: string;
  event: string;
  text: string;
}

/** A box as it was when it was deployed; the id is the hash of the content. */
export interface RevisionDoc {
  id: string;
  box: BoxDoc;
}

export interface BlobDoc {
  id: string;
  name: string;
  /** Of who uploaded it; data of earlier versions do not say. */
  account?: string;
  content_type: string;
  length: number;
  upload_date: string;
}

/** Something that happens later. One record per running operation, lease or provider. */
export interface JobDoc {
  id: string;
  kind: string;
  /** Service time in milliseconds; null while it waits for something outside. */
  due: number | null;
  /** The kind's own data. */
  data: Record<string, unknown>;
}

/** Settings that outlive a restart: the skew of the clock, the key of the token hash. */
export interface SettingDoc {
  id: string;
  value: unknown;
}
