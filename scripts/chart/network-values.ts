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
        ports: ports([443], 'Its ports, besides those that `allowedHosts` names.'),
      }),
      proxyTo: piece(
        [],
        'Peers that are the proxy; its port is that of `proxy`. Empty: everything at that port.',
      ),
      tracesTo: piece(
        [],
        'Peers that collect traces; their port is that of `traces.endpoint`. Empty: everything at that port.',
      ),
      extraIngress: piece([], 'Further ingress rules.'),
      extraEgress: piece([], 'Further egress rules, as `{ports, to}`.'),
    }),
    proxy: group(
      'Sets the usual variables, in both spellings. Services are called through them, the API server directly. The network policy lets their ports out. A proxy with a password: give HTTPS_PROXY by extraEnv from a Secret instead, and its port in `networkPolicy.extraEgress`.',
      {
        // No patterns, here and for the collector: a message of the schema prints the value, password and all. The
        // template boxwright.portOf looks at them.
        http: text('', 'HTTP_PROXY, as `http://<host>:<port>`.'),
        https: text('', 'HTTPS_PROXY, as `http://<host>:<port>`.'),
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
