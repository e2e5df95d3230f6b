export { DOMAIN_METRICS } from './definitions.ts';
export { DomainMetrics, type ClientStanding } from './domain-metrics.ts';
export { ConnectionLabels } from './connection-label.ts';
