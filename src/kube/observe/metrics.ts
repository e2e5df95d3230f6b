import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { LANES } from '../../base/priority.ts';
import type { QueueObserver, WorkQueue } from '../work/queue.ts';

/** One row of the reference of metrics. */
export interface MetricDefinition {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in the metric's unit. */
  buckets?: readonly number[];
}

/** controller-runtime's own bounds of the workqueue histograms: 10 ns to 1000 s. */
const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

const QUEUE_LABELS = ['name', 'controller'] as const;

/**
 * Every metric of this runtime, under the names and labels that controller-runtime made standard; dashboards
 * and alerts made for any operator work with them. The reference in the docs is generated from this table.
 */
export const METRICS = {
  reconcileTotal: {
    name: 'controller_runtime_reconcile_total',
    type: 'counter',
    help: 'Passes over a key, by outcome: success, requeue_after, error.',
    labels: ['controller', 'result'],
  },
  reconcileErrors: {
    name: 'controller_runtime_reconcile_errors_total',
    type: 'counter',
    help: 'Passes that ended with an error.',
    labels: ['controller'],
  },
  reconcileTime: {
    name: 'controller_runtime_reconcile_time_seconds',
    type: 'histogram',
    help: 'Duration of a pass, seconds.',
    labels: ['controller'],
    buckets: RECONCILE_BUCKETS,
  },
  activeWorkers: {
    name: 'controller_runtime_active_workers',
    type: 'gauge',
    help: 'Passes in progress.',
    labels: ['controller'],
  },
  maxConcurrentReconciles: {
    name: 'controller_runtime_max_concurrent_reconciles',
    type: 'gauge',
    help: 'Passes that may be in progress at the same time.',
    labels: ['controller'],
  },
  queueDepth: {
    name: 'workqueue_depth',
    type: 'gauge',
    help: 'Keys that wait for a worker.',
    labels: ['name', 'controller', 'priority'],
  },
  queueAdds: {
    name: 'workqueue_adds_total',
    type: 'counter',
    help: 'Adds to the queue.',
    labels: QUEUE_LABELS,
  },
  queueDuration: {
    name: 'workqueue_queue_duration_seconds',
    type: 'histogram',
    help: 'How long a key waits for a worker, seconds.',
    labels: QUEUE_LABELS,
    buckets: QUEUE_BUCKETS,
  },
  workDuration: {
    name: 'workqueue_work_duration_seconds',
    type: 'histogram',
    help: 'How long a worker takes for a key, seconds.',
    labels: QUEUE_LABELS,
    buckets: QUEUE_BUCKETS,
  },
  unfinishedWork: {
    name: 'workqueue_unfinished_work_seconds',
    type: 'gauge',
    help: 'How long the keys in work have been so, added up, seconds. A steady rise means stuck workers.',
    labels: QUEUE_LABELS,
  },
  oldestWait: {
    name: 'workqueue_oldest_wait_seconds',
    type: 'gauge',
    help: 'How long the key has waited that has waited longest for a worker, seconds; 0 when none waits.',
    labels: QUEUE_LABELS,
  },
  longestRunning: {
    name: 'workqueue_longest_running_processor_seconds',
    type: 'gauge',
    help: 'How long the longest pass in progress has been running, seconds.',
    labels: QUEUE_LABELS,
  },
  queueRetries: {
    name: 'workqueue_retries_total',
    type: 'counter',
    help: 'Keys queued again after a failure.',
    labels: QUEUE_LABELS,
  },
  leader: {
    name: 'leader_election_master_status',
    type: 'gauge',
    help: '1 while this process leads, else 0.',
    labels: ['name'],
  },
  restRequests: {
    name: 'rest_client_requests_total',
    type: 'counter',
    help: 'Calls to the API server, by status code (<error> when there was no answer), verb and host.',
    labels: ['code', 'method', 'host'],
  },
  events: {
    name: 'event_recorder_events_total',
    type: 'counter',
    help: 'Kubernetes Events, by outcome: sent, aggregated, dropped, failed.',
    labels: ['outcome'],
  },
} as const satisfies Record<string, MetricDefinition>;

/**
 * The metrics of one process, in a registry of their own. Other parts add theirs to {@link Metrics.registry}.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly reconcileTotal: Counter<'controller' | 'result'>;
  readonly reconcileErrors: Counter<'controller'>;
  readonly reconcileTime: Histogram<'controller'>;
  readonly activeWorkers: Gauge<'controller'>;
  readonly maxConcurrentReconciles: Gauge<'controller'>;
  readonly leader: Gauge<'name'>;
  readonly restRequests: Counter<'code' | 'method' | 'host'>;
  readonly events: Counter<'outcome'>;
  readonly #queueDepth: Gauge<'name' | 'controller' | 'priority'>;
  readonly #queueAdds: Counter<'name' | 'controller'>;
  readonly #queueDuration: Histogram<'name' | 'controller'>;
  readonly #workDuration: Histogram<'name' | 'controller'>;
  readonly #queueRetries: Counter<'name' | 'controller'>;
  readonly #queues = new Map<string, WorkQueue>();

  constructor() {
    this.reconcileTotal = this.counter(METRICS.reconcileTotal);
    this.reconcileErrors = this.counter(METRICS.reconcileErrors);
    this.reconcileTime = this.histogram(METRICS.reconcileTime);
    this.activeWorkers = this.gauge(METRICS.activeWorkers);
    this.maxConcurrentReconciles = this.gauge(METRICS.maxConcurrentReconciles);
    this.#queueDepth = this.gauge(METRICS.queueDepth);
    this.#queueAdds = this.counter(METRICS.queueAdds);
    this.#queueDuration = this.histogram(METRICS.queueDuration);
    this.#workDuration = this.histogram(METRICS.workDuration);
    this.#queueRetries = this.counter(METRICS.queueRetries);
    this.leader = this.gauge(METRICS.leader);
    this.restRequests = this.counter(METRICS.restRequests);
    this.events = this.counter(METRICS.events);
    // These are ages: they are worked out when somebody asks.
    this.gauge(METRICS.oldestWait, (gauge) => {
      for (const [name, queue] of this.#queues) {
        gauge.set({ name, controller: name }, queue.oldestWaitMs / 1_000);
      }
    });
    this.gauge(METRICS.unfinishedWork, (gauge) => {
      for (const [name, queue] of this.#queues) {
        gauge.set({ name, controller: name }, queue.unfinished.totalMs / 1_000);
      }
    });
    this.gauge(METRICS.longestRunning, (gauge) => {
      for (const [name, queue] of this.#queues) {
        gauge.set({ name, controller: name }, queue.unfinished.longestMs / 1_000);
      }
    });
  }

  /** Registers a counter from its definition. */
  counter<L extends string>(definition: MetricDefinition & { labels: readonly L[] }): Counter<L> {
    return new Counter({
      ...base(definition),
      labelNames: [...definition.labels],
      registers: [this.registry],
    });
  }

  /** Registers a gauge; `collect` is called before each scrape to set it. */
  gauge<L extends string>(
    definition: MetricDefinition & { labels: readonly L[] },
    collect?: (gauge: Gauge<L>) => void,
  ): Gauge<L> {
    return new Gauge({
      ...base(definition),
      labelNames: [...definition.labels],
      registers: [this.registry],
      ...(collect === undefined
        ? {}
        : {
            collect(this: Gauge<L>) {
              collect(this);
            },
          }),
    });
  }

  /** Registers a histogram from its definition. */
  histogram<L extends string>(definition: MetricDefinition & { labels: readonly L[] }): Histogram<L> {
    return new Histogram({
      ...base(definition),
      labelNames: [...definition.labels],
      ...(definition.buckets === undefined ? {} : { buckets: [...definition.buckets] }),
      registers: [this.registry],
    });
  }

  /** What a queue called `name` reports to. */
  queueObserver(name: string): QueueObserver {
    const labels = { name, controller: name };
    for (const priority of LANES) this.#queueDepth.set({ ...labels, priority }, 0);
    return {
      added: () => this.#queueAdds.inc(labels),
      depth: (priority, length) => this.#queueDepth.set({ ...labels, priority }, length),
      waited: (ms) => this.#queueDuration.observe(labels, ms / 1_000),
      worked: (ms) => this.#workDuration.observe(labels, ms / 1_000),
      retried: () => this.#queueRetries.inc(labels),
    };
  }

  /** Shows the age of the work in `queue` under `name`. */
  watchQueue(name: string, queue: WorkQueue): void {
    this.#queues.set(name, queue);
  }

  /** The text format of Prometheus, for `/metrics`. */
  render(): Promise<string> {
    return this.registry.metrics();
  }
}

function base(definition: MetricDefinition): { name: string; help: string } {
  return { name: definition.name, help: definition.help };
}
