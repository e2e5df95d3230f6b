import { Priority } from '../base/priority.ts';
import { raceAbort } from '../base/race-abort.ts';
import type { ProviderRecord, WorkspaceRecord } from './models/account.ts';
import type { BoxRecord } from './models/box.ts';
import type { InstanceRecord } from './models/instance.ts';
import type { Read } from './results.ts';

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
  /** @default in the normal lane */
  priority?: Priority | undefined;
  signal?: AbortSignal | undefined;
}

/** {@link SharedListOptions} of one list. */
export interface SharedListRequest<Entry> extends SharedListOptions {
  /**
   * What the caller looks for. A read that started before the call may show that it is there, never that it is
   * not: without such an entry the list is read once more.
   */
  holding?: ((entry: Entry) => boolean) | undefined;
}

/** Lists of a workspace, merged over concurrent callers (protocols: reads that are shared). */
export interface SharedReads {
  list<F extends keyof SharedLists>(
    family: F,
    workspaceId: string,
    options?: SharedListRequest<SharedLists[F]>,
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
  /** As urgent as the most urgent of those that have joined. */
  priority: Priority;
  /** False while it gathers callers behind a read that is under way. */
  begun: boolean;
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

/** Stands in until the read is begun. */
const never: Promise<AnyList> = new Promise(() => undefined);

/**
 * {@link SharedReads} over a reader and the stamps of its client, milliseconds. Of one list at most one read
 * is under way and one gathers callers behind it, so that many that each want a read newer than their own
 * write share it too.
 */
export function createSharedReads(read: ListReader, stamp: () => number): SharedReads {
  const shelves = new Map<string, Shelf>();

  async function run(
    shelf: Shelf,
    pending: Pending,
    family: keyof SharedLists,
    workspaceId: string,
  ): Promise<AnyList> {
    const underWay = [...shelf.pending].filter((other) => other !== pending && other.startedAt !== undefined);
    try {
      if (underWay.length > 0) {
        await raceAbort(Promise.allSettled(underWay.map((other) => other.result)), pending.abort.signal);
      }
      pending.begun = true;
      const list = await read(family, workspaceId, {
        priority: pending.priority,
        signal: pending.abort.signal,
        onStart: (at) => {
          // Only the first: a read that is repeated after a new login keeps the earlier, the safe, stamp.
          pending.startedAt ??= at;
        },
      });
      if (list.kind === 'found' && list.startedAt >= (shelf.latest?.startedAt ?? Number.NEGATIVE_INFINITY)) {
        shelf.latest = { list, startedAt: list.startedAt };
      }
      return list;
    } finally {
      shelf.pending.delete(pending);
    }
  }

  function start(shelf: Shelf, family: keyof SharedLists, workspaceId: string, priority: Priority): Pending {
    const pending: Pending = {
      priority: new Priority(priority.lane),
      begun: false,
      startedAt: undefined,
      callers: 0,
      abort: new AbortController(),
      result: never,
    };
    shelf.pending.add(pending);
    pending.result = run(shelf, pending, family, workspaceId);
    // When every caller has left, nobody is there to take the rejection.
    pending.result.catch(() => undefined);
    return pending;
  }

  return {
    async list(family, workspaceId, { holding, ...options } = {}) {
      const calledAt = stamp();
      const list = await merged(family, workspaceId, options);
      if (holding === undefined || list.kind !== 'found') return list;
      if (list.startedAt >= calledAt || list.record.some(holding)) return list;
      return merged(family, workspaceId, { ...options, notBefore: calledAt });
    },
  };

  async function merged<F extends keyof SharedLists>(
    family: F,
    workspaceId: string,
    options: SharedListOptions,
  ): Promise<Read<readonly SharedLists[F][]>> {
    const { notBefore = Number.NEGATIVE_INFINITY, maxAgeMs = 0, priority = new Priority(), signal } = options;
    signal?.throwIfAborted();
    const key = `${family} ${workspaceId}`;
    const shelf = shelves.get(key) ?? { pending: new Set(), latest: undefined };
    shelves.set(key, shelf);
    const { latest } = shelf;
    if (latest !== undefined && latest.startedAt >= notBefore && stamp() - latest.startedAt < maxAgeMs) {
      return latest.list;
    }
    const pending =
      [...shelf.pending].find((other) => canJoin(other, notBefore)) ??
      start(shelf, family, workspaceId, priority);
    const raise = (): void => pending.priority.raise(priority.lane);
    const unfollow = priority.onChange(raise);
    raise();
    pending.callers += 1;
    try {
      return (await priority.inLine(raceAbort(pending.result, signal))) as Read<readonly SharedLists[F][]>;
    } finally {
      unfollow();
      pending.callers -= 1;
      if (pending.callers === 0 && shelf.pending.delete(pending)) pending.abort.abort();
    }
  }
}

function canJoin({ startedAt }: Pending, notBefore: number): boolean {
  return startedAt === undefined || startedAt >= notBefore;
}
