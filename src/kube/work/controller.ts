import type { Curve } from '../../base/backoff.ts';
import type { Clock, Random } from '../../base/clock.ts';
import { silentLogger, type Logger } from '../../base/logger.ts';
import type { Lane, Priority } from '../../base/priority.ts';
import type { Metrics } from '../observe/metrics.ts';
import { Deadline } from './deadline.ts';
import { WorkQueue, type WorkItem } from './queue.ts';

/** What a reconcile is told besides its key. */
export interface ReconcileContext {
  /** Aborted when the deadline of this pass is over, when leadership is lost, or when draining took too long. */
  signal: AbortSignal;
  /** Why the key came up, for pacing calls: a person's change goes before a periodic look. */
  priority: Priority;
  /** Failures of this key in a row before this pass. */
  failures: number;
}

/** What a successful pass wants next; nothing: not before the next event. */
export interface Result {
  /** Look again after so many milliseconds, at the latest; 0 means at once. */
  requeueAfterMs?: number;
  /**
   * In which lane; `kept`: the work that brought the key up is not over, so it goes ahead of what is not begun, for a few times.
   * @default 'periodic'
   */
  lane?: 'normal' | 'periodic' | 'kept';
}

/** One pass over one key. Throws to be called again after the key's back-off. */
export type Reconcile = (key: string, context: ReconcileContext) => Promise<Result | void>;

export interface ControllerOptions {
  /** Label of metrics and log lines, such as `instance`. */
  name: string;
  reconcile: Reconcile;
  clock: Clock;
  random: Random;
  metrics?: Metrics;
  logger?: Logger;
  /**
   * Passes of one namespace at the same time; each lane has some that the others leave to it. In all there are
   * four times as many, so that passes of one that hang hold up no other.
   * @default 8
   */
  workers?: number;
  /**
   * A pass is aborted after so many milliseconds and counts as failed. The time that it waits for its turn to call
   * the service does not count. @default 120000
   */
  deadlineMs?: number;
  /** How long an aborted pass may take to end before its worker leaves it behind, milliseconds. @default 5000 */
  graceMs?: number;
  /** How long passes in flight may go on once the controller is told to stop, milliseconds. @default 20000 */
  drainMs?: number;
  backoff?: Curve;
}

/** So many namespaces may have all the passes that one may have. */
const NAMESPACES_AT_ONCE = 4;

/** The reason of a pass's signal when the pass took longer than its deadline. */
export class ReconcileDeadlineError extends Error {
  readonly code = 'ReconcileDeadline';
  constructor(controller: string, key: string, ms: number) {
    super(`${controller} ${key}: the pass took longer than ${ms} ms and was ended; it is tried again later`);
    this.name = 'ReconcileDeadlineError';
  }
}

/** The reason of a pass's signal when draining took longer than it may. */
export class DrainTimeoutError extends Error {
  readonly code = 'DrainTimeout';
  constructor(controller: string, ms: number) {
    super(`${controller}: work in flight did not end within ${ms} ms of the request to stop`);
    this.name = 'DrainTimeoutError';
  }
}

/**
 * Works a queue with a number of workers. A key is never in two passes at once; an error brings the key back
 * after its back-off and never ends the process; a pass that ignores its abort signal costs its own key and
 * nobody else's worker.
 */
export class Controller {
  readonly name: string;
  readonly queue: WorkQueue;
  readonly #options: Required<Omit<ControllerOptions, 'metrics' | 'backoff' | 'name' | 'random'>> & {
    metrics: Metrics | undefined;
  };

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = {
      reconcile: options.reconcile,
      clock: options.clock,
      metrics: options.metrics,
      logger: (options.logger ?? silentLogger).child({ controller: options.name }),
      workers: options.workers ?? 8,
      deadlineMs: options.deadlineMs ?? 120_000,
      graceMs: options.graceMs ?? 5_000,
      drainMs: options.drainMs ?? 20_000,
    };
    const observer = options.metrics?.queueObserver(options.name);
    this.queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      limits: { lane: laneLimit(this.#options.workers), all: this.#options.workers },
      ...(options.backoff === undefined ? {} : { backoff: options.backoff }),
      ...(observer === undefined ? {} : { observer }),
    });
    options.metrics?.watchQueue(options.name, this.queue);
    options.metrics?.maxConcurrentReconciles.set(
      { controller: options.name },
      this.#options.workers * NAMESPACES_AT_ONCE,
    );
  }

  /**
   * Works until `stop` is aborted, then lets passes in flight end for `drainMs`. `abort` ends everything at
   * once (leadership lost): every pass's signal is aborted with its reason. Resolves when no pass is left, or
   * when the passes left ignore their signal for `graceMs`; never rejects.
   */
  async run(stop: AbortSignal, abort?: AbortSignal): Promise<void> {
    const { clock, drainMs, graceMs, logger, workers } = this.#options;
    const hard = new AbortController();
    const onAbort = (): void => hard.abort(abort?.reason);
    abort?.addEventListener('abort', onAbort, { once: true });
    if (abort?.aborted) onAbort();

    const loops = Array.from({ length: workers * NAMESPACES_AT_ONCE }, () => this.#work(hard.signal));
    await firstAborted([stop, hard.signal], () => this.queue.shutDown());

    const drained = Promise.all(loops).then(() => this.queue.whenIdle());
    const limit = clock.setTimer(drainMs, () => hard.abort(new DrainTimeoutError(this.name, drainMs)));
    const gaveUp = firstAborted([hard.signal]).then(() => clock.sleep(graceMs));
    await Promise.race([drained, gaveUp]);
    limit.cancel();
    abort?.removeEventListener('abort', onAbort);
    const left = this.queue.working;
    if (left.length > 0) logger.warn({ keys: left.slice(0, 20), count: left.length }, 'passes left behind');
  }

  async #work(hard: AbortSignal): Promise<void> {
    for (;;) {
      const item = await this.queue.take();
      if (item === undefined) return;
      await this.#pass(item, hard);
    }
  }

  /** One pass; resolves when it is over or has to be left behind. */
  async #pass(item: WorkItem, hard: AbortSignal): Promise<void> {
    const { clock, deadlineMs, graceMs, logger, metrics } = this.#options;
    const { key } = item;
    const ended = new AbortController();
    const onHard = (): void => ended.abort(hard.reason);
    hard.addEventListener('abort', onHard, { once: true });
    if (hard.aborted) onHard();
    const deadline = new Deadline(clock, deadlineMs, item.priority, () =>
      ended.abort(new ReconcileDeadlineError(this.name, key, deadlineMs)),
    );
    let grace: { cancel(): void } | undefined;
    const leftBehind = new Promise<'left behind'>((resolve) => {
      ended.signal.addEventListener('abort', () => {
        grace = clock.setTimer(graceMs, () => resolve('left behind'));
      });
    });
    const started = clock.monotonic();
    metrics?.activeWorkers.inc({ controller: this.name });

    const over = this.#attempt(item, ended.signal, hard).finally(() => {
      deadline.cancel();
      grace?.cancel();
      hard.removeEventListener('abort', onHard);
      metrics?.activeWorkers.dec({ controller: this.name });
      metrics?.reconcileTime.observe({ controller: this.name }, (clock.monotonic() - started) / 1_000);
      this.queue.done(key);
    });
    if ((await Promise.race([over, leftBehind])) === 'left behind') {
      this.queue.leave(key);
      logger.error({ key, ms: clock.monotonic() - started }, 'pass ignores its abort signal');
    }
  }

  /** Calls the reconcile function and does what its outcome asks for. */
  async #attempt(item: WorkItem, signal: AbortSignal, hard: AbortSignal): Promise<void> {
    const { logger, metrics, reconcile } = this.#options;
    const { key, priority } = item;
    const controller = this.name;
    try {
      const result = await reconcile(key, { signal, priority, failures: this.queue.failures(key) });
      this.queue.forget(key);
      if (result?.requeueAfterMs === undefined) {
        metrics?.reconcileTotal.inc({ controller, result: 'success' });
        return;
      }
      metrics?.reconcileTotal.inc({ controller, result: 'requeue_after' });
      const { requeueAfterMs, lane = 'periodic' } = result;
      if (lane === 'kept') this.queue.goOn(key, requeueAfterMs, priority.lane);
      else this.queue.addAfter(key, requeueAfterMs, lane);
    } catch (error) {
      if (hard.aborted) {
        // Ended from outside, together with the queue: neither a failure nor tried again here.
        logger.info({ key }, 'pass aborted');
        return;
      }
      metrics?.reconcileTotal.inc({ controller, result: 'error' });
      metrics?.reconcileErrors.inc({ controller });
      const retryInMs = this.queue.addRateLimited(key, notByPerson(priority.lane));
      logger.error({ key, err: error, retryInMs, failures: this.queue.failures(key) }, 'reconcile failed');
    }
  }
}

/** Each lane leaves an eighth of the workers to each of the other three. */
function laneLimit(workers: number): number {
  return workers - 3 * Math.floor(workers / 8);
}

/** What has failed does not go before what a person has just changed. */
function notByPerson(lane: Lane): Lane {
  return lane === 'periodic' ? 'periodic' : 'normal';
}

/** Resolves when the first of the signals is aborted; `then` has been called by that time, in the same turn. */
function firstAborted(signals: readonly AbortSignal[], then?: () => void): Promise<void> {
  return new Promise((resolve) => {
    const onAbort = (): void => {
      then?.();
      resolve();
    };
    if (signals.some(({ aborted }) => aborted)) onAbort();
    else for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true });
  });
}
