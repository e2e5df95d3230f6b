import { MEMORY_METRICS } from '../src/cli/operator/memory-metrics.ts';
import { PROCESS_METRICS } from '../src/cli/operator/process-metrics.ts';
import { SERVICE_METRICS } from '../src/cli/operator/service-metrics.ts';
import { TRACE_METRICS } from '../src/cli/operator/traces/trace-metrics.ts';
import { DOMAIN_METRICS } from '../src/controllers/metrics/index.ts';
import { METRICS, type MetricDefinition } from '../src/kube/index.ts';

/** Metrics that belong together, as the reference shows them. */
export interface MetricGroup {
  title: string;
  about: string;
  metrics: readonly MetricDefinition[];
}

/** Every metric that a table of ours defines. */
export const METRIC_GROUPS: readonly MetricGroup[] = [
  {
    title: 'Resources, operations, leases and connections',
    about:
      'Only the replica that leads has the gauges, so sums over pods are right. The one label with names in it is ' +
      '`connection` (`namespace/name`), since there are few and they are what has to be found. Where a ' +
      'namespace has more than 100, the rest counts together as `<namespace>/*`. No other resource is named, so the ' +
      'number of series does not grow with them.',
    metrics: Object.values(DOMAIN_METRICS),
  },
  {
    title: 'Calls to the service',
    about: 'One series a connection, method and path template; ids never show.',
    metrics: Object.values(SERVICE_METRICS),
  },
  {
    title: 'Controllers, queues, leader election, API server',
    about: 'Under the names that controller-runtime and client-go made standard, where they have them.',
    metrics: Object.values(METRICS),
  },
  {
    title: 'The process',
    about:
      'Besides these there are `process_*` and `nodejs_*` of prom-client: memory, processor, event loop, garbage collection.',
    metrics: [
      ...Object.values(PROCESS_METRICS),
      ...Object.values(MEMORY_METRICS),
      ...Object.values(TRACE_METRICS),
    ],
  },
];

/** All of them in a row. */
export const ALL_METRICS: readonly MetricDefinition[] = METRIC_GROUPS.flatMap(({ metrics }) => metrics);
