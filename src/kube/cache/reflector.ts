import { backoffMs, type Curve } from '../../base/backoff.ts';
import type { Clock, Random } from '../../base/clock.ts';
import type { Turns } from '../../base/turns.ts';
import { Deadline } from './deadline.ts';
import { KubeApiError, statusOf } from '../errors.ts';
import { hasName, MalformedAnswerError, named, parsePage, versionIn, type Page } from './list-page.ts';
import { apiVersionOf, pathOf, type KubeObject, type ResourceType } from '../object.ts';
import {
  KubeAnswerTooLargeError,
  METADATA_ONLY,
  type KubePort,
  type KubeRequest,
  type KubeWatch,
  type WatchLine,
} from '../port.ts';

/** Something a reflector met: for metrics, and for a log line. It goes on by itself in every case. */
export type ReflectorNotice =
  | { kind: 'listed'; resource: string; items: number; pages: number; durationMs: number }
  | { kind: 'watch-ended'; resource: string; reason: WatchEnd; events: number; durationMs: number }
  | {
      kind: 'error';
      resource: string;
      during: 'list' | 'watch' | 'transform' | 'handler';
      error: Error;
      /** Wait before the next try, milliseconds. */
      delayMs: number;
    };

/** Why a watch ended: server's time-out, 410, another refusal, a broken or silent connection, our guard. */
export type WatchEnd = 'closed' | 'expired' | 'refused' | 'broken' | 'idle' | 'guard';

/** What a reflector feeds. Called in the order of the API server, never twice at a time. */
export interface ReflectorSink<T> {
  /** A list begins: whatever is known now, the list will know too. */
  listBegins(): void;
  /** Makes ready what a list has brought, as it arrives; what comes back goes to {@link ReflectorSink.replace}. */
  prepare(object: T): T;
  /** All there is, as of `resourceVersion`. */
  replace(objects: readonly T[], resourceVersion: string): Promise<void>;
  observe(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** Everything up to this version has been seen. */
  progress(resourceVersion: string): void;
}

/** Options of {@link Reflector}. */
export interface ReflectorOptions<T> {
  port: KubePort;
  type: ResourceType;
  clock: Clock;
  random: Random;
  sink: ReflectorSink<T>;
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  metadataOnly?: boolean | undefined;
  /** When long lists may be gone through. @defaultValue at once */
  turns?: Turns | undefined;
  /** Takes out of each object what nobody reads, as it arrives; keeps name, namespace, uid and resourceVersion. */
  prune?: ((object: T) => T) | undefined;
  onNotice?: ((notice: ReflectorNotice) => void) | undefined;
}

const PAGE_SIZE = 500;
const ITEMS_A_TURN = 20;
const SMALLEST_PAGE = 10;
const LARGEST_PAGE = 32_000;
const PAGE_DEADLINE_MS = 90_000;
/** Bookmarks come about once a minute; three missed ones mean a dead connection. */
const IDLE_MS = 180_000;
const GUARD_SLACK_MS = 30_000;
/** A watch that lived this long was a good one, even if nothing happened in it. */
const GOOD_LIFE_MS = 10_000;
/** Refusals of one version in a row before the list is made anew. */
const REFUSALS_TO_RELIST = 4;
const RETRY_AFTER_CAP_MS = 60_000;
const BACKOFF: Curve = { firstMs: 200, longestMs: 30_000, jitter: 0.5 };

/**
 * Follows one kind: a list in pages, then watches that resume where the last one ended. No error ends it;
 * only its signal does.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #path: string;
  readonly #resource: string;
  /** Where the next watch starts; undefined: list first. */
  #version: string | undefined;
  #pageSize = PAGE_SIZE;
  #listFailures = 0;
  #watchFailures = 0;
  #refusals = 0;
  #lastActivity: number;

  /** @throws InvalidPathError for a namespace on a cluster-scoped kind */
  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#path = pathOf(options.type, { namespace: options.namespace });
    this.#resource = options.type.plural;
    this.#lastActivity = options.clock.monotonic();
  }

  /** Monotonic time of the last answer or line from the API server. */
  get lastActivity(): number {
    return this.#lastActivity;
  }

  /** Runs until the signal is aborted, then resolves. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const delayMs = await this.#round(signal);
      if (delayMs > 0 && !signal.aborted) {
        // The only rejection is the abort, which the loop sees.
        await this.#options.clock.sleep(delayMs, signal).catch(() => undefined);
      }
    }
  }

  /** One list or one watch; answers how long to wait before the next round. */
  async #round(signal: AbortSignal): Promise<number> {
    const during = this.#version === undefined ? 'list' : 'watch';
    try {
      if (this.#version === undefined) {
        await this.#list(signal);
        this.#listFailures = 0;
        return 0;
      }
      return await this.#watch(this.#version, signal);
    } catch (thrown) {
      if (signal.aborted) return 0;
      const error = asError(thrown);
      const failures = during === 'list' ? ++this.#listFailures : ++this.#watchFailures;
      if (error instanceof KubeAnswerTooLargeError) {
        this.#pageSize = Math.max(SMALLEST_PAGE, Math.floor(this.#pageSize / 4));
      }
      const delayMs = this.#delay(failures, error);
      this.#notice({ kind: 'error', resource: this.#resource, during, error, delayMs });
      return delayMs;
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { clock, sink } = this.#options;
    const started = clock.monotonic();
    sink.listBegins();
    const objects: T[] = [];
    let pages = 0;
    let version = '';
    let next: string | undefined;
    do {
      const page = await this.#page(next, signal, (item) => objects.push(sink.prepare(this.#tidy(item))));
      pages++;
      version = page.version;
      next = page.next;
    } while (next !== undefined);
    await sink.replace(objects, version);
    this.#version = version;
    this.#refusals = 0;
    const durationMs = clock.monotonic() - started;
    this.#notice({ kind: 'listed', resource: this.#resource, items: objects.length, pages, durationMs });
  }

  /** Items are taken as they arrive: each may be of a megabyte, and nothing of it but what is kept is to stay. */
  async #page(next: string | undefined, signal: AbortSignal, take: (item: T) => void): Promise<Page> {
    const onItems = (items: readonly unknown[]): void => {
      this.#alive();
      for (const item of items) take(named(item, this.#path) as T);
    };
    const request: KubeRequest = {
      method: 'GET',
      path: this.#path,
      query: { ...this.#selectors(), limit: this.#pageSize, continue: next },
      onItems,
    };
    if (this.#options.metadataOnly === true) request.accept = METADATA_ONLY.list;
    const deadline = new Deadline(this.#options.clock, signal);
    deadline.set(PAGE_DEADLINE_MS, 'idle');
    try {
      const answer = await this.#options.port.request({ ...request, signal: deadline.signal });
      this.#alive();
      if (answer.status !== 200) {
        const refusal = this.#refusal(answer.status, answer.body, answer.headers);
        // An expired continue token ends this list. The next one starts anew and in larger steps, so that a
        // list longer than the server remembers a version ends in the end.
        if (refusal.isGone && next !== undefined) this.#pageSize = Math.min(this.#pageSize * 4, LARGEST_PAGE);
        throw refusal;
      }
      const page = parsePage(answer.body, this.#path);
      const { turns } = this.#options;
      for (let i = 0; i < page.items.length; i += ITEMS_A_TURN) {
        await turns?.take();
        onItems(page.items.slice(i, i + ITEMS_A_TURN));
      }
      return page;
    } finally {
      deadline.clear();
    }
  }

  async #watch(version: string, signal: AbortSignal): Promise<number> {
    const { clock, random, port } = this.#options;
    const timeoutSeconds = 240 + Math.floor(random() * 241);
    const started = clock.monotonic();
    const deadline = new Deadline(clock, signal);
    const guard = new Deadline(clock, deadline.signal);
    deadline.set(IDLE_MS, 'idle');
    guard.set(timeoutSeconds * 1_000 + GUARD_SLACK_MS, 'guard');
    let events = 0;
    let end: WatchEnd = 'broken';
    let watch: KubeWatch | undefined;
    try {
      const request: KubeRequest = {
        method: 'GET',
        path: this.#path,
        query: {
          ...this.#selectors(),
          watch: true,
          allowWatchBookmarks: true,
          resourceVersion: version,
          timeoutSeconds,
        },
        signal: guard.signal,
      };
      if (this.#options.metadataOnly === true) request.accept = METADATA_ONLY.object;
      watch = await port.watch(request);
      this.#alive();
      if (watch.status !== 200) throw this.#refusal(watch.status, watch.body, watch.headers);
      for await (const line of watch.events) {
        if (signal.aborted) return 0;
        if (guard.fired !== undefined || deadline.fired !== undefined) break;
        deadline.set(IDLE_MS, 'idle');
        this.#take(line);
        events++;
      }
      end = deadline.fired ?? guard.fired ?? 'closed';
    } catch (thrown) {
      if (signal.aborted) return 0;
      const fired = deadline.fired ?? guard.fired;
      if (fired === undefined) {
        end = thrown instanceof KubeApiError ? (thrown.isGone ? 'expired' : 'refused') : 'broken';
        if (!this.#recover(end)) throw thrown;
      } else {
        end = fired;
      }
    } finally {
      deadline.clear();
      guard.clear();
      watch?.close();
      const durationMs = clock.monotonic() - started;
      if (events > 0 || durationMs >= GOOD_LIFE_MS) this.#watchFailures = 0;
      this.#notice({ kind: 'watch-ended', resource: this.#resource, reason: end, events, durationMs });
    }
    return this.#afterEnd(events, clock.monotonic() - started);
  }

  /** Notes a refusal or break; whether it needs no error notice because a relist is all there is to do. */
  #recover(end: WatchEnd): boolean {
    if (end === 'expired') {
      this.#version = undefined;
      return true;
    }
    // A version that the server keeps refusing, such as one from before its etcd was restored, is given up.
    if (end === 'refused' && ++this.#refusals >= REFUSALS_TO_RELIST) this.#version = undefined;
    return false;
  }

  /** A watch that did its duty is resumed at once; one that ended as soon as it began waits longer each time. */
  #afterEnd(events: number, durationMs: number): number {
    if (events > 0 || durationMs >= GOOD_LIFE_MS) return 0;
    return this.#delay(++this.#watchFailures, undefined);
  }

  #take(line: WatchLine): void {
    this.#alive();
    switch (line.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED': {
        const version = versionIn(line.object);
        if (version === undefined || !hasName(line.object)) {
          this.#version = undefined;
          throw new MalformedAnswerError(`${this.#path}: a ${line.type} line without name or version`);
        }
        this.#refusals = 0;
        this.#options.sink.observe(line.type, this.#tidy(line.object as T));
        this.#advance(version);
        return;
      }
      case 'BOOKMARK': {
        const version = versionIn(line.object);
        if (version !== undefined) this.#advance(version);
        return;
      }
      case 'ERROR':
        throw this.#refusal(200, line.object, {});
      default:
        // A line type of a later Kubernetes: nothing known depends on it.
        return;
    }
  }

  #advance(version: string): void {
    this.#version = version;
    this.#options.sink.progress(version);
  }

  #refusal(status: number, body: unknown, headers: Readonly<Record<string, string>>): KubeApiError {
    return new KubeApiError(statusOf(status, body, headers), { method: 'GET', path: this.#path });
  }

  #delay(failures: number, error: Error | undefined): number {
    const asked = error instanceof KubeApiError ? (error.retryAfterMs ?? 0) : 0;
    return backoffMs(failures, BACKOFF, this.#options.random, Math.min(asked, RETRY_AFTER_CAP_MS));
  }

  #selectors(): { labelSelector: string | undefined; fieldSelector: string | undefined } {
    return { labelSelector: this.#options.labelSelector, fieldSelector: this.#options.fieldSelector };
  }

  /**
   * Lists of built-in kinds leave kind and apiVersion out, and metadata-only answers put their own there.
   * managedFields go early, while a long list is still being read; undefined instead of `delete`, which would
   * make the object slow and larger.
   */
  #tidy(object: T): T {
    if (object.metadata.managedFields !== undefined) object.metadata.managedFields = undefined;
    object.apiVersion = apiVersionOf(this.#options.type);
    object.kind = this.#options.type.kind;
    return this.#options.prune?.(object) ?? object;
  }

  #alive(): void {
    this.#lastActivity = this.#options.clock.monotonic();
  }

  #notice(notice: ReflectorNotice): void {
    try {
      this.#options.onNotice?.(notice);
    } catch {
      // An observer that fails must not end what it observes, and there is nobody else to tell.
    }
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
