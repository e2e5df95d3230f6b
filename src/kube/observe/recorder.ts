import { sha256Base32 } from '../../base/hash.ts';
import type { Clock, Random } from '../../base/clock.ts';
import { silentLogger, type Logger } from '../../base/logger.ts';
import { withoutEnding } from '../../base/text.ts';
import type { Metrics } from './metrics.ts';
import { microTime } from './micro-time.ts';
import type { KubeAnswer, KubePort } from '../port.ts';
import { WorkQueue } from '../work/queue.ts';
import { TokenBucket } from '../../base/token-bucket.ts';

/** The object that an event is about. */
export interface EventTarget {
  apiVersion: string;
  kind: string;
  /** Absent for cluster-scoped objects, whose events live in namespace `default`. */
  namespace?: string;
  name: string;
  uid: string;
}

export interface EventInput {
  regarding: EventTarget;
  /** Another object that has a part in it. */
  related?: EventTarget;
  type: 'Normal' | 'Warning';
  /** Why, in CamelCase, for machines: at most 128 characters. */
  reason: string;
  /** What was done or refused, in CamelCase, such as `Create`: at most 128 characters. */
  action: string;
  /** For people; cut to 1 KiB. No secrets, nothing that moves. */
  note: string;
}

/** What a reconcile needs of the recorder. */
export interface Recorder {
  /** Takes an event and returns at once; it may be dropped under load, and never throws. */
  event(input: EventInput): void;
}

export interface EventRecorderOptions {
  port: KubePort;
  clock: Clock;
  random: Random;
  /** Who reports, a qualified name such as `example.com/operator`. */
  reportingController: string;
  /** Which of its processes, such as the pod's name; at most 128 characters. */
  reportingInstance: string;
  metrics?: Metrics;
  logger?: Logger;
  /** Events of all objects together, of which those of one namespace are half at the most. @default 20 a second, 200 at once */
  overall?: { perSecond: number; burst: number };
  /** Events of one object. @default one in 30 seconds, 25 at once */
  perObject?: { perSecond: number; burst: number };
  /** Events that wait to be sent, of which those of one namespace are half at the most; more are dropped. @default 500 */
  maxPending?: number;
  /** A series is written at most this often, milliseconds. @default 30000 */
  seriesIntervalMs?: number;
  /** An equal event after so long starts a new series, milliseconds. @default 360000, as client-go */
  seriesIdleMs?: number;
}

/** The limit of `note` in events.k8s.io/v1, in bytes. */
const NOTE_BYTES = 1_024;
const NAME_LENGTH = 253;
const MAX_SERIES = 2_000;
const TRIES = 3;
const CALL_MS = 10_000;
const SENDERS = 2;
/** What one namespace may have of the events that are written, so that it keeps no other from having any. */
const NAMESPACE_SHARE = 1 / 2;

interface Series {
  input: EventInput;
  name: string;
  firstAt: number;
  count: number;
  lastAt: number;
  /** How many occurrences the API server knows of; 0 before the event was created. */
  sentCount: number;
  sentAt: number;
}

/**
 * Writes Kubernetes Events (events.k8s.io/v1) behind the caller's back: equal events of one object become one
 * series, a bucket per object and one for all bound the rate, and what does not fit is dropped and counted.
 */
export class EventRecorder implements Recorder {
  readonly #options: EventRecorderOptions;
  readonly #logger: Logger;
  readonly #queue: WorkQueue;
  readonly #series = new Map<string, Series>();
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #overall: TokenBucket;
  readonly #ofNamespace = new Map<string, TokenBucket>();
  readonly #over = new AbortController();
  #made = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      backoff: { firstMs: 500, longestMs: 10_000 },
    });
    this.#overall = new TokenBucket(options.clock, this.#rate);
  }

  event(input: EventInput): void {
    const now = this.#options.clock.now();
    const { regarding, type, reason, action } = input;
    const note = cutUtf8(input.note, NOTE_BYTES);
    // The queue gives each namespace its turn.
    const key = `${regarding.namespace ?? ''}/${sha256Base32(regarding.uid, type, reason, action, note)}`;
    const series = this.#series.get(key);
    if (series !== undefined && now - series.lastAt < (this.#options.seriesIdleMs ?? 360_000)) {
      series.count += 1;
      series.lastAt = now;
      this.#options.metrics?.events.inc({ outcome: 'aggregated' });
      const sinceSent = this.#options.clock.monotonic() - series.sentAt;
      const interval = this.#options.seriesIntervalMs ?? 30_000;
      // The second occurrence is written at once: that there is a series at all is the news.
      this.#queue.addAfter(key, series.sentCount <= 1 ? 0 : interval - sinceSent);
      return;
    }
    if (!this.#admit(regarding)) {
      this.#options.metrics?.events.inc({ outcome: 'dropped' });
      return;
    }
    this.#made += 1;
    this.#series.delete(key);
    this.#series.set(key, {
      input: { ...input, note },
      name: eventName(regarding.name, [
        key,
        String(now),
        String(this.#made),
        this.#options.reportingInstance,
      ]),
      firstAt: now,
      count: 1,
      lastAt: now,
      sentCount: 0,
      sentAt: this.#options.clock.monotonic(),
    });
    this.#forgetOld();
    this.#queue.add(key);
  }

  /**
   * Sends events until `stop` is aborted, then what still waits, for at most `flushMs`. Never rejects: an
   * event that cannot be written is logged and counted.
   */
  async run(stop: AbortSignal, flushMs = 5_000): Promise<void> {
    const senders = Array.from({ length: SENDERS }, () => this.#send());
    await new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      else stop.addEventListener('abort', () => resolve(), { once: true });
    });
    await this.flush(flushMs);
    this.#queue.shutDown();
    this.#over.abort(new Error('the recorder has ended'));
    await Promise.all(senders);
  }

  /** Sends everything that waits, series whose time has not come included; gives up after `limitMs`. */
  async flush(limitMs = 5_000): Promise<void> {
    const { clock } = this.#options;
    const until = clock.monotonic() + limitMs;
    for (const [key, series] of this.#series) {
      if (series.sentCount < series.count) this.#queue.add(key);
    }
    while ((this.#queue.depth > 0 || this.#queue.working.length > 0) && clock.monotonic() < until) {
      await clock.sleep(20);
    }
  }

  get #rate(): { perSecond: number; burst: number } {
    return this.#options.overall ?? { perSecond: 20, burst: 200 };
  }

  #admit({ uid, namespace = '' }: EventTarget): boolean {
    const { maxPending = 500, perObject = { perSecond: 1 / 30, burst: 25 } } = this.#options;
    if (this.#queue.depth >= maxPending) return false;
    const { perSecond, burst } = this.#rate;
    const share = { perSecond: perSecond * NAMESPACE_SHARE, burst: Math.ceil(burst * NAMESPACE_SHARE) };
    return (
      this.#bucket(this.#buckets, uid, perObject).tryTake() &&
      this.#bucket(this.#ofNamespace, namespace, share).tryTake() &&
      this.#pendingOf(namespace) < maxPending * NAMESPACE_SHARE &&
      this.#overall.tryTake()
    );
  }

  #bucket(
    buckets: Map<string, TokenBucket>,
    of: string,
    rate: { perSecond: number; burst: number },
  ): TokenBucket {
    const bucket = buckets.get(of) ?? new TokenBucket(this.#options.clock, rate);
    buckets.set(of, bucket);
    return bucket;
  }

  #pendingOf(namespace: string): number {
    return this.#series
      .values()
      .filter(({ sentCount, input }) => sentCount === 0 && (input.regarding.namespace ?? '') === namespace)
      .reduce((count) => count + 1, 0);
  }

  /** Keeps the maps bounded: full buckets say nothing, and the oldest series gives way. */
  #forgetOld(): void {
    if (this.#series.size > MAX_SERIES) {
      const [oldest] = this.#series.keys();
      if (oldest !== undefined) this.#series.delete(oldest);
    }
    for (const buckets of [this.#buckets, this.#ofNamespace]) {
      if (buckets.size <= MAX_SERIES) continue;
      for (const [of, bucket] of buckets) if (bucket.isFull()) buckets.delete(of);
    }
  }

  async #send(): Promise<void> {
    for (;;) {
      const item = await this.#queue.take();
      if (item === undefined) return;
      const series = this.#series.get(item.key);
      try {
        if (series !== undefined && series.sentCount < series.count) await this.#write(item.key, series);
      } finally {
        this.#queue.done(item.key);
      }
    }
  }

  async #write(key: string, series: Series): Promise<void> {
    const { clock, metrics } = this.#options;
    const count = series.count;
    let problem: unknown;
    try {
      const answer = await this.#call(series, count);
      if (answer.status < 300 || (answer.status === 409 && series.sentCount === 0)) {
        series.sentCount = count;
        series.sentAt = clock.monotonic();
        this.#queue.forget(key);
        metrics?.events.inc({ outcome: 'sent' });
        return;
      }
      if (answer.status === 404 && series.sentCount > 0) {
        // Events expire on their own, after an hour by default: the series goes on in a new one.
        series.sentCount = 0;
        this.#queue.add(key);
        return;
      }
      problem = { status: answer.status };
      if (answer.status < 500 && answer.status !== 429) {
        this.#giveUp(key, series, problem);
        return;
      }
    } catch (error) {
      problem = error;
    }
    if (this.#queue.failures(key) + 1 >= TRIES) this.#giveUp(key, series, problem);
    else this.#queue.addRateLimited(key);
  }

  #giveUp(key: string, series: Series, problem: unknown): void {
    this.#queue.forget(key);
    this.#series.delete(key);
    this.#options.metrics?.events.inc({ outcome: 'failed' });
    this.#logger.warn({ event: series.name, reason: series.input.reason, err: problem }, 'event not written');
  }

  async #call(series: Series, count: number): Promise<KubeAnswer> {
    const { clock, port } = this.#options;
    const late = new AbortController();
    const limit = clock.setTimer(CALL_MS, () => late.abort(new Error(`no answer within ${CALL_MS} ms`)));
    const signal = AbortSignal.any([late.signal, this.#over.signal]);
    const namespace = series.input.regarding.namespace ?? 'default';
    const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;
    try {
      if (series.sentCount === 0) {
        const body = this.#body(series, namespace, count);
        return await port.request({ method: 'POST', path, body, signal });
      }
      return await port.request({
        method: 'PATCH',
        path: `${path}/${encodeURIComponent(series.name)}`,
        contentType: 'application/merge-patch+json',
        body: { series: { count, lastObservedTime: microTime(series.lastAt) } },
        signal,
      });
    } finally {
      limit.cancel();
    }
  }

  #body(series: Series, namespace: string, count: number): object {
    const { regarding, related, type, reason, action, note } = series.input;
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: series.name, namespace },
      eventTime: microTime(series.firstAt),
      reportingController: this.#options.reportingController,
      reportingInstance: this.#options.reportingInstance.slice(0, 128),
      type,
      reason: reason.slice(0, 128),
      action: action.slice(0, 128),
      note,
      regarding,
      ...(related === undefined ? {} : { related }),
      ...(count > 1 ? { series: { count, lastObservedTime: microTime(series.lastAt) } } : {}),
    };
  }
}

/** `<object>.<hash>`: the same for each try of one event, so that a lost answer makes no second one. */
function eventName(object: string, parts: readonly string[]): string {
  const hash = sha256Base32(...parts).slice(0, 16);
  return `${withoutEnding(object.slice(0, NAME_LENGTH - 17), '.-')}.${hash}`;
}

/** The text in at most `bytes` bytes of UTF-8, whole characters, with an ellipsis where it was cut. */
function cutUtf8(text: string, bytes: number): string {
  const all = Buffer.from(text, 'utf8');
  if (all.byteLength <= bytes) return text;
  let end = bytes - 3;
  // Continuation bytes are 10xxxxxx: step back to the start of a character.
  while (end > 0 && ((all[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${all.subarray(0, end).toString('utf8')}…`;
}
