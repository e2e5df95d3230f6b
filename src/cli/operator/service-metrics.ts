import type { Counter, Histogram } from 'prom-client';
import { ConnectionLabels } from '../../controllers/metrics/index.ts';
import type { MetricDefinition, Metrics } from '../../kube/index.ts';
import type { CallReport } from '../../service/index.ts';

const CALL_LABELS = ['connection', 'method', 'template'] as const;

/** The metrics of calls to the service. The reference in the docs is generated from this table. */
export const SERVICE_METRICS = {
  requests: {
    name: 'boxwright_service_requests_total',
    type: 'counter',
    help: 'Calls to the service, by connection (namespace/name), method, path template and outcome: ok, or the code of the error.',
    labels: [...CALL_LABELS, 'outcome'],
  },
  duration: {
    name: 'boxwright_service_request_duration_seconds',
    type: 'histogram',
    help: 'From sending a call to the end of its answer, seconds; calls that were not sent do not count.',
    labels: CALL_LABELS,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  budgetWait: {
    name: 'boxwright_service_budget_wait_seconds',
    type: 'histogram',
    help: 'How long calls stood in line for the request budget of their connection (namespace/name), by priority: edit (somebody changed what was in place), normal (what is begun, or deleted, goes on), new (somebody made something), periodic; seconds.',
    labels: ['connection', 'priority'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
  },
} as const satisfies Record<string, MetricDefinition>;

/** Counts what the operator sends to the service. */
export class ServiceMetrics {
  readonly #requests: Counter<(typeof SERVICE_METRICS.requests.labels)[number]>;
  readonly #duration: Histogram<(typeof SERVICE_METRICS.duration.labels)[number]>;

  readonly #budgetWait: Histogram<(typeof SERVICE_METRICS.budgetWait.labels)[number]>;

  readonly #labels = new ConnectionLabels();
  /** The series of each label of connections, so that they go with it. */
  readonly #series = new Map<string, Map<string, () => void>>();

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter(SERVICE_METRICS.requests);
    this.#duration = metrics.histogram(SERVICE_METRICS.duration);
    this.#budgetWait = metrics.histogram(SERVICE_METRICS.budgetWait);
  }

  /** Counts one finished call of a connection, `namespace/name`. */
  count(key: string, { method, template, outcome, ms, lane, waitedMs }: CallReport): void {
    const connection = this.#labels.of(key);
    const request = { connection, method, template, outcome };
    this.#requests.inc(request);
    this.#note(connection, `${method} ${template} ${outcome}`, () => this.#requests.remove(request));
    if (waitedMs !== undefined) {
      const line = { connection, priority: lane };
      this.#budgetWait.observe(line, waitedMs / 1_000);
      this.#note(connection, lane, () => this.#budgetWait.remove(line));
    }
    if (ms > 0) {
      const call = { connection, method, template };
      this.#duration.observe(call, ms / 1_000);
      this.#note(connection, `${method} ${template}`, () => this.#duration.remove(call));
    }
  }

  /** The connection is gone, and its series with it. */
  forget(key: string): void {
    const connection = this.#labels.forget(key);
    if (connection === undefined) return;
    for (const remove of this.#series.get(connection)?.values() ?? []) remove();
    this.#series.delete(connection);
  }

  #note(connection: string, series: string, remove: () => void): void {
    const known = this.#series.get(connection) ?? new Map<string, () => void>();
    this.#series.set(connection, known);
    if (!known.has(series)) known.set(series, remove);
  }
}
