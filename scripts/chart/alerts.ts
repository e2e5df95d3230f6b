/** One alert: the expression is PromQL; `job="boxwright"` is what the chart's monitors set. */
interface Alert {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: 'critical' | 'warning' };
  annotations: { summary: string; description: string };
}

const rules: Alert[] = [
  alert('critical', 'BoxwrightDown', '5m', 'absent(up{job="boxwright"} == 1)', {
    summary: 'No operator pod answers.',
    description:
      'Nothing is brought in step and no finalizer ends. See the pods, their events and the logs of the last one that ran.',
  }),
  alert(
    'critical',
    'BoxwrightNoLeader',
    '5m',
    'max(leader_election_master_status{job="boxwright"}) < 1 and on () count(up{job="boxwright"} == 1) > 0',
    {
      summary: 'Operator pods run, but none leads.',
      description: 'Look for "leader election" in the logs, and at the Lease in the operator’s namespace.',
    },
  ),
  alert(
    'warning',
    'BoxwrightPassesFail',
    '15m',
    'sum by (controller) (rate(controller_runtime_reconcile_errors_total{job="boxwright"}[5m])) > 0.1',
    {
      summary: 'Passes over {{ $labels.controller }} resources fail again and again.',
      description: 'The log names the resource and the error; the conditions of the resource say what to do.',
    },
  ),
  alert(
    'warning',
    'BoxwrightPassStuck',
    '10m',
    'max by (name) (workqueue_longest_running_processor_seconds{job="boxwright"}) > 600',
    {
      summary: 'A pass over a {{ $labels.name }} has been running for more than ten minutes.',
      description:
        'A call does not end. The next leader begins anew: delete the pod that leads, and report it.',
    },
  ),
  alert('warning', 'BoxwrightQueueGrows', '15m', 'sum by (name) (workqueue_depth{job="boxwright"}) > 500', {
    summary: 'More than 500 {{ $labels.name }} resources wait for their turn.',
    description: 'The service or its pace is too slow for what has changed. See spec.pace of the Connection.',
  }),
  alert(
    'warning',
    'BoxwrightServiceFails',
    '10m',
    [
      'sum by (connection) (rate(boxwright_service_requests_total{job="boxwright",outcome!="ok"}[5m]))',
      '/ sum by (connection) (rate(boxwright_service_requests_total{job="boxwright"}[5m])) > 0.2',
    ].join(' '),
    {
      summary: 'More than a fifth of the calls of connection {{ $labels.connection }} fail.',
      description:
        'See by outcome which, and the conditions of the Connection. What is deployed goes on running.',
    },
  ),
  alert(
    'critical',
    'BoxwrightCredentialsRejected',
    '5m',
    'sum by (connection) (increase(boxwright_service_requests_total{job="boxwright",outcome="CredentialsRejected"}[15m])) > 0',
    {
      summary: 'The service refuses the credentials of connection {{ $labels.connection }}.',
      description:
        'Put a token that is valid into the Secret that the Connection names: it is noticed by itself.',
    },
  ),
];

/** Rule groups of Prometheus. */
export const ALERTS = { groups: [{ name: 'boxwright', rules }] };

/** The alerts as the Prometheus operator takes them, for kustomize. */
export function prometheusRule(): object {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'boxwright-operator', namespace: 'boxwright-system' },
    spec: ALERTS,
  };
}

function alert(
  severity: Alert['labels']['severity'],
  name: string,
  after: string,
  expr: string,
  annotations: Alert['annotations'],
): Alert {
  return { alert: name, expr, for: after, labels: { severity }, annotations };
}
