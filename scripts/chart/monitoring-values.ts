import { alerts, RUNBOOKS, THRESHOLDS } from './alerts.ts';
import { group, flag, map, piece, text, texts, whole, duration, type Field, type Group } from './fields.ts';
import { monitorAccess, servingValues } from './serving-values.ts';

/** Values about metrics, alerts and the dashboard. */
export function monitoringValues(): Group {
  return group('Metrics. All that needs the Prometheus operator or Grafana is off by default.', {
    ...servingValues(),
    service: group('A Service for the metrics.', {
      enabled: flag(true, 'Create it.'),
      annotations: map({}, 'Annotations on it, such as `prometheus.io/scrape: "true"`.'),
    }),
    serviceMonitor: group('ServiceMonitor (monitoring.coreos.com); needs the Service.', monitor()),
    podMonitor: group('PodMonitor (monitoring.coreos.com), instead of it.', monitor()),
    rules: group('Alerts, as a PrometheusRule (monitoring.coreos.com).', {
      enabled: flag(false, 'Create it.'),
      labels: map({}, 'Labels by which Prometheus finds it.'),
      alertLabels: map({}, 'Labels on every alert besides its severity, for routing.'),
      disabled: texts([], 'Alerts that are left out, by name.', { enum: alerts.map(({ name }) => name) }),
      runbookUrl: text(RUNBOOKS, 'Where the runbooks are: `/<alert>.md` is appended.', {
        pattern: '^https?://',
      }),
      thresholds: group('When they are told.', thresholds()),
    }),
    dashboard: group('Grafana dashboard, as a ConfigMap that Grafana’s sidecar picks up.', {
      enabled: flag(false, 'Create it.'),
      labels: map({ grafana_dashboard: '1' }, 'Labels by which the sidecar finds it.'),
      annotations: map({}, 'Annotations, such as the folder.'),
    }),
  });
}

function monitor(): Record<string, Field> {
  return {
    enabled: flag(false, 'Create it.'),
    labels: map({}, 'Labels by which Prometheus finds it.'),
    interval: duration('30s', 'Between two scrapes.'),
    scrapeTimeout: duration('10s', 'How long one may take.'),
    ...monitorAccess(),
    metricRelabelings: piece([], 'Changes to metrics before they are stored.'),
  };
}

function thresholds(): Record<string, Field> {
  return Object.fromEntries(
    Object.entries(THRESHOLDS).map(([name, { value, meaning }]) => [
      name,
      typeof value === 'number' ? whole(value, meaning, 0, 1_000_000_000) : duration(value, meaning),
    ]),
  );
}
