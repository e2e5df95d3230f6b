import { group, flag, map, oneOf, piece, text, texts, whole, duration, type Group } from './fields.ts';
import { monitoringValues } from './monitoring-values.ts';
import { networkValues } from './network-values.ts';
import { podValues } from './pod-values.ts';
import { healthValues, reviewsValue } from './serving-values.ts';

const NAME = { pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 };
/** The operator says more of an entry that passes this and can never match. */
const HOST = {
  pattern:
    '^((\\*|(\\*\\.)?[A-Za-z0-9_]([-A-Za-z0-9_.]*[A-Za-z0-9_])?|\\[[0-9A-Fa-f:.]+\\])(:([0-9]{1,5}|\\*))?|[0-9A-Fa-f:]*::[0-9A-Fa-f:.]*)$',
};

/** The one value of both charts that is about CRDs. */
export const CRD_VALUES = group('The definitions of the kinds.', {
  enabled: flag(
    true,
    'Install and upgrade the CRDs with this chart. `false` where the chart boxwright-crds, or somebody else, does it.',
  ),
  keep: flag(
    true,
    'Leave the CRDs, and with them every resource, where they are when the release is uninstalled.',
  ),
});

/** All values of the chart boxwright. */
export const VALUES: Group = group('', {
  nameOverride: text('', 'Replaces the name of the chart in names and labels.', { maxLength: 53 }),
  fullnameOverride: text('', 'Replaces the whole name of what is installed.', { maxLength: 53 }),
  commonLabels: map({}, 'Labels on everything that is installed.'),
  commonAnnotations: map({}, 'Annotations on everything that is installed.'),
  crds: CRD_VALUES,
  allowedHosts: texts(
    [],
    'Hosts that a Connection may name: exact names, `*.example.com`, or `*` for every host. An entry without a port allows only the default port of https or http; `deploy.example.com:8443` and `deploy.example.com:*` allow others. Whoever may write a Connection must not be able to send a credential elsewhere: without an entry nothing is called.',
    HOST,
  ),
  namespaces: texts(
    [],
    'Look after these namespaces only, with a Role in each and nothing cluster-wide (recommended). They must exist. Empty: all namespaces, with a ClusterRole that can read every Secret by name.',
    NAME,
  ),
  installationId: text(
    '',
    'Confirms which installation this is, after a restore or a move to another cluster.',
    {
      maxLength: 63,
    },
  ),
  restore: flag(
    false,
    'For one start after a restore: let claims of this installation count that are not sealed, or whose key is lost, where the record has the type, owner and name of the resource and nobody else has it. Turn it off again afterwards.',
  ),
  allowInsecure: flag(false, 'Let a Connection use plain http. For trials.'),
  allowLoopback: flag(false, 'Let a Connection name a loopback address. For trials.'),
  workers: whole(64, 'Resources of one kind that are worked on at the same time.', 1, 1024),
  log: group('Logging, to standard error.', {
    level: oneOf('info', ['debug', 'info', 'warn', 'error'], 'Least level that is logged.'),
    format: oneOf('json', ['json', 'text'], 'How lines are written.'),
  }),
  traces: group('OpenTelemetry traces: passes over resources, and the calls to services that they make.', {
    endpoint: text(
      '',
      'Collector that takes OTLP over HTTP, such as `http://collector.observability:4318`. Empty: no traces. The network policy lets its port out.',
    ),
  }),
  secrets: group('Secrets that resources refer to.', {
    watch: flag(
      false,
      'Follow Secrets, so that an edited one is seen at once: grants list and watch on them. Only their metadata is asked for, but RBAC cannot tell that from reading them all. Without it they are read by name, and looked at again every so often.',
    ),
    selector: text(
      '',
      'Read only Secrets that carry these labels, such as `boxwright.dev/use=true`; separate several with commas. Empty: every Secret that a resource names. The operator enforces this, not RBAC.',
      { pattern: '^[^!()]*$' },
    ),
    keepForDeletion: flag(
      false,
      'Keep the credentials of a Connection that is being deleted in one Secret of the operator’s namespace, encrypted, for a day at most: when the operator restarts while a namespace is deleted, it can still delete the records on the service.',
    ),
  }),
  rbac: group('Rights.', {
    create: flag(true, 'Create Roles and bindings for the operator.'),
    aggregateRoles: oneOf(
      'Auto',
      ['Auto', 'Always', 'Never'],
      'Add the kinds (never Secrets) to the cluster’s view, edit and admin roles. These are ClusterRoles: Auto leaves them out when `namespaces` is set.',
    ),
    metricsReviews: reviewsValue(),
  }),
  serviceAccount: group('Who the operator is in the cluster.', {
    create: flag(true, 'Create the ServiceAccount.'),
    name: text('', 'Its name. Empty: the full name, or `default` where none is created.', { maxLength: 253 }),
    annotations: map({}, 'Annotations on it.'),
  }),
  admissionPolicies: group('ValidatingAdmissionPolicies (Kubernetes 1.30). No webhook is involved.', {
    enabled: flag(true, 'Warn who applies a Box with deprecated event names. Nothing is refused.'),
    protection: group(
      'Instances with `spec.terminationProtection: true` cannot be deleted. The operator keeps what runs for them without this policy, too.',
      {
        enabled: flag(
          true,
          'Refuse to delete one before its `terminationProtection` is false. A namespace that holds one is not deleted before either.',
        ),
      },
    ),
    claims: group(
      'Only the operator may write the annotations that find its records again. It ignores forged ones without this policy, too.',
      {
        enabled: flag(
          false,
          'Refuse requests that add or change such an annotation. Everybody can still remove one.',
        ),
        exemptUsers: texts(
          [],
          'Users that may write them too, such as `system:serviceaccount:velero:velero`, which restores resources from backups.',
          { maxLength: 253 },
        ),
      },
    ),
  }),
  replicas: whole(2, 'Pods. One works, the others wait for its lease.', 0, 9),
  leaderElection: group('How soon another replica takes over. lease > renew deadline > retry period.', {
    leaseDuration: duration('15s', 'How long others wait after the last renewal before they take over.'),
    renewDeadline: duration('10s', 'Without a renewal for so long the leader stops.'),
    retryPeriod: duration('2s', 'Between two renewals, or two looks of who waits.'),
  }),
  ...podValues(),
  ...networkValues(),
  health: healthValues(),
  metrics: monitoringValues(),
  extraObjects: piece(
    [],
    'Further objects to install, each a map. Strings in them are templates: `{{ .Release.Namespace }}`.',
  ),
});
