/** One alert. Expression and `for` may hold `$job`, the labels of our pods, and `$<threshold>`. */
export interface Alert {
  name: string;
  severity: 'critical' | 'warning' | 'info';
  for: string;
  expr: string;
  summary: string;
  description: string;
}

const ALERTS: Readonly<Record<string, Omit<Alert, 'name'>>> = {
  BoxwrightDown: {
    severity: 'critical',
    for: '5m',
    expr: 'absent(up{$job} == 1)',
    summary: 'No operator pod answers.',
    description: 'Nothing is brought in step and no deletion ends. What is deployed goes on running.',
  },
  BoxwrightNoLeader: {
    severity: 'critical',
    for: '5m',
    expr: 'max(leader_election_master_status{$job}) < 1 and on () count(up{$job} == 1) > 0',
    summary: 'Operator pods run, but none leads.',
    description: 'Nothing is brought in step until one of them gets the leader lease.',
  },
  BoxwrightPassesFail: {
    severity: 'warning',
    for: '15m',
    expr: 'sum by (controller) (rate(controller_runtime_reconcile_errors_total{$job}[5m])) * 60 > $passErrorsPerMinute',
    summary: 'Passes over {{ $labels.controller }} resources fail again and again.',
    description: '{{ $value | humanize }} a minute end with an error, which the log tells with the resource.',
  },
  BoxwrightPassStuck: {
    severity: 'warning',
    for: '5m',
    expr: 'max by (controller) (workqueue_longest_running_processor_seconds{$job}) > $passSeconds',
    summary: 'A pass over a {{ $labels.controller }} does not end.',
    description: 'It has been running for {{ $value | humanizeDuration }}, and its resource stands still.',
  },
  BoxwrightQueueSlow: {
    severity: 'warning',
    for: '15m',
    expr: 'max by (controller) (workqueue_oldest_wait_seconds{$job}) > $queueWaitSeconds',
    summary: 'Changes of {{ $labels.controller }} resources wait too long for their turn.',
    description: 'The first in line has waited for {{ $value | humanizeDuration }}.',
  },
  BoxwrightEventLoopBlocked: {
    severity: 'warning',
    for: '15m',
    expr: 'max by (pod) (nodejs_eventloop_lag_p99_seconds{$job}) * 1000 > $eventLoopLagMilliseconds',
    summary: 'The operator pod {{ $labels.pod }} is too busy to keep time.',
    description: 'Timers fire {{ $value | humanize }} ms late: the leader lease is in danger.',
  },
  BoxwrightKubeApiFails: {
    severity: 'warning',
    for: '15m',
    expr:
      'sum(rate(rest_client_requests_total{$job,code=~"401|403|429|5..|<error>"}[5m])) ' +
      '/ sum(rate(rest_client_requests_total{$job}[5m])) * 100 > $kubeFailurePercent',
    summary: 'The API server refuses or fails many calls of the operator.',
    description: '{{ $value | humanize }} % of its calls get no good answer.',
  },
  BoxwrightServiceUnavailable: {
    severity: 'critical',
    for: '10m',
    expr: 'max by (connection) (boxwright_service_breaker_state{$job,state="closed"}) == 0',
    summary: 'The service behind connection {{ $labels.connection }} does not answer.',
    description:
      'Its breaker is open: calls are only probed. What is deployed goes on running, changes wait and are made up for by themselves.',
  },
  BoxwrightServiceFails: {
    severity: 'warning',
    for: '10m',
    expr:
      'sum by (connection) (rate(boxwright_service_requests_total{$job,outcome!~"ok|NotFound|BreakerOpen"}[5m])) ' +
      '/ sum by (connection) (rate(boxwright_service_requests_total{$job,outcome!="BreakerOpen"}[5m])) * 100 > $serviceFailurePercent',
    summary: 'Many calls of connection {{ $labels.connection }} fail.',
    description: '{{ $value | humanize }} % of its calls to the service get no good answer.',
  },
  BoxwrightBudgetExhausted: {
    severity: 'warning',
    for: '15m',
    expr: 'histogram_quantile(0.95, sum by (le, connection) (rate(boxwright_service_budget_wait_seconds_bucket{$job,priority=~"edit|new"}[10m]))) > $budgetWaitSeconds',
    summary: 'Changes wait for the request budget of connection {{ $labels.connection }}.',
    description: 'One call in twenty waits for {{ $value | humanizeDuration }} or longer.',
  },
  BoxwrightCredentialsFail: {
    severity: 'critical',
    for: '1m',
    expr: 'time() - min by (connection) (boxwright_connection_credentials_failing_since_timestamp_seconds{$job}) > $credentialsFailingSeconds',
    summary: 'The credentials of connection {{ $labels.connection }} are refused or missing.',
    description:
      'For {{ $value | humanizeDuration }} nothing that uses it has been brought in step. A Secret that is put right is noticed by itself.',
  },
  BoxwrightResourcesStalled: {
    severity: 'warning',
    for: '$stalledFor',
    expr: 'sum by (kind, reason) (boxwright_resources{$job,state="Stalled"}) > 0',
    summary: '{{ $value }} {{ $labels.kind }} resources are stalled: {{ $labels.reason }}.',
    description: 'Waiting does not help them: somebody has to act. Their conditions say on what.',
  },
  BoxwrightNotReady: {
    severity: 'warning',
    for: '5m',
    expr: 'time() - min by (kind) (boxwright_resource_not_ready_oldest_timestamp_seconds{$job}) > $notReadySeconds',
    summary: 'A resource of kind {{ $labels.kind }} does not become Ready.',
    description: 'It has been waiting or on its way for {{ $value | humanizeDuration }}.',
  },
  BoxwrightDeletionStuck: {
    severity: 'warning',
    for: '5m',
    expr: 'time() - min by (kind) (boxwright_resource_deletion_oldest_timestamp_seconds{$job}) > $deletionSeconds',
    summary: 'The deletion of a resource of kind {{ $labels.kind }} does not end.',
    description: 'It was asked for {{ $value | humanizeDuration }} ago; a namespace may wait for it.',
  },
  BoxwrightOperationsFail: {
    severity: 'warning',
    for: '1m',
    expr: 'sum by (operation) (increase(boxwright_operations_total{$job,outcome=~"Failed|Refused"}[30m])) > $operationFailures',
    summary: 'Operations fail: {{ $labels.operation }}.',
    description: '{{ $value | humanize }} of them have failed or were refused within 30 minutes.',
  },
  BoxwrightDriftReturns: {
    severity: 'warning',
    for: '5m',
    expr: 'sum by (kind) (increase(boxwright_drift_total{$job,action="Corrected"}[1h])) > $corrections',
    summary: 'Somebody else keeps changing records of kind {{ $labels.kind }}.',
    description: 'The operator has put {{ $value | humanize }} of them right within an hour.',
  },
  BoxwrightLeaseOverdue: {
    severity: 'warning',
    for: '5m',
    expr: 'time() - min by (operation) (boxwright_lease_next_expiry_timestamp_seconds{$job}) > $leaseOverdueSeconds',
    summary: 'A lease has ended and is not carried out: {{ $labels.operation }}.',
    description: 'Its end was {{ $value | humanizeDuration }} ago, and the machines still run and cost.',
  },
  BoxwrightLeasesExpiring: {
    severity: 'info',
    for: '1m',
    expr: 'sum(boxwright_leases_expiring{$job,operation="Terminate"}) > 0',
    summary: '{{ $value }} instances are about to be terminated by their leases.',
    description: 'Whoever still needs one has to renew its lease before it ends.',
  },
};

/** Every alert. Each has its page in docs/runbooks. */
export const alerts: readonly Alert[] = Object.entries(ALERTS).map(([name, alert]) => ({ name, ...alert }));

/** What `$<name>` in an alert stands for: a value of the chart. */
export const THRESHOLDS: Readonly<Record<string, { value: number | string; meaning: string }>> = {
  passErrorsPerMinute: {
    value: 6,
    meaning: 'BoxwrightPassesFail: more failed passes of one controller a minute.',
  },
  passSeconds: { value: 600, meaning: 'BoxwrightPassStuck: a pass takes longer, seconds.' },
  queueWaitSeconds: { value: 300, meaning: 'BoxwrightQueueSlow: a key waits longer for a worker, seconds.' },
  eventLoopLagMilliseconds: {
    value: 500,
    meaning: 'BoxwrightEventLoopBlocked: timers fire later by more, milliseconds.',
  },
  kubeFailurePercent: {
    value: 10,
    meaning: 'BoxwrightKubeApiFails: more of the calls to the API server fail, percent.',
  },
  serviceFailurePercent: {
    value: 20,
    meaning: 'BoxwrightServiceFails: more of the calls of a connection fail, percent.',
  },
  budgetWaitSeconds: {
    value: 30,
    meaning: 'BoxwrightBudgetExhausted: a change waits longer for the request budget, seconds.',
  },
  credentialsFailingSeconds: {
    value: 300,
    meaning: 'BoxwrightCredentialsFail: credentials have failed for longer, seconds.',
  },
  stalledFor: { value: '15m', meaning: 'BoxwrightResourcesStalled: how long until it is told.' },
  notReadySeconds: {
    value: 3_600,
    meaning: 'BoxwrightNotReady: longer on its way, seconds. More than the longest operationTimeout in use.',
  },
  deletionSeconds: { value: 3_600, meaning: 'BoxwrightDeletionStuck: a deletion takes longer, seconds.' },
  operationFailures: { value: 3, meaning: 'BoxwrightOperationsFail: more of one operation in 30 minutes.' },
  corrections: { value: 20, meaning: 'BoxwrightDriftReturns: more corrections of one kind in an hour.' },
  leaseOverdueSeconds: {
    value: 900,
    meaning: 'BoxwrightLeaseOverdue: the end of a lease is past by more, seconds.',
  },
};

/** Where the runbooks are, unless values say otherwise. */
export const RUNBOOKS = 'https://github.com/boxwright/boxwright/blob/main/docs/runbooks';

/** The labels that the monitors of the chart give what they scrape. */
export const JOB = 'job="boxwright"';
