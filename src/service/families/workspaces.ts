import type { ProviderRecord, WorkspaceRecord } from '../models/account.ts';
import type { BoxRecord } from '../models/box.ts';
import type { InstanceRecord } from '../models/instance.ts';
import type { CallOptions, Read } from '../results.ts';

export interface ListOptions extends CallOptions {
  /** Asks for these ids only; a service that does not know the query answers with everything. */
  ids?: readonly string[] | undefined;
}

/**
 * Workspaces and what they own (interface document section 4.6). Lists are whole arrays; an entry may lack
 * parts, and a part of a wrong type is left out of it, so act upon single reads only.
 */
export interface Workspaces {
  list(options?: ListOptions): Promise<Read<readonly WorkspaceRecord[]>>;
  read(id: string, options?: CallOptions): Promise<Read<WorkspaceRecord>>;
  boxes(id: string, options?: ListOptions): Promise<Read<readonly BoxRecord[]>>;
  instances(id: string, options?: ListOptions): Promise<Read<readonly InstanceRecord[]>>;
  providers(id: string, options?: ListOptions): Promise<Read<readonly ProviderRecord[]>>;
}
