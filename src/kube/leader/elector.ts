import type { Clock, Random, Timer } from '../../base/clock.ts';
import { canonicalJson } from '../../base/hash.ts';
import { silentLogger, type Logger } from '../../base/logger.ts';
import { KubeClient } from '../client.ts';
import { KubeApiError } from '../errors.ts';
import { holderOf, released, startsIn, startsText, taken, type LeaseObject } from './lease-record.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { KubePort } from '../port.ts';
import { LEASES } from '../types.ts';

export interface ElectorOptions {
  port: KubePort;
  clock: Clock;
  random: Random;
  /** Where the Lease is. */
  namespace: string;
  name: string;
  /** Who we are: unique to this process, never used again by another. */
  identity: string;
  metrics?: Metrics;
  logger?: Logger;
  /** Labels and annotations of the Lease while we hold it: by what others find and know the leader. @default none */
  marks?: { labels?: Readonly<Record<string, string>>; annotations?: Readonly<Record<string, string>> };
  /** How long others wait after our last renewal before they take over, milliseconds. @default 15000 */
  leaseDurationMs?: number;
  /** Leadership ends so long after the last renewal that succeeded was sent, milliseconds. @default 10000 */
  renewDeadlineMs?: number;
  /** Between two looks or renewals, milliseconds. @default 2000 */
  retryPeriodMs?: number;
  /** How long work may take to end once leadership is lost, milliseconds. @default 10000 */
  graceMs?: number;
  /** Annotation of the Lease that notes when its last holders began. @default none */
  startsAnnotation?: string;
  /**
   * Asked where the Lease is missing: whether somebody may have led by it, who does not know yet that it is gone.
   * @default only what this process has seen counts
   */
  ledBefore?: (signal: AbortSignal) => Promise<boolean>;
}

/** Leadership ended without having been given back: somebody else may lead by now. */
export class LeadershipLostError extends Error {
  readonly code = 'LeadershipLost';
  constructor(lease: string, why: string) {
    super(`leadership by Lease ${lease} is lost: ${why}; the process has to end`);
    this.name = 'LeadershipLostError';
  }
}

/** Thrown by the constructor of {@link Elector} for durations that cannot keep two leaders apart. */
export class InvalidElectorOptionsError extends Error {
  readonly code = 'InvalidElectorOptions';
  constructor(message: string) {
    super(message);
    this.name = 'InvalidElectorOptionsError';
  }
}

/**
 * Leader election on a Lease. Another's lease is over when its record has not changed for its duration by our
 * own monotonic clock: the times in it are another machine's and are not compared with anything. Our own is
 * over when the renew deadline has passed since we *sent* the last renewal that succeeded, by a timer, so that
 * a call that hangs cannot prolong it.
 */
export class Elector {
  readonly #options: Required<Omit<ElectorOptions, 'metrics' | 'startsAnnotation'>> &
    Pick<ElectorOptions, 'startsAnnotation'> & { metrics: Metrics | undefined };
  readonly #client: KubeClient;
  readonly #ref: { namespace: string; name: string };
  #seen: { record: string; at: number } | undefined;
  /** Since when the Lease is missing. */
  #missingSince: number | undefined;
  #leading = false;
  #starts: readonly number[] = [];

  constructor(options: ElectorOptions) {
    this.#options = {
      ...options,
      metrics: options.metrics,
      marks: options.marks ?? {},
      logger: (options.logger ?? silentLogger).child({ lease: `${options.namespace}/${options.name}` }),
      leaseDurationMs: options.leaseDurationMs ?? 15_000,
      renewDeadlineMs: options.renewDeadlineMs ?? 10_000,
      retryPeriodMs: options.retryPeriodMs ?? 2_000,
      graceMs: options.graceMs ?? 10_000,
      ledBefore: options.ledBefore ?? (() => Promise.resolve(false)),
    };
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = this.#options;
    if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs && retryPeriodMs > 0)) {
      throw new InvalidElectorOptionsError(
        `lease duration (${leaseDurationMs} ms) must be longer than the renew deadline (${renewDeadlineMs} ms), ` +
          `and that longer than the retry period (${retryPeriodMs} ms)`,
      );
    }
    this.#ref = { namespace: options.namespace, name: options.name };
    // No retries below: each try here has its own time, and an answer that comes late is worth nothing.
    this.#client = new KubeClient(options.port, {
      clock: options.clock,
      random: options.random,
      maxTries: 1,
    });
    options.metrics?.leader.set({ name: options.name }, 0);
  }

  /** Whether this process leads now. */
  get leading(): boolean {
    return this.#leading;
  }

  /** When this process and those before it began to lead, as far as the Lease tells, milliseconds of wall time. */
  get starts(): readonly number[] {
    return this.#starts;
  }

  /**
   * Waits for leadership, then calls `lead` and renews until its promise settles; then gives the lease back,
   * if it is still ours. `lead` has to end its work itself when `stop` is aborted, and gets a signal that is
   * aborted when leadership is lost: then nothing may be in flight any more.
   *
   * Resolves when `lead` resolved, or when `stop` came before leadership. Rejects with
   * {@link LeadershipLostError}, or with what `lead` rejected with.
   */
  async run(stop: AbortSignal, lead: (lost: AbortSignal) => Promise<void>): Promise<void> {
    const held = await this.#acquire(stop);
    if (held === undefined) return;
    await this.#hold(held, lead);
  }

  /** The Lease as we wrote it, with the monotonic time at which the write was sent. */
  async #acquire(stop: AbortSignal): Promise<Held | undefined> {
    const { clock, logger, random, retryPeriodMs } = this.#options;
    while (!stop.aborted) {
      try {
        const held = await this.#tryToTake(stop);
        if (held !== undefined) return held;
      } catch (error) {
        if (stop.aborted) return undefined;
        const why = error instanceof KubeApiError ? { why: error.message } : { err: error };
        logger.warn(why, 'leader election: the lease cannot be had, it is tried again');
      }
      // Candidates that started together drift apart (client-go: JitterFactor 1.2).
      await clock.sleep(retryPeriodMs * (1 + 1.2 * random()), stop).catch(() => undefined);
    }
    return undefined;
  }

  async #tryToTake(stop: AbortSignal): Promise<Held | undefined> {
    const { clock, identity, leaseDurationMs } = this.#options;
    const lease = await this.#read(stop);
    if (lease === undefined ? !(await this.#mayMake(stop)) : !this.#isFree(lease)) return undefined;
    const sentAt = clock.monotonic();
    const spec = taken(lease?.spec, identity, leaseDurationMs, clock.now());
    const { startsAnnotation } = this.#options;
    const starts = startsAnnotation === undefined ? [] : [...startsIn(lease, startsAnnotation), clock.now()];
    const noted = startsAnnotation === undefined ? {} : { [startsAnnotation]: startsText(starts) };
    try {
      const held = await this.#write(lease, spec, stop, noted);
      this.#starts = starts;
      return { lease: held, sentAt };
    } catch (error) {
      // Somebody was faster: nothing to report.
      if (error instanceof KubeApiError && error.status === 409) return undefined;
      throw error;
    }
  }

  /** A Lease that somebody deleted may have a leader who has not noticed: one duration has to pass. */
  async #mayMake(stop: AbortSignal): Promise<boolean> {
    const { clock, leaseDurationMs, ledBefore } = this.#options;
    if (this.#seen === undefined && this.#missingSince === undefined && !(await ledBefore(stop))) return true;
    this.#missingSince ??= clock.monotonic();
    return clock.monotonic() - this.#missingSince >= leaseDurationMs;
  }

  #isFree(lease: LeaseObject): boolean {
    const { clock, identity, leaseDurationMs, logger } = this.#options;
    this.#missingSince = undefined;
    const holder = holderOf(lease);
    const record = canonicalJson(lease.spec);
    if (this.#seen?.record !== record) {
      this.#seen = { record, at: clock.monotonic() };
      if (holder !== undefined && holder !== identity)
        logger.debug({ holder }, 'leader election: held by another');
    }
    if (holder === undefined || holder === identity) return true;
    const duration = Math.max(leaseDurationMs, (lease.spec?.leaseDurationSeconds ?? 0) * 1_000);
    return clock.monotonic() - this.#seen.at >= duration;
  }

  async #hold(held: Held, lead: (lost: AbortSignal) => Promise<void>): Promise<void> {
    const { clock, graceMs, identity, logger, metrics, name } = this.#options;
    const lost = new AbortController();
    const over = new AbortController();
    this.#leading = true;
    metrics?.leader.set({ name }, 1);
    logger.info({ identity }, 'leading');

    const ended = Promise.resolve()
      .then(() => lead(lost.signal))
      .then(
        () => ({ kind: 'resolved' as const }),
        (error: unknown) => ({ kind: 'rejected' as const, error }),
      );
    const renewing = this.#renew(held, lost, over.signal);
    const lostFirst = new Promise<'lost'>((resolve) => {
      lost.signal.addEventListener('abort', () => resolve('lost'), { once: true });
    });
    const outcome = await Promise.race([ended, lostFirst]);
    this.#leading = false;
    metrics?.leader.set({ name }, 0);
    if (outcome === 'lost') {
      logger.error({ err: lost.signal.reason }, 'leadership lost');
      const grace = new AbortController();
      await Promise.race([ended, clock.sleep(graceMs, grace.signal).catch(() => undefined)]);
      grace.abort();
      throw lost.signal.reason as LeadershipLostError;
    }
    over.abort();
    await renewing;
    if (!lost.signal.aborted) await this.#release();
    if (outcome.kind === 'rejected') throw outcome.error;
  }

  /** Renews until `over` is aborted, a renewal in flight included, or until leadership is lost. */
  async #renew(held: Held, lost: AbortController, over: AbortSignal): Promise<void> {
    const { clock, identity, leaseDurationMs, logger, renewDeadlineMs, retryPeriodMs } = this.#options;
    let current: LeaseObject | undefined = held.lease;
    let deadline = this.#armDeadline(held.sentAt, lost);
    const end = AbortSignal.any([over, lost.signal]);
    let atOnce = false;
    try {
      for (;;) {
        if (!atOnce) await clock.sleep(retryPeriodMs, end).catch(() => undefined);
        if (end.aborted) break;
        const sentAt = clock.monotonic();
        try {
          current ??= await this.#read(lost.signal);
          if (current === undefined || holderOf(current) !== identity) {
            const holder = current === undefined ? undefined : (holderOf(current) ?? 'nobody');
            this.#lose(lost, holder === undefined ? 'it is gone' : `it is held by ${holder}`);
            break;
          }
          current = await this.#write(
            current,
            taken(current.spec, identity, leaseDurationMs, clock.now()),
            lost.signal,
          );
          deadline.cancel();
          deadline = this.#armDeadline(sentAt, lost);
          atOnce = false;
        } catch (error) {
          if (lost.signal.aborted) break;
          // What stands there now has to be read before the next try: a lost answer may have been a success.
          current = undefined;
          // Somebody has written or deleted it: whose it is now does not wait for the next turn.
          const isForeign = error instanceof KubeApiError && (error.isNotFound || error.isConflict);
          atOnce = isForeign && !atOnce;
          logger.warn({ err: error, renewDeadlineMs }, 'leader election: renewal failed');
        }
      }
    } finally {
      deadline.cancel();
    }
  }

  #armDeadline(sentAt: number, lost: AbortController): Timer {
    const { clock, renewDeadlineMs } = this.#options;
    return clock.setTimer(sentAt + renewDeadlineMs - clock.monotonic(), () =>
      this.#lose(lost, `no renewal succeeded within ${renewDeadlineMs} ms`),
    );
  }

  #lose(lost: AbortController, why: string): void {
    lost.abort(new LeadershipLostError(`${this.#ref.namespace}/${this.#ref.name}`, why));
  }

  /** Gives the lease back if it is still ours; the next leader then need not wait for it to run out. */
  async #release(): Promise<void> {
    const { clock, identity, logger } = this.#options;
    try {
      const lease = await this.#read();
      if (lease?.spec === undefined || holderOf(lease) !== identity) return;
      await this.#write(lease, released(lease.spec, clock.now()));
      logger.info({ identity }, 'leadership given back');
    } catch (error) {
      // It runs out by itself.
      logger.warn({ err: error }, 'leader election: lease not given back');
    }
  }

  #read(end?: AbortSignal): Promise<LeaseObject | undefined> {
    return this.#timed((signal) => this.#client.get<LeaseObject>(LEASES, this.#ref, { signal }), end);
  }

  /** Creates or replaces the Lease; a version other than the one read makes it fail with 409. */
  #write(
    before: LeaseObject | undefined,
    spec: LeaseObject['spec'],
    end?: AbortSignal,
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<LeaseObject> {
    const { marks } = this.#options;
    return this.#timed((signal) => {
      if (before === undefined) {
        const metadata = {
          ...this.#ref,
          labels: { ...marks.labels },
          annotations: { ...marks.annotations, ...annotations },
        };
        return this.#client.create<LeaseObject>(LEASES, { metadata, spec }, { signal });
      }
      const metadata = {
        ...before.metadata,
        labels: { ...before.metadata.labels, ...marks.labels },
        annotations: { ...before.metadata.annotations, ...marks.annotations, ...annotations },
      };
      const next: LeaseObject = { ...before, metadata, ...(spec === undefined ? {} : { spec }) };
      return this.#client.replace<LeaseObject>(LEASES, next, { signal });
    }, end);
  }

  /** Gives a call a third of the renew deadline, so that one that hangs leaves time for another look and write. */
  async #timed<T>(call: (signal: AbortSignal) => Promise<T>, end?: AbortSignal): Promise<T> {
    const { clock, renewDeadlineMs } = this.#options;
    const limitMs = Math.round(renewDeadlineMs / 3);
    const late = new AbortController();
    const timer = clock.setTimer(limitMs, () => late.abort(new Error(`no answer within ${limitMs} ms`)));
    try {
      return await call(end === undefined ? late.signal : AbortSignal.any([late.signal, end]));
    } finally {
      timer.cancel();
    }
  }
}

interface Held {
  lease: LeaseObject;
  sentAt: number;
}
