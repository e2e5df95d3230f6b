import type { Clock } from '../base/clock.ts';
import { silentLogger, type Logger } from '../base/logger.ts';
import type { Elector } from './leader/elector.ts';
import { EventLoopWatch, HealthServer, silentWatchCheck, type HealthCheck } from './observe/health.ts';
import type { Metrics } from './observe/metrics.ts';
import type { EventRecorder } from './observe/recorder.ts';
import type { Endpoint } from './serving/listener.ts';

/** What feeds queues: an informer. */
export interface Source {
  readonly type: { readonly kind: string };
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
  /** Monotonic time of the last sign of life. */
  readonly lastActivity: number;
  /** Resolves once stopped. */
  start(signal: AbortSignal): Promise<void>;
}

/** What runs while this process leads: a controller, or anything else that only the leader may do. */
export interface Runner {
  readonly name: string;
  /** Ends its work in good order after `stop`, at once after `abort`; then resolves. */
  run(stop: AbortSignal, abort: AbortSignal): Promise<void>;
}

export interface ManagerOptions {
  clock: Clock;
  metrics: Metrics;
  logger?: Logger;
  sources: readonly Source[];
  runners: readonly Runner[];
  /** Absent: leads without asking. */
  elector?: Elector;
  recorder?: EventRecorder;
  /** Where to serve health; absent: nowhere. */
  health?: {
    host?: string;
    port: number;
    /** Whether to serve the metrics there, too, in the open. @default true */
    metrics?: boolean;
    /** Further checks behind `/readyz`, by name. */
    ready?: Readonly<Record<string, HealthCheck>>;
    /** What `/readyz` shows and that fails nothing, by name. */
    notes?: Readonly<Record<string, HealthCheck>>;
    /** Called with the URL once it listens. */
    onListening?: (url: string) => void;
  };
  /** What else is served as long as the process runs, such as the metrics at an address of their own. */
  endpoints?: readonly Endpoint[];
  /** A watch that is silent for so long fails the liveness check, milliseconds. @default 360000, twice a reflector's idle deadline */
  silentWatchMs?: number;
  /** A timer that fires so late fails the liveness check, milliseconds. @default 10000 */
  blockedLoopMs?: number;
}

/**
 * Runs a process of controllers: sources first, then leadership, then the runners; and takes it all down in
 * the opposite order.
 */
export class Manager {
  readonly #options: ManagerOptions;

  constructor(options: ManagerOptions) {
    this.#options = options;
  }

  /**
   * Runs until `stop` is aborted and everything has ended: no new work, work in flight finished up to the
   * runners' limits, events sent, lease given back. Rejects with `LeadershipLostError`, after all work has been
   * aborted; with what a runner rejected with; or when the health address cannot be had.
   */
  async run(stop: AbortSignal): Promise<void> {
    const {
      clock,
      health,
      metrics,
      sources,
      silentWatchMs = 360_000,
      blockedLoopMs = 10_000,
    } = this.#options;
    const logger = this.#options.logger ?? silentLogger;
    const loop = new EventLoopWatch(clock, { limitMs: blockedLoopMs });
    const endpoints = [...(this.#options.endpoints ?? [])];
    if (health !== undefined) {
      endpoints.unshift(
        new HealthServer({
          ...(health.host === undefined ? {} : { host: health.host }),
          port: health.port,
          live: { watches: silentWatchCheck(sources, clock, silentWatchMs), loop: loop.check },
          ready: { synced: syncCheck(sources), stopping: stopCheck(stop), ...health.ready },
          ...(health.notes === undefined ? {} : { notes: health.notes }),
          ...(health.metrics === false ? {} : { metrics }),
        }),
      );
    }
    try {
      for (const endpoint of endpoints) {
        const url = await endpoint.listen();
        logger.info({ what: endpoint.name, url }, 'serving');
        if (endpoint instanceof HealthServer) health?.onListening?.(url);
      }
      await this.#work(stop, loop);
    } finally {
      await Promise.all(endpoints.map((endpoint) => endpoint.close()));
    }
  }

  /** Everything but what is served. */
  async #work(stop: AbortSignal, loop: EventLoopWatch): Promise<void> {
    const { recorder, sources } = this.#options;
    const logger = this.#options.logger ?? silentLogger;
    loop.start();
    // Sources and events outlive the runners: draining work still reads caches and reports.
    const ended = new AbortController();
    const behind = sources.map((source) => source.start(ended.signal));
    if (recorder !== undefined) behind.push(recorder.run(ended.signal, 0));
    try {
      const synced = await Promise.race([
        Promise.all(sources.map((source) => source.synced)).then(() => true),
        aborted(stop).then(() => false),
      ]);
      if (synced) {
        logger.info({ sources: sources.length }, 'caches are in sync');
        await this.#lead(stop);
      }
    } finally {
      ended.abort(new Error('the manager has ended'));
      loop.stop();
      await Promise.allSettled(behind);
    }
  }

  async #lead(stop: AbortSignal): Promise<void> {
    const { elector, recorder, runners } = this.#options;
    const work = async (lost: AbortSignal): Promise<void> => {
      // One runner that fails takes the others down in good order.
      const failed = new AbortController();
      const stopOne = AbortSignal.any([stop, failed.signal]);
      const outcomes = await Promise.allSettled(
        runners.map((runner) =>
          runner.run(stopOne, lost).catch((error: unknown) => {
            failed.abort(error);
            throw error;
          }),
        ),
      );
      if (!lost.aborted) await recorder?.flush();
      const bad = outcomes.find((outcome) => outcome.status === 'rejected');
      if (bad !== undefined) throw bad.reason;
    };
    if (elector === undefined) await work(new AbortController().signal);
    else await elector.run(stop, work);
  }
}

function syncCheck(sources: readonly Source[]): HealthCheck {
  return () => {
    const waiting = sources.filter((source) => !source.hasSynced).map((source) => source.type.kind);
    return waiting.length === 0 ? undefined : `waiting for the first list of ${waiting.join(', ')}`;
  };
}

function stopCheck(stop: AbortSignal): HealthCheck {
  return () => (stop.aborted ? 'shutting down' : undefined);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
