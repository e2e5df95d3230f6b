import type { Curve } from '../../base/backoff.ts';
import type { Clock, Random, Timer } from '../../base/clock.ts';
import { ItemBackoff, RECONCILE_BACKOFF } from './item-backoff.ts';

/** Who is waiting: a person who changed something, the cluster or the service, or nobody (a periodic look). */
export type Priority = 'user' | 'normal' | 'periodic';

/** All priorities, the most urgent first. */
export const PRIORITIES: readonly Priority[] = ['user', 'normal', 'periodic'];

/** The more urgent of two. */
export function moreUrgent(a: Priority, b: Priority): Priority {
  return PRIORITIES.indexOf(a) <= PRIORITIES.indexOf(b) ? a : b;
}

/** A key handed out for work. */
export interface WorkItem {
  key: string;
  priority: Priority;
  /** How long it waited since it was due, milliseconds. */
  waitedMs: number;
}

/** Where a queue reports what it does; times in milliseconds. */
export interface QueueObserver {
  added(): void;
  depth(priority: Priority, length: number): void;
  waited(ms: number): void;
  worked(ms: number): void;
  retried(): void;
}

export interface WorkQueueOptions {
  clock: Clock;
  random: Random;
  /** Waits between failures of one key. @default RECONCILE_BACKOFF */
  backoff?: Curve;
  observer?: QueueObserver;
  /**
   * After so many keys of more urgent priorities in a row a waiting less urgent one has its turn, so that a
   * steady stream of users' changes slows periodic looks down and never stops them. @default 16
   */
  fairness?: number;
}

interface Entry {
  /** Queued since (monotonic) with this priority. */
  ready?: { priority: Priority; since: number };
  /** Handed out at (monotonic). */
  workingSince?: number;
  /** Added again while in work. */
  dirty?: { priority: Priority; since: number };
  /** Delayed adds, the earliest of each priority. */
  timers: Map<Priority, { at: number; timer: Timer }>;
}

/**
 * A work queue of keys with priorities. A key is queued once however often it is added, is never handed out
 * while somebody still works on it, and comes back when it was added meanwhile.
 *
 * Handing a key out settles its delayed adds: whoever works on it sees the newest state and says anew when
 * the next look is due. Delayed adds made during the work count for afterwards.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #observer: QueueObserver | undefined;
  readonly #fairness: number;
  readonly #backoff: ItemBackoff;
  readonly #entries = new Map<string, Entry>();
  /** Per priority the ready keys, first come first served: a Map keeps insertion order and deletes in O(1). */
  readonly #lines: Record<Priority, Map<string, Entry>> = {
    user: new Map(),
    normal: new Map(),
    periodic: new Map(),
  };
  /** How many more urgent keys went past this line since its last turn. */
  readonly #passedOver: Record<Priority, number> = { user: 0, normal: 0, periodic: 0 };
  readonly #working = new Map<string, number>();
  #waiters: ((item: WorkItem | undefined) => void)[] = [];
  #idleWaiters: (() => void)[] = [];
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#observer = options.observer;
    this.#fairness = options.fairness ?? 16;
    this.#backoff = new ItemBackoff(options.backoff ?? RECONCILE_BACKOFF, options.random);
  }

  /** Queues `key` now; with a more urgent priority than it is queued with, promotes it. */
  add(key: string, priority: Priority = 'normal'): void {
    if (this.#closed) return;
    this.#observer?.added();
    this.#enqueue(key, this.#entry(key), priority, this.#clock.monotonic());
    this.#dispatch();
  }

  /** Queues `key` in `ms` milliseconds; of several delays with one priority the earliest counts. */
  addAfter(key: string, ms: number, priority: Priority = 'normal'): void {
    if (this.#closed) return;
    if (!(ms > 0)) {
      this.add(key, priority);
      return;
    }
    const entry = this.#entry(key);
    const at = this.#clock.monotonic() + ms;
    const before = entry.timers.get(priority);
    if (before !== undefined && before.at <= at) return;
    before?.timer.cancel();
    const timer = this.#clock.setTimer(ms, () => {
      entry.timers.delete(priority);
      this.add(key, priority);
    });
    entry.timers.set(priority, { at, timer });
  }

  /** Counts a failure of `key` and queues it after its back-off; answers the wait, milliseconds. */
  addRateLimited(key: string, priority: Priority = 'normal'): number {
    const ms = this.#backoff.next(key);
    this.#observer?.retried();
    this.addAfter(key, ms, priority);
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
    const since = this.#working.get(key);
    if (entry === undefined || since === undefined) return;
    this.#working.delete(key);
    delete entry.workingSince;
    this.#observer?.worked(this.#clock.monotonic() - since);
    if (entry.dirty !== undefined && !this.#closed) {
      const { priority, since: dirtySince } = entry.dirty;
      delete entry.dirty;
      this.#enqueue(key, entry, priority, dirtySince);
      this.#dispatch();
    } else if (entry.ready === undefined && entry.timers.size === 0) {
      this.#entries.delete(key);
    }
    if (this.#working.size === 0) this.#wakeIdle();
  }

  /** Hands out nothing more, takes nothing in, forgets delays. Work in progress goes on. */
  shutDown(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const entry of this.#entries.values()) {
      for (const { timer } of entry.timers.values()) timer.cancel();
    }
    for (const priority of PRIORITIES) {
      this.#lines[priority].clear();
      this.#observer?.depth(priority, 0);
    }
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
    return PRIORITIES.reduce((sum, priority) => sum + this.#lines[priority].size, 0);
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
    for (const priority of PRIORITIES) {
      for (const { ready } of this.#lines[priority].values()) {
        if (ready !== undefined) longest = Math.max(longest, now - ready.since);
      }
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
      entry = { timers: new Map() };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #enqueue(key: string, entry: Entry, priority: Priority, since: number): void {
    if (entry.workingSince !== undefined) {
      entry.dirty =
        entry.dirty === undefined
          ? { priority, since }
          : { priority: moreUrgent(entry.dirty.priority, priority), since: entry.dirty.since };
      return;
    }
    if (entry.ready !== undefined) {
      const before = entry.ready.priority;
      if (moreUrgent(before, priority) === before) return;
      this.#lines[before].delete(key);
      this.#reportDepth(before);
      entry.ready = { priority, since: entry.ready.since };
    } else {
      entry.ready = { priority, since };
    }
    this.#lines[priority].set(key, entry);
    this.#reportDepth(priority);
  }

  #dispatch(): void {
    while (this.#waiters.length > 0) {
      const item = this.#next();
      if (item === undefined) return;
      this.#waiters.shift()?.(item);
    }
  }

  #next(): WorkItem | undefined {
    const priority = this.#nextLine();
    if (priority === undefined) return undefined;
    const first = this.#lines[priority].entries().next();
    if (first.done === true) return undefined;
    const [key, entry] = first.value;
    this.#lines[priority].delete(key);
    this.#reportDepth(priority);
    const now = this.#clock.monotonic();
    const waitedMs = now - (entry.ready?.since ?? now);
    delete entry.ready;
    for (const { timer } of entry.timers.values()) timer.cancel();
    entry.timers.clear();
    entry.workingSince = now;
    this.#working.set(key, now);
    this.#observer?.waited(waitedMs);
    return { key, priority, waitedMs };
  }

  /** The line whose turn it is: the most urgent one, unless a less urgent one was passed over too often. */
  #nextLine(): Priority | undefined {
    const waiting = PRIORITIES.filter((priority) => this.#lines[priority].size > 0);
    const starved = waiting.findLast((priority) => this.#passedOver[priority] >= this.#fairness);
    const chosen = starved ?? waiting[0];
    if (chosen === undefined) return undefined;
    this.#passedOver[chosen] = 0;
    for (const priority of waiting) {
      if (priority !== chosen && moreUrgent(chosen, priority) === chosen) this.#passedOver[priority] += 1;
    }
    return chosen;
  }

  #reportDepth(priority: Priority): void {
    this.#observer?.depth(priority, this.#lines[priority].size);
  }

  #wakeIdle(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
