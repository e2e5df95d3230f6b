import type { Clock, Timer } from '../base/clock.ts';
import type { Hold, MemoryShare } from '../base/memory-budget.ts';
import { Priority } from '../base/priority.ts';
import { raceAbort } from '../base/race-abort.ts';
import type { Turns } from '../base/turns.ts';
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
  /** One workspace, read singly: a list of one. */
  workspace: WorkspaceRecord;
}

export interface SharedListOptions {
  /** Stamp of the caller's last write's answer (`endedAt`): a read that started before it will not do. */
  notBefore?: number | undefined;
  /** How old (milliseconds since its start) a finished read may be to be used again; kept for {@link KEPT_MS} at most. @default 0 */
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
  /**
   * Hears of an entry in each list that comes, whoever asked for it, and has it whole: what one has asked for tells all
   * who wait. Answers how to end that; it ends with {@link close}, too.
   */
  watch<F extends keyof SharedLists>(
    family: F,
    workspaceId: string,
    id: string,
    listener: (entry: SharedLists[F]) => void,
  ): () => void;
  /** Lets go of what is kept. */
  close(): void;
}

/** Reads one list; `onStart` is called with the stamp when the request goes out. */
export type ListReader = (
  family: keyof SharedLists,
  workspaceId: string,
  options: {
    priority: Priority;
    signal: AbortSignal;
    onStart: (startedAt: number) => void;
    whole: (id: string) => boolean;
  },
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

type Listener = (entry: SharedLists[keyof SharedLists]) => void;

interface Shelf {
  pending: Set<Pending>;
  /** Who waits to see an entry, by its id. */
  watchers: Map<string, Set<Listener>>;
  /** The newest list that was found, for a while. */
  latest: { list: AnyList; startedAt: number; hold: Hold; timer: Timer } | undefined;
}

/** Nobody takes a list that is older, milliseconds: a minute is the longest that a caller asks for. */
const KEPT_MS = 60_000;
/** Whoever has a longer list goes through it in a turn of their own, entries. */
const LONG_LIST = 500;

/** Stands in until the read is begun. */
const never: Promise<AnyList> = new Promise(() => undefined);

/**
 * {@link SharedReads} over a reader and the stamps of its client, milliseconds. A list is kept only where the budget for
 * memory has room for it, and until that is wanted for something else. Of one list at most one read
 * is under way and one gathers callers behind it, so that many that each want a read newer than their own
 * write share it too.
 */
export function createSharedReads(
  read: ListReader,
  { stamp, clock, memory, turns }: { stamp: () => number; clock: Clock; memory: MemoryShare; turns: Turns },
): SharedReads {
  const shelves = new Map<string, Shelf>();
  let isClosed = false;

  async function run(
    key: string,
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
        whole: (id) => shelf.watchers.has(id),
        onStart: (at) => {
          // Only the first: a read that is repeated after a new login keeps the earlier, the safe, stamp.
          pending.startedAt ??= at;
        },
      });
      if (list.kind === 'found' && list.startedAt >= (shelf.latest?.startedAt ?? Number.NEGATIVE_INFINITY)) {
        keep(key, shelf, list);
        tell(shelf, list.record);
      }
      return list;
    } finally {
      shelf.pending.delete(pending);
      clear(key, shelf);
    }
  }

  function keep(key: string, shelf: Shelf, list: AnyList & { kind: 'found' }): void {
    drop(shelf);
    if (isClosed) return;
    const hold = memory.open('lists', () => {
      drop(shelf);
      clear(key, shelf);
    });
    if (!hold.trySet(list.weight ?? 0)) return;
    const timer = clock.setTimer(KEPT_MS, () => {
      drop(shelf);
      clear(key, shelf);
    });
    shelf.latest = { list, startedAt: list.startedAt, hold, timer };
  }

  function tell({ watchers }: Shelf, entries: readonly SharedLists[keyof SharedLists][]): void {
    if (watchers.size === 0) return;
    for (const entry of entries) for (const listener of watchers.get(entry.id) ?? []) listener(entry);
  }

  function shelfOf(key: string): Shelf {
    const shelf = shelves.get(key) ?? { pending: new Set(), watchers: new Map(), latest: undefined };
    shelves.set(key, shelf);
    return shelf;
  }

  function drop(shelf: Shelf): void {
    shelf.latest?.timer.cancel();
    shelf.latest?.hold.release();
    shelf.latest = undefined;
  }

  /** Owners come and go: a shelf with nothing on it goes too. */
  function clear(key: string, shelf: Shelf): void {
    const isEmpty = shelf.latest === undefined && shelf.pending.size === 0 && shelf.watchers.size === 0;
    if (isEmpty && shelves.get(key) === shelf) shelves.delete(key);
  }

  function start(
    key: string,
    shelf: Shelf,
    family: keyof SharedLists,
    workspaceId: string,
    priority: Priority,
  ): Pending {
    const pending: Pending = {
      priority: new Priority(priority.lane),
      begun: false,
      startedAt: undefined,
      callers: 0,
      abort: new AbortController(),
      result: never,
    };
    shelf.pending.add(pending);
    pending.result = run(key, shelf, pending, family, workspaceId);
    // When every caller has left, nobody is there to take the rejection.
    pending.result.catch(() => undefined);
    return pending;
  }

  return {
    async list(family, workspaceId, { holding, ...options } = {}) {
      const calledAt = stamp();
      const list = await turned(merged(family, workspaceId, options));
      if (holding === undefined || list.kind !== 'found') return list;
      if (list.startedAt >= calledAt || list.record.some(holding)) return list;
      return turned(merged(family, workspaceId, { ...options, notBefore: calledAt }));
    },
    watch(family, workspaceId, id, listener) {
      if (isClosed) return () => undefined;
      const key = `${family} ${workspaceId}`;
      const shelf = shelfOf(key);
      const listeners = shelf.watchers.get(id) ?? new Set<Listener>();
      const told: Listener = (entry) => listener(entry);
      shelf.watchers.set(id, listeners.add(told));
      return () => {
        listeners.delete(told);
        if (listeners.size === 0 && shelf.watchers.get(id) === listeners) shelf.watchers.delete(id);
        clear(key, shelf);
      };
    },
    close() {
      isClosed = true;
      for (const shelf of shelves.values()) {
        drop(shelf);
        shelf.watchers.clear();
      }
      shelves.clear();
    },
  };

  /** All who share a list have it at once: one after the other they go through it. */
  async function turned<T>(reading: Promise<Read<readonly T[]>>): Promise<Read<readonly T[]>> {
    const list = await reading;
    if (list.kind === 'found' && list.record.length > LONG_LIST) await turns.take();
    return list;
  }

  async function merged<F extends keyof SharedLists>(
    family: F,
    workspaceId: string,
    options: SharedListOptions,
  ): Promise<Read<readonly SharedLists[F][]>> {
    const { notBefore = Number.NEGATIVE_INFINITY, maxAgeMs = 0, priority = new Priority(), signal } = options;
    signal?.throwIfAborted();
    const key = `${family} ${workspaceId}`;
    const shelf = shelfOf(key);
    const { latest } = shelf;
    if (latest !== undefined && latest.startedAt >= notBefore && stamp() - latest.startedAt < maxAgeMs) {
      return latest.list;
    }
    const pending =
      [...shelf.pending].find((other) => canJoin(other, notBefore)) ??
      start(key, shelf, family, workspaceId, priority);
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
