import type { ProviderRecord, WorkspaceRecord } from './models/account.ts';
import type { BoxRecord } from './models/box.ts';
import type { InstanceRecord } from './models/instance.ts';
import type { Priority, Read } from './results.ts';

/** Lists that are shared, and what their entries are. */
export interface SharedLists {
  boxes: BoxRecord;
  instances: InstanceRecord;
  providers: ProviderRecord;
  /** Of the account; its workspace id is the empty string. */
  workspaces: WorkspaceRecord;
}

export interface SharedListOptions {
  /** Stamp of the caller's last write's answer (`endedAt`): a read that started before it will not do. */
  notBefore?: number | undefined;
  /** How old (milliseconds since its start) a finished read may be to be used again. @default 0 */
  maxAgeMs?: number | undefined;
  /** @default 'normal' */
  priority?: Priority | undefined;
  signal?: AbortSignal | undefined;
}

/** Lists of a workspace, merged over concurrent callers (protocols: reads that are shared). */
export interface SharedReads {
  list<F extends keyof SharedLists>(
    family: F,
    workspaceId: string,
    options?: SharedListOptions,
  ): Promise<Read<readonly SharedLists[F][]>>;
}
