import type { MetricDefinition } from '../../kube/index.ts';

/** 1 s to 4 h: operations take minutes, what waits for a person takes longer. */
const LONG_BUCKETS = [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400];

const KIND = ['kind'] as const;
const CONNECTION = ['connection'] as const;
const OPERATION_OUTCOME = ['operation', 'outcome'] as const;

/**
 * Every metric about the resources and the connections. Labels come from closed lists (kinds, reasons,
 * operations, outcomes, steps); the one exception is `connection`, `namespace/name`: whoever is called at night
 * has to know which login or service it is, and there are few of them (see ConnectionLabels). No other resource is named. Gauges
 * are worked out from the caches when somebody asks, and only the leader has them: sums over replicas are right.
 */
export const DOMAIN_METRICS = {
  resources: {
    name: 'boxwright_resources',
    type: 'gauge',
    help: 'Resources, by kind, status of Ready, condition that says most (Stalled, else Reconciling, else Ready) and its reason.',
    labels: ['kind', 'ready', 'state', 'reason'],
  },
  notReadyOldest: {
    name: 'boxwright_resource_not_ready_oldest_timestamp_seconds',
    type: 'gauge',
    help: 'Since when the resource of a kind has not been Ready that has not been for longest, Unix time; Stalled, paused and deleted ones do not count. Absent: none.',
    labels: KIND,
  },
  notReadyDuration: {
    name: 'boxwright_resource_not_ready_duration_seconds',
    type: 'histogram',
    help: 'How long a resource was not Ready, told when it became so, seconds.',
    labels: KIND,
    buckets: LONG_BUCKETS,
  },
  foreignClaims: {
    name: 'boxwright_resources_claimed_elsewhere',
    type: 'gauge',
    help: 'Resources whose claim names another installation of Boxwright: nothing is done to them here.',
    labels: KIND,
  },
  deleting: {
    name: 'boxwright_resources_deleting',
    type: 'gauge',
    help: 'Resources whose deletion was asked for and has not ended.',
    labels: KIND,
  },
  deletionOldest: {
    name: 'boxwright_resource_deletion_oldest_timestamp_seconds',
    type: 'gauge',
    help: 'When the oldest deletion that has not ended was asked for, Unix time. Absent: none.',
    labels: KIND,
  },
  deletionDuration: {
    name: 'boxwright_resource_deletion_duration_seconds',
    type: 'histogram',
    help: 'From asking for a deletion to the end of the resource, seconds.',
    labels: KIND,
    buckets: LONG_BUCKETS,
  },
  statusWrites: {
    name: 'boxwright_status_writes_total',
    type: 'counter',
    help: 'Changes of status. Does not move while nothing changes.',
    labels: KIND,
  },
  steps: {
    name: 'boxwright_steps_total',
    type: 'counter',
    help: 'Steps that passes decided on, by kind; those of an Instance that has a record beside its step converge.',
    labels: ['kind', 'step'],
  },
  operations: {
    name: 'boxwright_operations_total',
    type: 'counter',
    help: 'Operations that ended, by outcome: Succeeded, Failed, Superseded (somebody else acted meanwhile), Refused.',
    labels: OPERATION_OUTCOME,
  },
  operationDuration: {
    name: 'boxwright_operation_duration_seconds',
    type: 'histogram',
    help: 'From noting an operation, for the first deploy from its start on the service, to the sight of its end, seconds.',
    labels: OPERATION_OUTCOME,
    buckets: LONG_BUCKETS,
  },
  operationsRunning: {
    name: 'boxwright_operations_running',
    type: 'gauge',
    help: 'Instances with an operation under way.',
    labels: ['operation'],
  },
  drift: {
    name: 'boxwright_drift_total',
    type: 'counter',
    help: 'Differences that somebody else made on a record: Corrected by a write, or Reported in status.',
    labels: ['kind', 'action'],
  },
  drifted: {
    name: 'boxwright_resources_drifted',
    type: 'gauge',
    help: 'Resources whose record differs at present, with driftPolicy Report.',
    labels: KIND,
  },
  leases: {
    name: 'boxwright_leases',
    type: 'gauge',
    help: 'Leases of instances that were declared here and have not ended, by what happens at their end.',
    labels: ['operation'],
  },
  leasesExpiring: {
    name: 'boxwright_leases_expiring',
    type: 'gauge',
    help: 'Those whose end is nearer than their warnBefore.',
    labels: ['operation'],
  },
  leaseNextExpiry: {
    name: 'boxwright_lease_next_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'The earliest end of a lease that was declared here and has not ended, Unix time. Past: it is not carried out. Absent: none.',
    labels: ['operation'],
  },
  leaseEnds: {
    name: 'boxwright_lease_ends_total',
    type: 'counter',
    help: 'Leases that ended and were carried out, by whom: Service or Operator.',
    labels: ['operation', 'by'],
  },
  credentialsFailing: {
    name: 'boxwright_connection_credentials_failing_since_timestamp_seconds',
    type: 'gauge',
    help: 'Since when the credentials of a connection (namespace/name) have been refused or missing, Unix time. Absent: they are good.',
    labels: CONNECTION,
  },
  breaker: {
    name: 'boxwright_service_breaker_state',
    type: 'gauge',
    help: 'Circuit breaker of a connection (namespace/name): 1 for the state it is in (closed, open, halfOpen), else 0.',
    labels: ['connection', 'state'],
  },
  callsWaiting: {
    name: 'boxwright_service_calls_waiting',
    type: 'gauge',
    help: 'Calls that wait for the request budget of a connection (namespace/name).',
    labels: CONNECTION,
  },
  callsInFlight: {
    name: 'boxwright_service_calls_in_flight',
    type: 'gauge',
    help: 'Calls of a connection (namespace/name) that are under way.',
    labels: CONNECTION,
  },
  pause: {
    name: 'boxwright_service_pause_seconds',
    type: 'gauge',
    help: 'For how long a connection (namespace/name) still sends nothing because the service asked for it, seconds.',
    labels: CONNECTION,
  },
} as const satisfies Record<string, MetricDefinition>;
