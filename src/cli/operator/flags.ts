import type { FlagTable, FlagValues } from '../flags.ts';

/** Every flag of `boxwright operator`. */
export const OPERATOR_FLAGS = {
  kubeconfig: {
    flag: '--kubeconfig <file>',
    env: 'BOXWRIGHT_KUBECONFIG',
    type: 'text',
    defaultText: '$KUBECONFIG, ~/.kube/config, or the pod’s service account',
    description: 'how to reach the cluster',
  },
  context: {
    flag: '--context <name>',
    env: 'BOXWRIGHT_CONTEXT',
    type: 'text',
    defaultText: 'the current one',
    description: 'context of the kubeconfig',
  },
  inCluster: {
    flag: '--in-cluster [boolean]',
    env: 'BOXWRIGHT_IN_CLUSTER',
    type: 'boolean',
    default: false,
    description: 'use the pod’s service account whatever else is there',
  },
  namespace: {
    flag: '--namespace <name>',
    env: 'POD_NAMESPACE',
    type: 'text',
    defaultText: 'the pod’s own, else boxwright-system',
    description: 'the operator’s own namespace, where its key, its installation id and its leader lease are',
  },
  namespaces: {
    flag: '--namespaces <names>',
    env: 'BOXWRIGHT_NAMESPACES',
    type: 'list',
    default: [] as readonly string[],
    defaultText: 'all',
    // A variable that somebody forgot to fill must not widen what is looked after.
    atLeastOne: true,
    description: 'look after these namespaces only (repeatable, or with commas); needs no rights elsewhere',
  },
  installationId: {
    flag: '--installation-id <id>',
    env: 'BOXWRIGHT_INSTALLATION_ID',
    type: 'text',
    description: 'confirms which installation this is, after a restore or a move to another cluster',
  },
  restore: {
    flag: '--restore [boolean]',
    env: 'BOXWRIGHT_RESTORE',
    type: 'boolean',
    default: false,
    description:
      'for one start after a restore: let claims of this installation count that are not sealed, or whose key is lost, where the record has the type, owner and name of the resource and nobody else has it',
  },
  watchSecrets: {
    flag: '--watch-secrets [boolean]',
    env: 'BOXWRIGHT_WATCH_SECRETS',
    type: 'boolean',
    default: false,
    description:
      'follow the metadata of Secrets, so that an edited one is seen at once; needs list and watch on secrets',
  },
  secretSelector: {
    flag: '--secret-selector <labels>',
    env: 'BOXWRIGHT_SECRET_SELECTOR',
    type: 'text',
    defaultText: 'every Secret that a resource names',
    description:
      'read only Secrets that carry these labels: key=value, or key for any value; with commas, all of them',
  },
  keepCredentials: {
    flag: '--keep-credentials-for-deletion [boolean]',
    env: 'BOXWRIGHT_KEEP_CREDENTIALS_FOR_DELETION',
    type: 'boolean',
    default: false,
    description:
      'keep credentials of Connections that are being deleted, encrypted in one Secret, for a day at most: a restart in the middle then loses no record',
  },
  allowedHosts: {
    flag: '--allowed-hosts <hosts>',
    env: 'BOXWRIGHT_ALLOWED_HOSTS',
    type: 'list',
    default: [] as readonly string[],
    defaultText: 'none',
    description:
      'hosts that a Connection may name: exact names, *.example.com, or * for every host. Without a port only the default port of https or http is allowed; host:8443 and host:* allow others (repeatable, or with commas)',
  },
  allowInsecure: {
    flag: '--allow-insecure [boolean]',
    env: 'BOXWRIGHT_ALLOW_INSECURE',
    type: 'boolean',
    default: false,
    description: 'let a Connection use plain http; for trials',
  },
  allowLoopback: {
    flag: '--allow-loopback [boolean]',
    env: 'BOXWRIGHT_ALLOW_LOOPBACK',
    type: 'boolean',
    default: false,
    description: 'let a Connection name a loopback address; for trials',
  },
  leaderElect: {
    flag: '--leader-elect [boolean]',
    env: 'BOXWRIGHT_LEADER_ELECT',
    type: 'boolean',
    default: true,
    description: 'work only while holding the leader lease, so that several replicas can wait',
  },
  leaseName: {
    flag: '--leader-lease-name <name>',
    env: 'BOXWRIGHT_LEADER_LEASE_NAME',
    type: 'text',
    default: 'boxwright-operator',
    description: 'name of the leader lease in the own namespace',
  },
  leaseDuration: {
    flag: '--leader-lease-duration <duration>',
    env: 'BOXWRIGHT_LEADER_LEASE_DURATION',
    type: 'duration',
    default: '15s',
    description: 'how long others wait after the last renewal before they take over',
  },
  renewDeadline: {
    flag: '--leader-renew-deadline <duration>',
    env: 'BOXWRIGHT_LEADER_RENEW_DEADLINE',
    type: 'duration',
    default: '10s',
    description: 'without a renewal for so long the leader stops; shorter than the lease',
  },
  retryPeriod: {
    flag: '--leader-retry-period <duration>',
    env: 'BOXWRIGHT_LEADER_RETRY_PERIOD',
    type: 'duration',
    default: '2s',
    description: 'between two renewals, or two looks of who waits',
  },
  metricsAddress: {
    flag: '--metrics-address <address>',
    env: 'BOXWRIGHT_METRICS_ADDRESS',
    type: 'text',
    default: '127.0.0.1:8080',
    description: 'host:port of /metrics, in a pod 0.0.0.0:8443 or so; off for none',
  },
  healthAddress: {
    flag: '--health-address <address>',
    env: 'BOXWRIGHT_HEALTH_ADDRESS',
    type: 'text',
    defaultText: 'that of the metrics; with --metrics-secure 127.0.0.1:8081',
    description: 'host:port of /healthz and /readyz, which need no token; off for none',
  },
  metricsSecure: {
    flag: '--metrics-secure [boolean]',
    env: 'BOXWRIGHT_METRICS_SECURE',
    type: 'boolean',
    default: false,
    description:
      'serve the metrics over TLS, to those only whose bearer token the API server knows and lets get /metrics; needs create on tokenreviews and subjectaccessreviews',
  },
  metricsCertPath: {
    flag: '--metrics-cert-path <folder>',
    env: 'BOXWRIGHT_METRICS_CERT_PATH',
    type: 'text',
    defaultText: 'a self-signed one, made at start',
    description:
      'folder with the certificate of the metrics and its key; they are read again when they change',
  },
  metricsCertName: {
    flag: '--metrics-cert-name <file>',
    env: 'BOXWRIGHT_METRICS_CERT_NAME',
    type: 'text',
    default: 'tls.crt',
    description: 'name of the certificate in --metrics-cert-path',
  },
  metricsCertKey: {
    flag: '--metrics-cert-key <file>',
    env: 'BOXWRIGHT_METRICS_CERT_KEY',
    type: 'text',
    default: 'tls.key',
    description: 'name of the key in --metrics-cert-path',
  },
  metricsClientCa: {
    flag: '--metrics-client-ca <file>',
    env: 'BOXWRIGHT_METRICS_CLIENT_CA',
    type: 'text',
    description:
      'let in who shows a client certificate of this authority, instead of asking the API server about tokens; needs no right',
  },
  metricsClientNames: {
    flag: '--metrics-client-names <names>',
    env: 'BOXWRIGHT_METRICS_CLIENT_NAMES',
    type: 'list',
    default: [] as readonly string[],
    defaultText: 'all of that authority',
    description:
      'common names or DNS names of client certificates that may read (repeatable, or with commas)',
  },
  workers: {
    flag: '--workers <count>',
    env: 'BOXWRIGHT_WORKERS',
    type: 'number',
    default: 64,
    description:
      'resources of one kind and namespace that are worked on at the same time; four times as many in all',
  },
  tracesEndpoint: {
    flag: '--traces-endpoint <url>',
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    type: 'text',
    defaultText: 'no traces',
    description: 'OpenTelemetry collector that takes OTLP over HTTP, such as http://collector:4318',
  },
  logLevel: {
    flag: '--log-level <level>',
    env: 'BOXWRIGHT_LOG_LEVEL',
    type: 'text',
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error'],
    description: 'least level that is logged',
  },
  logFormat: {
    flag: '--log-format <format>',
    env: 'BOXWRIGHT_LOG_FORMAT',
    type: 'text',
    defaultText: 'text on a terminal, else json',
    choices: ['json', 'text'],
    description: 'how log lines are written, to standard error',
  },
} as const satisfies FlagTable;

/** What the flags of `boxwright operator` were given. */
export type OperatorFlags = FlagValues<typeof OPERATOR_FLAGS>;
