import { group, flag, map, oneOf, piece, text, texts, whole, type Field } from './fields.ts';

const QUANTITY = { type: ['string', 'integer'], pattern: '^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$' };

/** Values about the pods: image, size, security, place, and what is added to them. */
export function podValues(): Record<string, Field> {
  return {
    image: group('The image.', {
      registry: text('ghcr.io', 'Its registry.'),
      repository: text('boxwright/boxwright', 'Its repository.'),
      tag: text('', 'Its tag. Empty: the chart’s appVersion.'),
      digest: text('', 'Its digest; wins over the tag. Recommended.', {
        pattern: '^(sha256:[0-9a-f]{64})?$',
      }),
      pullPolicy: oneOf('IfNotPresent', ['Always', 'IfNotPresent', 'Never'], 'When it is pulled.'),
      pullSecrets: texts([], 'Names of Secrets to pull it with.'),
    }),
    command: texts([], 'Replaces the image’s entry point.'),
    args: texts(['operator'], 'Arguments. Settings are given as environment variables, not here.'),
    resources: group('What a pod asks for and may use at most.', {
      requests: quantities('Asked for.', { cpu: '50m', memory: '192Mi', 'ephemeral-storage': '32Mi' }),
      limits: quantities('At most. No CPU limit: it would slow down leader election.', {
        memory: '512Mi',
        'ephemeral-storage': '128Mi',
      }),
    }),
    heapPercent: whole(
      75,
      'Share of the memory limit that the JavaScript heap may take (--max-old-space-size).',
      10,
      95,
    ),
    podSecurityContext: piece(
      {
        runAsNonRoot: true,
        runAsUser: 65532,
        runAsGroup: 65532,
        fsGroup: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      'Security context of the pod. On OpenShift set runAsUser, runAsGroup and fsGroup to null: any UID will do.',
    ),
    securityContext: piece(
      {
        allowPrivilegeEscalation: false,
        privileged: false,
        readOnlyRootFilesystem: true,
        runAsNonRoot: true,
        capabilities: { drop: ['ALL'] },
      },
      'Security context of the container. Nothing is ever written to the file system.',
    ),
    startupProbe: piece(
      probe('/healthz', { periodSeconds: 2, failureThreshold: 30 }),
      'Whether it has started.',
    ),
    livenessProbe: piece(
      probe('/healthz', { periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 3 }),
      'Whether it is alive: also fails when a watch has been silent for 6 minutes or the event loop is blocked.',
    ),
    readinessProbe: piece(
      probe('/readyz', { periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 3 }),
      'Whether its caches are in sync and it is not shutting down.',
    ),
    terminationGracePeriodSeconds: whole(45, 'Time to finish what is under way, seconds.', 0, 600),
    podDisruptionBudget: group('Keeps a pod while nodes are drained. Only with 2 replicas or more.', {
      enabled: flag(true, 'Create it.'),
      minAvailable: whole(1, 'Pods that have to stay.', 0, 9),
    }),
    priorityClassName: text('', 'Priority class of the pods.'),
    affinity: piece({}, 'Replaces the default: prefer different nodes.'),
    topologySpreadConstraints: piece([], 'Replaces the default: spread over zones and nodes where possible.'),
    nodeSelector: map({ 'kubernetes.io/os': 'linux' }, 'Nodes that may run it.'),
    tolerations: piece([], 'Taints that it tolerates.'),
    hostAliases: piece([], 'Further lines of /etc/hosts.'),
    deploymentAnnotations: map({}, 'Annotations on the Deployment.'),
    podLabels: map({}, 'Labels on the pods.'),
    podAnnotations: map({}, 'Annotations on the pods.'),
    extraEnv: piece([], 'Further environment variables, as `{name, value}` or `{name, valueFrom}`.'),
    extraEnvFrom: piece([], 'Further sources of environment variables.'),
    extraVolumes: piece([], 'Further volumes.'),
    extraVolumeMounts: piece([], 'Where they are mounted.'),
  };
}

function quantities(description: string, value: Readonly<Record<string, string>>): Field {
  return {
    kind: 'leaf',
    description,
    default: value,
    schema: { type: 'object', additionalProperties: QUANTITY },
  };
}

function probe(path: string, more: object): object {
  return { httpGet: { path, port: 'health' }, ...more };
}
