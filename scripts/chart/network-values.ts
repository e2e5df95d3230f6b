import { group, flag, piece, text, texts, type Field } from './fields.ts';

const CIDR = { pattern: '^[0-9A-Fa-f:.]+/[0-9]{1,3}$' };

/** Values about what the pods may reach, and who may reach them. */
export function networkValues(): Record<string, Field> {
  return {
    networkPolicy: group('NetworkPolicy of the pods.', {
      enabled: flag(true, 'Create it.'),
      metricsFrom: piece(
        [],
        'Peers that may reach the metrics. Empty: everybody. Health is asked by the kubelet alone, which no policy keeps out.',
      ),
      dns: group('DNS.', {
        to: piece(
          [{ namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }],
          'Peers that answer. Empty: everybody, as node-local DNS and OpenShift need.',
        ),
        ports: ports([53], 'Its ports, UDP and TCP. OpenShift: 5353.'),
      }),
      apiServer: group('The API server. It is no pod: by address.', {
        cidrs: texts([], 'Its addresses. Empty: all.', CIDR),
        ports: ports([443, 6443], 'Its ports.'),
      }),
      service: group('The deployment service.', {
        cidrs: texts([], 'Its addresses, or those of the way to it. Empty: all.', CIDR),
        ports: ports([443], 'Its ports.'),
      }),
      extraIngress: piece([], 'Further ingress rules.'),
      extraEgress: piece([], 'Further egress rules.'),
    }),
    proxy: group(
      'Sets the usual variables, in both spellings. Services are called through them, the API server directly. A proxy with a password: give HTTPS_PROXY by extraEnv from a Secret instead.',
      {
        http: text('', 'HTTP_PROXY.'),
        https: text('', 'HTTPS_PROXY.'),
        exclude: text('', 'NO_PROXY.'),
      },
    ),
  };
}

function ports(value: readonly number[], description: string): Field {
  return {
    kind: 'leaf',
    description,
    default: value,
    schema: { type: 'array', minItems: 1, items: { type: 'integer', minimum: 1, maximum: 65_535 } },
  };
}
