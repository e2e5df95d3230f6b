import type { Store } from '../store/store.ts';
import type { ServiceTime } from '../time.ts';
import type { Listing } from './route.ts';

/** How far lists trail behind writes: by polls of the same list, or by milliseconds. */
export interface ListLag {
  polls?: number;
  ms?: number;
}

const TABLES = ['boxes', 'instances', 'providers', 'workspaces'] as const;
type Seqs = Record<(typeof TABLES)[number], number>;

/**
 * Makes list endpoints trail: with `polls: k` a change shows in the (k+1)-th poll after it, with `ms` when that
 * much time has passed.
 */
export class Lag {
  readonly #store: Store;
  readonly #time: ServiceTime;
  #lag: ListLag = {};
  #start: Seqs;
  /** Per list (path and caller) the state of the tables at its last polls. */
  #polls = new Map<string, Seqs[]>();

  constructor(store: Store, time: ServiceTime) {
    this.#store = store;
    this.#time = time;
    this.#start = this.#seqs();
  }

  get current(): ListLag {
    return this.#lag;
  }

  set(lag: ListLag): void {
    this.#lag = lag;
    this.#polls.clear();
    this.#start = this.#seqs();
    const on = (lag.polls ?? 0) > 0 || (lag.ms ?? 0) > 0;
    for (const name of TABLES) {
      if (on) this.#store[name].remember(() => this.#time.clock.monotonic());
      else this.#store[name].forget();
    }
  }

  /** The tables as this poll of a list sees them. */
  listing(list: string): Listing {
    const { polls = 0, ms = 0 } = this.#lag;
    const { boxes, instances, providers, workspaces } = this.#store;
    if (polls > 0) {
      const past = this.#polls.get(list) ?? [];
      const seen = past.length < polls ? this.#start : (past[past.length - polls] ?? this.#start);
      this.#polls.set(list, [...past, this.#seqs()].slice(-polls));
      return {
        boxes: boxes.asOf(seen.boxes),
        instances: instances.asOf(seen.instances),
        providers: providers.asOf(seen.providers),
        workspaces: workspaces.asOf(seen.workspaces),
      };
    }
    if (ms > 0) {
      const at = this.#time.clock.monotonic() - ms;
      return {
        boxes: boxes.asOfTime(at),
        instances: instances.asOfTime(at),
        providers: providers.asOfTime(at),
        workspaces: workspaces.asOfTime(at),
      };
    }
    return this.#store;
  }

  #seqs(): Seqs {
    const { boxes, instances, providers, workspaces } = this.#store;
    return {
      boxes: boxes.seq,
      instances: instances.seq,
      providers: providers.seq,
      workspaces: workspaces.seq,
    };
  }
}
