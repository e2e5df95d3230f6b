import { flag, group, oneOf, text, texts, whole, type Field } from './fields.ts';

const SECRET = { pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$', maxLength: 253 };

/** Values about where metrics are served, and to whom. */
export function servingValues(): Record<string, Field> {
  return {
    address: text('0.0.0.0', 'Address to listen on in the pod, for metrics and health; `[::]` for IPv6.', {
      pattern: '^([0-9.]+|\\[[0-9A-Fa-f:.]+\\])$',
    }),
    port: whole(8443, 'Port of /metrics.', 1024, 65_535),
    secure: flag(
      true,
      'Serve metrics over TLS, and only to whom the cluster lets get /metrics (or, with `clientCA`, to whom has a certificate). `false`: to everybody who reaches the port.',
    ),
    certificate: group('The certificate of the metrics.', {
      secretName: text(
        '',
        'Secret of type kubernetes.io/tls, such as cert-manager’s, with `ca.crt` too; exchanged without a restart. Empty: a self-signed one, made at start.',
        SECRET,
      ),
    }),
    clientCA: group(
      'Let in by client certificate instead of by token: no right in the cluster is needed for it.',
      {
        secretName: text('', 'Secret with the authority of the clients. Empty: tokens.', SECRET),
        key: text('ca.crt', 'Its key in that Secret.', { pattern: '^[-._A-Za-z0-9]+$' }),
        names: texts([], 'Common names or DNS names that may read. Empty: all of that authority.', {
          pattern: '^[^,]+$',
        }),
      },
    ),
  };
}

/** Who grants the right to ask the API server about tokens. */
export function reviewsValue(): Field {
  return oneOf(
    'Auto',
    ['Auto', 'Always', 'Never'],
    'Grant create on tokenreviews and subjectaccessreviews, by which the API server is asked who reads metrics, in a ClusterRole of their own, and make a ClusterRole for readers. Auto leaves them out when `namespaces` is set; Never says that an administrator has bound the ServiceAccount to system:auth-delegator.',
  );
}

/** What a ServiceMonitor or PodMonitor shows, and expects to see. */
export function monitorAccess(): Record<string, Field> {
  return {
    authorization: {
      kind: 'leaf',
      description:
        'Where its token is (`authorization` of the endpoint, with a Secret of this namespace). A ServiceMonitor without it shows Prometheus’s own token; a PodMonitor cannot, and needs it.',
      default: {},
      schema: { type: 'object' },
    },
    tlsConfig: {
      kind: 'leaf',
      description:
        'Its `tlsConfig`: with `metrics.clientCA` Prometheus’s own certificate (`cert`, `keySecret`). Where it says nothing else, the operator’s is checked by `ca.crt` of `metrics.certificate.secretName`, and a self-signed one is not; what else it says holds alone.',
      default: {},
      schema: { type: 'object' },
    },
  };
}

/** Health has a port of its own, which needs no token. */
export function healthValues(): Field {
  return group('Health.', { port: whole(8081, 'Port of /healthz and /readyz.', 1024, 65_535) });
}
