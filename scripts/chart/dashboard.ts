interface Panel {
  title: string;
  unit: string;
  queries: readonly (readonly [expr: string, legend: string])[];
}

const JOB = 'job="boxwright"';
const PANELS: readonly Panel[] = [
  panel('Leads', 'short', [`leader_election_master_status{${JOB}}`, '{{pod}}']),
  panel('Passes', 'ops', [
    `sum by (controller, result) (rate(controller_runtime_reconcile_total{${JOB}}[5m]))`,
    '{{controller}} {{result}}',
  ]),
  panel('Passes that failed', 'ops', [
    `sum by (controller) (rate(controller_runtime_reconcile_errors_total{${JOB}}[5m]))`,
    '{{controller}}',
  ]),
  panel('Time of a pass, 95 %', 's', [
    `histogram_quantile(0.95, sum by (le, controller) (rate(controller_runtime_reconcile_time_seconds_bucket{${JOB}}[5m])))`,
    '{{controller}}',
  ]),
  panel('Waiting for their turn', 'short', [
    `sum by (name, priority) (workqueue_depth{${JOB}})`,
    '{{name}} {{priority}}',
  ]),
  panel('Time of waiting, 95 %', 's', [
    `histogram_quantile(0.95, sum by (le, name) (rate(workqueue_queue_duration_seconds_bucket{${JOB}}[5m])))`,
    '{{name}}',
  ]),
  panel('Calls to the service', 'reqps', [
    `sum by (connection, outcome) (rate(boxwright_service_requests_total{${JOB}}[5m]))`,
    '{{connection}} {{outcome}}',
  ]),
  panel('Time of a call to the service, 95 %', 's', [
    `histogram_quantile(0.95, sum by (le, template) (rate(boxwright_service_request_duration_seconds_bucket{${JOB}}[5m])))`,
    '{{template}}',
  ]),
  panel('Calls to the API server', 'reqps', [
    `sum by (code, method) (rate(rest_client_requests_total{${JOB}}[5m]))`,
    '{{method}} {{code}}',
  ]),
  panel('Events', 'ops', [`sum by (outcome) (rate(event_recorder_events_total{${JOB}}[5m]))`, '{{outcome}}']),
  panel('Memory', 'bytes', [`process_resident_memory_bytes{${JOB}}`, '{{pod}}']),
  panel('Event loop lag, 99 %', 's', [`nodejs_eventloop_lag_p99_seconds{${JOB}}`, '{{pod}}']),
];

/** A dashboard of Grafana, two panels a row. */
export function dashboardJson(): string {
  const datasource = { type: 'prometheus', uid: '$datasource' };
  const panels = PANELS.map(({ title, unit, queries }, index) => ({
    id: index + 1,
    type: 'timeseries',
    title,
    datasource,
    gridPos: { x: (index % 2) * 12, y: Math.floor(index / 2) * 8, w: 12, h: 8 },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(([expr, legendFormat], at) => ({
      refId: String.fromCodePoint(65 + at),
      datasource,
      expr,
      legendFormat,
    })),
  }));
  const dashboard = {
    uid: 'boxwright',
    title: 'Boxwright',
    tags: ['boxwright'],
    timezone: 'browser',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels,
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

function panel(title: string, unit: string, ...queries: Panel['queries']): Panel {
  return { title, unit, queries };
}
