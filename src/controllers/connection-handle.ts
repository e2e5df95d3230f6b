import type { SecretSet } from '../base/masking/secret-set.ts';
import type { ServiceClient } from '../service/index.ts';

/** A connection as the other controllers use it. */
export interface ConnectionHandle {
  /** `namespace/name` of the Connection. */
  key: string;
  /** In its one spelling. */
  endpoint: string;
  client: ServiceClient;
  /** What the service may quote and no text may show: whoever reads a secret to send it notes it here. */
  secrets: SecretSet;
  /** Id of the workspace that owns what does not name an owner. */
  workspace: string;
  /** Who the account is to the service: the id of its personal workspace, where exactly one is visible. */
  user: string | undefined;
  /** What tells the account from others: its address, or else {@link user}. */
  account: string | undefined;
  /** Absolute, without trailing slash. */
  schemaBase: string;
  /** Milliseconds. */
  poll: { processingMs: number; settledMs: number; lagWindowMs: number };
  defaults: { deletionPolicy?: string; driftPolicy?: 'Correct' | 'Report' | 'Ignore' };
}

/** Whether a name is that of the account: a service may show its address at one time and not at another. */
export function isAccount(
  name: string,
  { account, user }: { account: string | undefined; user: string | undefined },
): boolean {
  return name === account || name === user;
}

/** Whether a connection can be used now. */
export type ConnectionState =
  | { kind: 'ready'; handle: ConnectionHandle }
  /**
   * Not at present. `handle` is there when the last good credential is still in memory: deletions may use it,
   * nothing else does. `credentialsMissing`: waiting alone will not help a deletion.
   */
  | { kind: 'waiting'; message: string; handle?: ConnectionHandle; credentialsMissing: boolean }
  /** It exists, and is looked at for the first time at this moment. */
  | { kind: 'pending' };

/** Finds connections by reference; never another namespace's. */
export interface Connections {
  resolve(namespace: string, ref: { name: string }): ConnectionState;
  /** A ready one of the namespace to that endpoint with that account, for a deletion whose own cannot be used. */
  alike(namespace: string, home: { endpoint: string; account: string }): ConnectionHandle | undefined;
}
