import { backoffMs, type Curve } from '../../base/backoff.ts';
import type { Clock, Random, Timer } from '../../base/clock.ts';
import { Lanes } from '../../base/lanes.ts';
import { isOfPerson, LANES, moreUrgent, Priority, type Lane } from '../../base/priority.ts';
import { Tally } from '../../base/tally.ts';
import { ItemBackoff, RECONCILE_BACKOFF } from './item-backoff.ts';

/** A key handed out for work. */
export interface WorkItem {
  key: string;
  /** Raised while the key is in work, when it is added with a more urgent one. */
  priority: Priority;
  /** How long it waited since it was due, milliseconds. */
  waitedMs: number;
}

/** Where a queue reports what it does; times in milliseconds. */
export interface QueueObserver {
  added(): void;
  depth(lane: Lane, length: number): void;
  waited(ms: number): void;
  worked(ms: number): void;
  retried(): void;
}

export interface WorkQueueOptions {
  clock: Clock;
  random: Random;
  /** Waits between failures of one key, and of work that goes on by itself without end. @default RECONCILE_BACKOFF */
  backoff?: Curve;
  observer?: QueueObserver;
  /**
   * How many keys of one namespace may be in work at once: in one lane, so that those that are full keep no worker from
   * the others, and in all.
   * @default no limit
   */
  limits?: { lane: number; all: number };
}

/** That a key is due. */
interface Due {
  lane: Lane;
  /** For what a person has just made or changed. */
  byPerson: boolean;
  /** Monotonic. */
  since: number;
}

interface Entry {
  /** Queued. */
  ready?: Due;
  /** Handed out. */
  working?: { priority: Priority; lane: Lane; since: number; isLeft: boolean };
  /** Added again while in work. */
  dirty?: Due;
  /** How often in a row its work went on by itself. */
  wentOn: number;
  /** Delayed adds, the earliest of each lane. */
  timers: Map<Lane, { at: number; timer: Timer }>;
}

/** Work that goes on by itself counts as begun work so many times, an edit as an edit; then it falls back. */
const KEEPS_LANE = 2;
/** And its pace so many times: whatever undoes each of its writes, or meets each with a conflict, may do so for ever. */
const KEEPS_PACE = 30;

/**
 * A work queue of keys in lanes, shared by namespace. A key is queued once however often it is added, is never handed out
 * while somebody still works on it, and comes back when it was added meanwhile.
 *
 * Handing a key out settles its delayed adds: whoever works on it sees the newest state and says anew when
 * the next look is due. Delayed adds made during the work count for afterwards.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #observer: QueueObserver | undefined;
  readonly #limits: { lane: number; all: number };
  readonly #curve: Curve;
  readonly #random: Random;
  readonly #backoff: ItemBackoff;
  readonly #entries = new Map<string, Entry>();
  readonly #lanes = new Lanes<string>();
  readonly #working = new Map<string, number>();
  /** Keys in work that keep somebody's place, by namespace, and by lane and namespace. */
  readonly #inWork = {
    all: new Tally(),
    edit: new Tally(),
    normal: new Tally(),
    new: new Tally(),
    periodic: new Tally(),
  };
  #waiters: ((item: WorkItem | undefined) => void)[] = [];
  #idleWaiters: (() => void)[] = [];
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#observer = options.observer;
    this.#limits = options.limits ?? { lane: Infinity, all: Infinity };
    this.#curve = options.backoff ?? RECONCILE_BACKOFF;
    this.#random = options.random;
    this.#backoff = new ItemBackoff(this.#curve, this.#random);
  }

  /**
   * Queues `key` now; in a more urgent lane than it is queued in, or in work with, promotes it.
   * @param byPerson - whether it is for what a person has just made or changed; always so in the lanes for that
   */
  add(key: string, lane: Lane = 'normal', byPerson = false): void {
    if (this.#closed) return;
    this.#observer?.added();
    const entry = this.#entry(key);
    const due = { lane, byPerson: byPerson || isOfPerson(lane), since: this.#clock.monotonic() };
    if (due.byPerson) entry.wentOn = 0;
    this.#enqueue(key, entry, due);
    this.#dispatch();
  }

  /** Queues `key` in `ms` milliseconds; of several delays in one lane the earliest counts. */
  addAfter(key: string, ms: number, lane: Lane = 'normal'): void {
    if (this.#closed) return;
    const entry = this.#entry(key);
    entry.wentOn = 0;
    this.#later(key, entry, ms, lane);
  }

  /**
   * Queues `key` in `ms` milliseconds, since the work on it is not over: it goes ahead of what is not begun, and what
   * is an edit stays one, for a few times. What still goes on by itself then falls back, so that a resource that loops
   * keeps nobody else waiting, and at last waits as what fails does.
   */
  goOn(key: string, ms: number, lane: Lane): void {
    if (this.#closed) return;
    const entry = this.#entry(key);
    entry.wentOn += 1;
    const loops = entry.wentOn - KEEPS_PACE;
    const wait = loops > 0 ? Math.max(ms, backoffMs(loops, this.#curve, this.#random)) : ms;
    this.#later(key, entry, wait, goesOnIn(lane, entry.wentOn > KEEPS_LANE));
  }

  /** Counts a failure of `key` and queues it after its back-off; answers the wait, milliseconds. */
  addRateLimited(key: string, lane: Lane = 'normal'): number {
    const ms = this.#backoff.next(key);
    this.#observer?.retried();
    this.addAfter(key, ms, lane);
    return ms;
  }

  /** `key` succeeded or is gone: its back-off starts from the beginning. */
  forget(key: string): void {
    this.#backoff.forget(key);
  }

  /** Failures of `key` in a row. */
  failures(key: string): number {
    return this.#backoff.failures(key);
  }

  /** The next key, as soon as there is one; undefined once the queue is shut down. */
  take(): Promise<WorkItem | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const item = this.#next();
    if (item !== undefined) return Promise.resolve(item);
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Says that the work on a key handed out is over, whatever came of it. */
  done(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.working === undefined) return;
    const { lane, since, isLeft } = entry.working;
    this.#working.delete(key);
    if (!isLeft) this.#counts(key, lane, -1);
    delete entry.working;
    this.#observer?.worked(this.#clock.monotonic() - since);
    if (entry.dirty !== undefined && !this.#closed) {
      const { dirty } = entry;
      delete entry.dirty;
      this.#enqueue(key, entry, dirty);
    } else if (entry.ready === undefined && entry.timers.size === 0) {
      this.#entries.delete(key);
    }
    // The lane may have been full.
    this.#dispatch();
    if (this.#working.size === 0) this.#wakeIdle();
  }

  /** The work on a key will not end soon, and keeps nobody else's place: only the key stays its own. */
  leave(key: string): void {
    const working = this.#entries.get(key)?.working;
    if (working === undefined || working.isLeft) return;
    working.isLeft = true;
    this.#counts(key, working.lane, -1);
    this.#dispatch();
  }

  /** Hands out nothing more, takes nothing in, forgets delays. Work in progress goes on. */
  shutDown(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const entry of this.#entries.values()) {
      for (const { timer } of entry.timers.values()) timer.cancel();
    }
    while (this.#lanes.take() !== undefined);
    for (const lane of LANES) this.#reportDepth(lane);
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve(undefined);
  }

  /** Resolves when no key is in work. */
  whenIdle(): Promise<void> {
    if (this.#working.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Keys that wait to be handed out now. */
  get depth(): number {
    return this.#lanes.size;
  }

  /** Keys in work. */
  get working(): readonly string[] {
    return [...this.#working.keys()];
  }

  /** How long the keys in work have been so, milliseconds: together, and the longest. */
  get unfinished(): { totalMs: number; longestMs: number } {
    const now = this.#clock.monotonic();
    let totalMs = 0;
    let longestMs = 0;
    for (const since of this.#working.values()) {
      totalMs += now - since;
      longestMs = Math.max(longestMs, now - since);
    }
    return { totalMs, longestMs };
  }

  /** How long the key has waited that has waited longest to be handed out, milliseconds; 0 when none waits. */
  get oldestWaitMs(): number {
    const now = this.#clock.monotonic();
    let longest = 0;
    for (const key of this.#lanes) {
      longest = Math.max(longest, now - (this.#entries.get(key)?.ready?.since ?? now));
    }
    return longest;
  }

  /** How long until the next delayed add of `key`, milliseconds; undefined when there is none. */
  dueIn(key: string): number | undefined {
    const timers = this.#entries.get(key)?.timers;
    if (timers === undefined || timers.size === 0) return undefined;
    return Math.min(...[...timers.values()].map(({ at }) => at)) - this.#clock.monotonic();
  }

  #entry(key: string): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { wentOn: 0, timers: new Map() };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #later(key: string, entry: Entry, ms: number, lane: Lane): void {
    if (!(ms > 0)) {
      this.#observer?.added();
      this.#enqueue(key, entry, { lane, byPerson: false, since: this.#clock.monotonic() });
      this.#dispatch();
      return;
    }
    const at = this.#clock.monotonic() + ms;
    const before = entry.timers.get(lane);
    if (before !== undefined && before.at <= at) return;
    before?.timer.cancel();
    const timer = this.#clock.setTimer(ms, () => {
      entry.timers.delete(lane);
      this.#later(key, entry, 0, lane);
    });
    entry.timers.set(lane, { at, timer });
  }

  #enqueue(key: string, entry: Entry, due: Due): void {
    if (entry.working !== undefined) {
      entry.dirty = entry.dirty === undefined ? due : both(entry.dirty, due);
      entry.working.priority.raise(due.lane, due.byPerson);
      return;
    }
    const before = entry.ready;
    entry.ready = before === undefined ? due : both(before, due);
    const { lane } = entry.ready;
    if (before?.lane === lane) return;
    if (before !== undefined) {
      this.#lanes.delete(key, before.lane, groupOf(key));
      this.#reportDepth(before.lane);
    }
    this.#lanes.add(key, lane, groupOf(key));
    this.#reportDepth(lane);
  }

  #dispatch(): void {
    while (this.#waiters.length > 0) {
      const item = this.#next();
      if (item === undefined) return;
      this.#waiters.shift()?.(item);
    }
  }

  #next(): WorkItem | undefined {
    const turn = this.#lanes.take(
      (lane, group) =>
        this.#inWork[lane].of(group) < this.#limits.lane && this.#inWork.all.of(group) < this.#limits.all,
    );
    if (turn === undefined) return undefined;
    const { item: key, lane } = turn;
    const entry = this.#entry(key);
    this.#reportDepth(lane);
    const now = this.#clock.monotonic();
    const { since, byPerson } = entry.ready ?? { since: now, byPerson: false };
    const waitedMs = now - since;
    delete entry.ready;
    for (const { timer } of entry.timers.values()) timer.cancel();
    entry.timers.clear();
    const priority = new Priority(lane, byPerson);
    entry.working = { priority, lane, since: now, isLeft: false };
    this.#working.set(key, now);
    this.#counts(key, lane, 1);
    this.#observer?.waited(waitedMs);
    return { key, priority, waitedMs };
  }

  #counts(key: string, lane: Lane, by: number): void {
    const group = groupOf(key);
    this.#inWork[lane].add(group, by);
    this.#inWork.all.add(group, by);
  }

  #reportDepth(lane: Lane): void {
    this.#observer?.depth(lane, this.#lanes.sizeOf(lane));
  }

  #wakeIdle(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}

/** One due time of two: as urgent as the more urgent, since the first. */
function both(first: Due, second: Due): Due {
  return {
    lane: moreUrgent(first.lane, second.lane),
    byPerson: first.byPerson || second.byPerson,
    since: first.since,
  };
}

/** The lane of work that goes on by itself: of what was new, something is begun now. */
function goesOnIn(lane: Lane, isLong: boolean): Lane {
  if (lane === 'edit') return isLong ? 'normal' : 'edit';
  return isLong || lane === 'periodic' ? 'periodic' : 'normal';
}

/** Keys of one namespace share what their lane gets. */
function groupOf(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}
