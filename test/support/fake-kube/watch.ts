import type { Clock, Timer } from '../../../src/base/clock.ts';
import { KubeTransportError, type KubeWatch, type WatchLine } from '../../../src/kube/port.ts';
import type { Selector } from './selectors.ts';
import type { LogEntry } from './store.ts';
import { copy, type StoredObject } from './objects.ts';

/** About one a minute, as the real one sends them. */
const BOOKMARK_MS = 60_000;
const LAST_BOOKMARK_MS = 2_000;

export interface FakeWatchOptions {
  clock: Clock;
  selector: Selector;
  /** How an object travels: whole, or its metadata. */
  shape: (object: StoredObject) => object;
  /** What a bookmark holds, by version; absent: no bookmarks. */
  bookmark: (() => object) | undefined;
  timeoutMs: number | undefined;
  /** How long a line is on its way, milliseconds; asked for each line. */
  lagMs: () => number;
  signal: AbortSignal | undefined;
  onEnd: () => void;
}

type Step = { line: WatchLine } | { end: Error | undefined };

/** One open watch. Lines wait in it until they are read. */
export class FakeWatch implements KubeWatch {
  readonly status = 200;
  readonly headers = { 'content-type': 'application/json' };
  readonly #options: FakeWatchOptions;
  readonly #steps: Step[] = [];
  #timeout: Timer | undefined;
  #nextBookmark: Timer | undefined;
  #lastBookmark: Timer | undefined;
  #wake: () => void = () => undefined;
  #over = false;
  /** Lines on their way arrive in their order: none before this monotonic time. */
  #arrivesAt = 0;

  constructor(options: FakeWatchOptions) {
    this.#options = options;
    const { clock, signal, timeoutMs } = options;
    if (timeoutMs !== undefined) {
      this.#timeout = clock.setTimer(timeoutMs, () => this.end());
      // The real one, too, shows where to go on from shortly before it ends a watch.
      this.#lastBookmark = clock.setTimer(timeoutMs - LAST_BOOKMARK_MS, () => this.#pushBookmark());
    }
    this.#scheduleBookmark();
    signal?.addEventListener('abort', () => this.fail(signal.reason as Error), { once: true });
  }

  get events(): AsyncIterable<WatchLine> {
    return this.#lines();
  }

  close(): void {
    this.end();
  }

  /** Shows a change: what comes into view is ADDED, what leaves it DELETED. */
  push(entry: LogEntry): void {
    const { selector } = this.#options;
    const now = entry.type !== 'DELETED' && selector(entry.object);
    const then = entry.before !== undefined && selector(entry.before);
    if (now) this.#push(then ? 'MODIFIED' : 'ADDED', entry.object);
    else if (then) this.#push('DELETED', entry.object);
  }

  /** Shows an object that was there when the watch began. */
  pushInitial(object: StoredObject): void {
    if (this.#options.selector(object)) this.#push('ADDED', object);
  }

  pushError(status: object): void {
    this.#add({ line: { type: 'ERROR', object: status } });
    this.end();
  }

  /** Ends as the API server ends a watch. */
  end(): void {
    this.#finish(undefined);
  }

  /** Ends with an error, as a broken connection does. */
  fail(error: Error): void {
    this.#finish(error);
  }

  /** Breaks the connection. */
  break(): void {
    this.fail(new KubeTransportError('the connection of the watch was reset', { maybeSent: true }));
  }

  #push(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: StoredObject): void {
    this.#add({ line: { type, object: copy(this.#options.shape(object)) } });
  }

  #pushBookmark(): void {
    const { bookmark } = this.#options;
    if (bookmark !== undefined) this.#add({ line: { type: 'BOOKMARK', object: bookmark() } });
  }

  #scheduleBookmark(): void {
    if (this.#options.bookmark === undefined || this.#over) return;
    this.#nextBookmark = this.#options.clock.setTimer(BOOKMARK_MS, () => {
      this.#pushBookmark();
      this.#scheduleBookmark();
    });
  }

  #finish(error: Error | undefined): void {
    if (this.#over) return;
    this.#add({ end: error });
    this.#over = true;
    this.#timeout?.cancel();
    this.#nextBookmark?.cancel();
    this.#lastBookmark?.cancel();
    this.#options.onEnd();
  }

  #add(step: Step): void {
    if (this.#over) return;
    const { clock, lagMs } = this.#options;
    const now = clock.monotonic();
    this.#arrivesAt = Math.max(this.#arrivesAt, now + lagMs());
    // An end overtakes what is on its way, and that is lost, as with a broken connection.
    if (this.#arrivesAt <= now || 'end' in step) this.#arrive(step);
    else clock.setTimer(this.#arrivesAt - now, () => this.#arrive(step));
  }

  #arrive(step: Step): void {
    if (this.#over) return;
    this.#steps.push(step);
    this.#wake();
  }

  async *#lines(): AsyncGenerator<WatchLine, void, undefined> {
    for (;;) {
      const step = this.#steps.shift();
      if (step === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      } else if ('end' in step) {
        if (step.end !== undefined) throw step.end;
        return;
      } else {
        yield step.line;
      }
    }
  }
}
