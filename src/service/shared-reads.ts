import { raceAbort } from './call/race-abort.ts';
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

/** Reads one list; `onStart` is called with the stamp when the request goes out. */
export type ListReader = (
  family: keyof SharedLists,
  workspaceId: string,
  options: { priority: Priority; signal: AbortSignal; onStart: (startedAt: number) => void },
) => Promise<AnyList>;

type AnyList = Read<readonly SharedLists[keyof SharedLists][]>;

interface Pending {
  priority: Priority;
  /** Undefined while it waits for its turn: then it will start later than anything that was so far. */
  startedAt: number | undefined;
  callers: number;
  abort: AbortController;
  result: Promise<AnyList>;
}

interface Shelf {
  pending: Set<Pending>;
  /** The newest list that was found. */
  latest: { list: AnyList; startedAt: number } | undefined;
}

const rank: Readonly<Record<Priority, number>> = { user: 0, normal: 1, periodic: 2 };

/** {@link SharedReads} over a reader and a monotonic `now` in milliseconds. */
export function createSharedReads(read: ListReader, now: () => number): SharedReads {
  const shelves = new Map<string, Shelf>();

  function start(shelf: Shelf, family: keyof SharedLists, workspaceId: string, priority: Priority): Pending {
    const abort = new AbortController();
    const onStart = (at: number): void => {
      // Only the first: a read that is repeated after a new login keeps the earlier, the safe, stamp.
      pending.startedAt ??= at;
    };
    const pending: Pending = {
      priority,
      startedAt: undefined,
      callers: 0,
      abort,
      result: read(family, workspaceId, { priority, signal: abort.signal, onStart }).then(
        (list) => {
          shelf.pending.delete(pending);
          if (
            list.kind === 'found' &&
            list.startedAt >= (shelf.latest?.startedAt ?? Number.NEGATIVE_INFINITY)
          ) {
            shelf.latest = { list, startedAt: list.startedAt };
          }
          return list;
        },
        (error: unknown) => {
          shelf.pending.delete(pending);
          throw error;
        },
      ),
    };
    // When every caller has left, nobody is there to take the rejection.
    pending.result.catch(() => undefined);
    shelf.pending.add(pending);
    return pending;
  }

  return {
    async list<F extends keyof SharedLists>(
      family: F,
      workspaceId: string,
      options: SharedListOptions = {},
    ): Promise<Read<readonly SharedLists[F][]>> {
      const { notBefore = Number.NEGATIVE_INFINITY, maxAgeMs = 0, priority = 'normal', signal } = options;
      signal?.throwIfAborted();
      const key = `${family} ${workspaceId}`;
      const shelf = shelves.get(key) ?? { pending: new Set(), latest: undefined };
      shelves.set(key, shelf);
      const { latest } = shelf;
      if (latest !== undefined && latest.startedAt >= notBefore && now() - latest.startedAt < maxAgeMs) {
        return latest.list;
      }
      const pending =
        [...shelf.pending].find((other) => canJoin(other, notBefore, priority)) ??
        start(shelf, family, workspaceId, priority);
      pending.callers += 1;
      try {
        return (await raceAbort(pending.result, signal)) as Read<readonly SharedLists[F][]>;
      } finally {
        pending.callers -= 1;
        if (pending.callers === 0 && shelf.pending.delete(pending)) pending.abort.abort();
      }
    },
  };
}

function canJoin(pending: Pending, notBefore: number, priority: Priority): boolean {
  // One that waits with a lower priority would hold a user's change back.
  if (pending.startedAt === undefined) return rank[pending.priority] <= rank[priority];
  return pending.startedAt >= notBefore;
}
