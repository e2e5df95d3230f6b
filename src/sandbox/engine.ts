import type { Timer } from '../base/clock.ts';
import type { JobDoc } from './model.ts';
import type { Store } from './store/store.ts';
import type { ServiceTime } from './time.ts';

/** Takes a waiting job up again with what it waited for. Runs inside a transaction. */
export type JobResumer = (job: JobDoc, result: unknown, at: number) => void;

/** Carries one due job on: puts it back with a new `due`, or deletes it. Runs inside a transaction. */
export type JobRunner = (job: JobDoc, at: number) => void;

interface Entry {
  due: number;
  id: string;
}

function unwaiting(job: JobDoc): JobDoc {
  const { waiting: _waiting, ...data } = job.data;
  return { ...job, data };
}

/** Jobs per transaction: bounds how long a request waits behind a time jump. */
const BATCH = 500;

/**
 * What happens later: steps of operations, leases, providers. Due times are stored in service time, so a
 * restart or a jump of the clock finds everything that is due; a step is carried out *as of* its due time.
 */
export class Engine {
  readonly #store: Store;
  readonly #time: ServiceTime;
  readonly #runners: Readonly<Record<string, JobRunner>>;
  readonly #resumers: Readonly<Record<string, JobResumer>>;
  readonly #onError: (job: JobDoc, error: unknown) => void;
  #heap: Entry[] = [];
  #timer: Timer | undefined;
  #timerAt = Infinity;
  #settling = false;
  #stopped = false;

  constructor(
    store: Store,
    time: ServiceTime,
    runners: Readonly<Record<string, JobRunner>>,
    resumers: Readonly<Record<string, JobResumer>>,
    onError: (job: JobDoc, error: unknown) => void,
  ) {
    this.#store = store;
    this.#time = time;
    this.#runners = runners;
    this.#resumers = resumers;
    this.#onError = onError;
  }

  /** Takes up the stored jobs, at the start and after a restore. */
  load(): void {
    this.#heap = [];
    this.#store.database.run(() => {
      for (const job of this.#store.jobs.all()) {
        // What it waited for died with the process: the step is made again.
        if (job.data['waiting'] !== undefined)
          this.#store.jobs.put({ ...unwaiting(job), due: this.#time.now() });
      }
    });
    for (const job of this.#store.jobs.all()) if (job.due !== null) this.#push({ due: job.due, id: job.id });
    this.#arm();
  }

  /** Stores a job and sees to it in time; to be called inside a transaction. */
  schedule(job: JobDoc): void {
    this.#store.jobs.put(job);
    if (job.due !== null) this.#push({ due: job.due, id: job.id });
    if (!this.#settling) this.#arm();
  }

  /**
   * Lets a job wait for something outside: `effect` starts once the transaction is committed, its result goes
   * to the kind's resumer. `turn` tells this wait from others of the same job.
   */
  wait(job: JobDoc, turn: number, effect: () => Promise<unknown>, at: number): void {
    const mark = `${turn}@${at}`;
    this.#store.jobs.put({ ...job, due: null, data: { ...job.data, waiting: mark } });
    this.#store.database.after(() => {
      const resume = (result: unknown): void => this.#resume(job.id, mark, result);
      effect().then(resume, (error: unknown) => {
        if (!this.#stopped) this.#onError(job, error);
      });
    });
  }

  #resume(id: string, mark: string, result: unknown): void {
    if (this.#stopped) return;
    this.settle();
    this.#store.database.share(() => {
      const job = this.#store.jobs.get(id);
      // Cancelled, or replaced by another operation meanwhile.
      if (job?.data['waiting'] !== mark) return;
      this.#resumers[job.kind]?.(unwaiting(job), result, this.#time.now());
    });
    this.#arm();
  }

  cancel(id: string): void {
    this.#store.jobs.delete(id);
  }

  /** Carries out everything that is due by now, in the order in which it fell due. */
  settle(): void {
    if (this.#settling || this.#stopped) return;
    const now = this.#time.now();
    if ((this.#heap[0]?.due ?? Infinity) > now) return;
    this.#settling = true;
    try {
      while ((this.#heap[0]?.due ?? Infinity) <= now) this.#batch(now);
    } finally {
      this.#settling = false;
      this.#arm();
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Sets the timer anew after the service's clock was moved. */
  rearm(): void {
    this.#timerAt = Infinity;
    this.settle();
    this.#arm();
  }

  #batch(now: number): void {
    const failed: { job: JobDoc; error: unknown }[] = [];
    this.#store.database.share(() => {
      for (let n = 0; n < BATCH; n++) {
        const top = this.#heap[0];
        if (top === undefined || top.due > now) return;
        this.#pop();
        const job = this.#store.jobs.get(top.id);
        // Cancelled, or put off since this entry was made.
        if (job === undefined || job.due !== top.due) continue;
        try {
          this.#runners[job.kind]?.(job, top.due);
        } catch (error) {
          // One bad record must not hold up the others: it stays as it is, without a due time.
          this.#store.jobs.put({ ...job, due: null });
          failed.push({ job, error });
        }
      }
    });
    for (const { job, error } of failed) this.#onError(job, error);
  }

  #arm(): void {
    if (this.#stopped) return;
    const next = this.#heap[0]?.due ?? Infinity;
    if (next >= this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = next;
    this.#timer = this.#time.clock.setTimer(next - this.#time.now(), () => {
      this.#timerAt = Infinity;
      this.settle();
      this.#arm();
    });
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    heap.push(entry);
    let at = heap.length - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!this.#less(at, up)) break;
      this.#swap(at, up);
      at = up;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    let at = 0;
    for (;;) {
      const left = at * 2 + 1;
      if (left >= heap.length) return;
      const least = left + 1 < heap.length && this.#less(left + 1, left) ? left + 1 : left;
      if (!this.#less(least, at)) return;
      this.#swap(at, least);
      at = least;
    }
  }

  /** By due time, then by id: the same order in every run. */
  #less(a: number, b: number): boolean {
    const x = this.#heap[a];
    const y = this.#heap[b];
    if (x === undefined || y === undefined) return false;
    return x.due < y.due || (x.due === y.due && x.id < y.id);
  }

  #swap(a: number, b: number): void {
    const x = this.#heap[a];
    const y = this.#heap[b];
    if (x === undefined || y === undefined) return;
    this.#heap[a] = y;
    this.#heap[b] = x;
  }
}
