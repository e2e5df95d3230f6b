/** A panel: what it shows, in which unit, and the queries with their legends. */
export interface Panel {
  title: string;
  type: 'stat' | 'timeseries';
  unit: string;
  queries: readonly (readonly [expr: string, legend: string])[];
}

/** Panels under one heading. */
export interface Row {
  title: string;
  panels: readonly Panel[];
}

/** `$namespace` is the dashboard's variable. */
const OURS = 'job="boxwright",namespace=~"$namespace"';

/** What the dashboard shows, from the outside in: resources, operations, connections, the operator itself. */
export const ROWS: readonly Row[] = [
  row('At a glance', [
    stat('Stalled', 'short', `sum(boxwright_resources{${OURS},state="Stalled"}) or vector(0)`),
    stat('On their way', 'short', `sum(boxwright_resources{${OURS},state="Reconciling"}) or vector(0)`),
    stat('Being deleted', 'short', `sum(boxwright_resources_deleting{${OURS}})`),
    stat(
      'Claimed by another installation',
      'short',
      `sum(boxwright_resources_claimed_elsewhere{${OURS}}) or vector(0)`,
    ),
    stat('Leases that end soon', 'short', `sum(boxwright_leases_expiring{${OURS}})`),
    stat(
      'Services out',
      'short',
      `count(boxwright_service_breaker_state{${OURS},state="closed"} == 0) or vector(0)`,
    ),
    stat(
      'Credentials that fail',
      'short',
      `count(boxwright_connection_credentials_failing_since_timestamp_seconds{${OURS}}) or vector(0)`,
    ),
  ]),
  row('Resources', [
    series('Resources by state', 'short', [
      `sum by (kind, state) (boxwright_resources{${OURS}})`,
      '{{kind}} {{state}}',
    ]),
    series('Stalled, by reason', 'short', [
      `sum by (kind, reason) (boxwright_resources{${OURS},state="Stalled"})`,
      '{{kind}} {{reason}}',
    ]),
    series('On their way, by reason', 'short', [
      `sum by (kind, reason) (boxwright_resources{${OURS},state="Reconciling"})`,
      '{{kind}} {{reason}}',
    ]),
    series('Longest on its way', 's', [
      `time() - min by (kind) (boxwright_resource_not_ready_oldest_timestamp_seconds{${OURS}})`,
      '{{kind}}',
    ]),
    series('Time until Ready, 95 %', 's', [
      quantile('boxwright_resource_not_ready_duration_seconds', 'kind', '1h'),
      '{{kind}}',
    ]),
    series(
      'Deletions: longest under way, and time, 95 %',
      's',
      [
        `time() - min by (kind) (boxwright_resource_deletion_oldest_timestamp_seconds{${OURS}})`,
        '{{kind}} under way',
      ],
      [quantile('boxwright_resource_deletion_duration_seconds', 'kind', '1h'), '{{kind}} 95 %'],
    ),
    series(
      'Drift',
      'short',
      [`sum by (kind, action) (increase(boxwright_drift_total{${OURS}}[1h]))`, '{{kind}} {{action}} in 1 h'],
      [`sum by (kind) (boxwright_resources_drifted{${OURS}})`, '{{kind}} drifted'],
    ),
    series('Writes of status', 'ops', [
      `sum by (kind) (rate(boxwright_status_writes_total{${OURS}}[5m]))`,
      '{{kind}}',
    ]),
  ]),
  row('Operations and leases', [
    series('Operations under way', 'short', [
      `sum by (operation) (boxwright_operations_running{${OURS}})`,
      '{{operation}}',
    ]),
    series('Operations that ended in 1 h', 'short', [
      `sum by (operation, outcome) (increase(boxwright_operations_total{${OURS}}[1h])) > 0`,
      '{{operation}} {{outcome}}',
    ]),
    series('Time of an operation, 95 %', 's', [
      quantile('boxwright_operation_duration_seconds', 'operation', '1h'),
      '{{operation}}',
    ]),
    series(
      'Leases',
      'short',
      [`sum by (operation) (boxwright_leases{${OURS}})`, '{{operation}}'],
      [`sum by (operation) (boxwright_leases_expiring{${OURS}})`, '{{operation}} soon'],
    ),
    series('Time to the next end of a lease', 's', [
      `min by (operation) (boxwright_lease_next_expiry_timestamp_seconds{${OURS}}) - time()`,
      '{{operation}}',
    ]),
    series('Leases carried out in 1 h', 'short', [
      `sum by (operation, by) (increase(boxwright_lease_ends_total{${OURS}}[1h]))`,
      '{{operation}} by {{by}}',
    ]),
  ]),
  row('Connections', [
    series('Calls to the service', 'reqps', [
      `sum by (connection, outcome) (rate(boxwright_service_requests_total{${OURS}}[5m]))`,
      '{{connection}} {{outcome}}',
    ]),
    series('Time of a call to the service, 95 %', 's', [
      quantile('boxwright_service_request_duration_seconds', 'template', '5m'),
      '{{template}}',
    ]),
    series(
      'Breaker not closed, and pauses that the service asked for',
      'short',
      [
        `max by (connection, state) (boxwright_service_breaker_state{${OURS},state!="closed"})`,
        '{{connection}} {{state}}',
      ],
      [`max by (connection) (boxwright_service_pause_seconds{${OURS}})`, '{{connection}} pause, s'],
    ),
    series('Wait for the request budget, 95 %', 's', [
      quantile('boxwright_service_budget_wait_seconds', 'connection, priority', '5m'),
      '{{connection}} {{priority}}',
    ]),
    series(
      'Calls at this moment',
      'short',
      [`sum by (connection) (boxwright_service_calls_in_flight{${OURS}})`, '{{connection}} under way'],
      [`sum by (connection) (boxwright_service_calls_waiting{${OURS}})`, '{{connection}} waiting'],
    ),
    series('Since when credentials fail', 's', [
      `time() - min by (connection) (boxwright_connection_credentials_failing_since_timestamp_seconds{${OURS}})`,
      '{{connection}}',
    ]),
  ]),
  row('Operator', [
    series('Leads', 'short', [`leader_election_master_status{${OURS}}`, '{{pod}}']),
    series('Passes', 'ops', [
      `sum by (controller, result) (rate(controller_runtime_reconcile_total{${OURS}}[5m]))`,
      '{{controller}} {{result}}',
    ]),
    series('Time of a pass, 95 %', 's', [
      quantile('controller_runtime_reconcile_time_seconds', 'controller', '5m'),
      '{{controller}}',
    ]),
    series(
      'Waiting for their turn',
      'short',
      [`sum by (controller, priority) (workqueue_depth{${OURS}})`, '{{controller}} {{priority}}'],
      [`max by (controller) (workqueue_oldest_wait_seconds{${OURS}})`, '{{controller}} oldest, s'],
    ),
    series('Steps', 'ops', [
      `sum by (kind, step) (rate(boxwright_steps_total{${OURS}}[5m]))`,
      '{{kind}} {{step}}',
    ]),
    series('Calls to the API server', 'reqps', [
      `sum by (code, method) (rate(rest_client_requests_total{${OURS}}[5m]))`,
      '{{method}} {{code}}',
    ]),
    series(
      'Events, and spans of traces that were dropped',
      'ops',
      [`sum by (outcome) (rate(event_recorder_events_total{${OURS}}[5m]))`, '{{outcome}}'],
      [`sum by (reason) (rate(boxwright_trace_spans_dropped_total{${OURS}}[5m]))`, 'spans {{reason}}'],
    ),
    series('Memory', 'bytes', [`process_resident_memory_bytes{${OURS}}`, '{{pod}}']),
    series(
      'Memory for answers and contents',
      'bytes',
      [`boxwright_memory_held_bytes{${OURS}}`, '{{pod}} {{use}}'],
      [`boxwright_memory_budget_bytes{${OURS}}`, '{{pod}} budget'],
    ),
    series(
      'Waiting for memory, and refused',
      'short',
      [`boxwright_memory_waiting{${OURS}}`, '{{pod}} waiting'],
      [`rate(boxwright_memory_refused_total{${OURS}}[5m])`, '{{pod}} refused, 1/s'],
    ),
    series('Processor', 'short', [`rate(process_cpu_seconds_total{${OURS}}[5m])`, '{{pod}}']),
    series('Event loop lag, 99 %', 's', [`nodejs_eventloop_lag_p99_seconds{${OURS}}`, '{{pod}}']),
  ]),
];

function quantile(metric: string, by: string, over: string): string {
  return `histogram_quantile(0.95, sum by (le, ${by}) (rate(${metric}_bucket{${OURS}}[${over}])))`;
}

function row(title: string, panels: readonly Panel[]): Row {
  return { title, panels };
}

function stat(title: string, unit: string, expr: string): Panel {
  return { title, type: 'stat', unit, queries: [[expr, title]] };
}

function series(title: string, unit: string, ...queries: Panel['queries']): Panel {
  return { title, type: 'timeseries', unit, queries };
}
