import type { MetricDefinition } from '../../../kube/index.ts';

/** The metrics of the traces themselves. */
export const TRACE_METRICS = {
  dropped: {
    name: 'boxwright_trace_spans_dropped_total',
    type: 'counter',
    help: 'Spans that did not get to the collector, by reason: full (too many waited), refused, unreachable, ended (the process did not wait for it).',
    labels: ['reason'],
  },
} as const satisfies Record<string, MetricDefinition>;
