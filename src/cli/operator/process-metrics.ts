import { collectDefaultMetrics } from 'prom-client';
import type { MetricDefinition, Metrics } from '../../kube/index.ts';
import { version } from '../version.ts';

/** Besides prom-client's own `process_*` and `nodejs_*`. */
export const PROCESS_METRICS = {
  build: {
    name: 'boxwright_build_info',
    type: 'gauge',
    help: '1, with the versions of this process as labels.',
    labels: ['version', 'node'],
  },
} as const satisfies Record<string, MetricDefinition>;

/** Memory, CPU, event loop and version of the process, in the registry of one operator. */
export class ProcessMetrics {
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    collectDefaultMetrics({ register: metrics.registry });
    metrics.gauge(PROCESS_METRICS.build).set({ version, node: process.version }, 1);
  }

  stop(): void {
    // Empties the registry: its gauges hold observers of the garbage collector and the event loop.
    this.#metrics.registry.clear();
  }
}
