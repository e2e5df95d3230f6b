import { beforeAll, describe, expect, it } from 'vitest';
import { testCluster, type TestCluster } from '../support/cluster.ts';
import { CHART, Helm, only, podSpecOf, type PodSpec, type Rendered } from './chart.ts';

let cluster: TestCluster;
let helm: Helm;
beforeAll(() => {
  cluster = testCluster();
  helm = new Helm(cluster);
});

const SERVICE_MONITOR = { serviceMonitor: { enabled: true } };
const POD_MONITOR = { podMonitor: { enabled: true } };

async function env(values: object): Promise<Record<string, string | undefined>> {
  const [container] = podSpecOf(only(await helm.objects(values), 'Deployment')).containers;
  return Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
}

/** The one endpoint of the one monitor. */
async function endpoint(values: object): Promise<Record<string, unknown>> {
  const monitors = (await helm.objects(values)).filter(({ kind }) => /^(Service|Pod)Monitor$/.test(kind));
  const [{ spec }] = monitors as [Rendered];
  const { endpoints, podMetricsEndpoints } = spec as Record<string, Record<string, unknown>[] | undefined>;
  return (endpoints ?? podMetricsEndpoints)?.[0] ?? {};
}

function rulesNamed(objects: readonly Rendered[], ending: string): unknown {
  return objects.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.endsWith(ending))
    ?.rules;
}

describe('the metrics of the chart', () => {
  it('are secure by default, and health has a port of its own that needs no token', async () => {
    expect(await env({})).toMatchObject({
      BOXWRIGHT_METRICS_SECURE: 'true',
      BOXWRIGHT_METRICS_ADDRESS: '0.0.0.0:8443',
      BOXWRIGHT_HEALTH_ADDRESS: '0.0.0.0:8081',
    });
    const objects = await helm.objects();
    expect(podSpecOf(only(objects, 'Deployment')).containers[0]).toMatchObject({
      ports: [
        { name: 'health', containerPort: 8081 },
        { name: 'metrics', containerPort: 8443 },
      ],
      startupProbe: { httpGet: { port: 'health' } },
      livenessProbe: { httpGet: { port: 'health' } },
      readinessProbe: { httpGet: { port: 'health' } },
    });
    expect(only(objects, 'Service').spec).toMatchObject({ ports: [{ port: 8443, targetPort: 'metrics' }] });
    expect(only(objects, 'NetworkPolicy').spec).toMatchObject({
      ingress: [{ ports: [{ port: 'metrics' }] }],
    });
  });

  it('come with the right to ask who reads, apart from other rights, and a role for readers', async () => {
    const objects = await helm.objects();
    expect(rulesNamed(objects, '-metrics-reviews')).toEqual([
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ]);
    expect(rulesNamed(objects, '-metrics-reader')).toEqual([
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
    ]);
  });

  it.each([
    ['metrics are in the open', { metrics: { secure: false } }],
    ['clients show certificates', { metrics: { clientCA: { secretName: 'clients' } } }],
    ['namespaces are named', { namespaces: ['shop'], rbac: { aggregateRoles: 'Never' } }],
    ['an administrator does it', { rbac: { metricsReviews: 'Never' } }],
  ])('come without it when %s', async (_, values) => {
    expect(JSON.stringify(await helm.objects(values))).not.toContain('tokenreviews');
  });

  it('come with it in scoped mode when asked for, with nothing else in the cluster', async () => {
    const objects = await helm.objects({ namespaces: ['shop'], rbac: { metricsReviews: 'Always' } });
    const names = objects
      .filter(({ kind }) => kind === 'ClusterRole')
      .map(({ metadata: { name } }) => name.split(':')[1]);
    expect(names).toEqual(['boxwright-metrics-reviews', 'boxwright-metrics-reader']);
  });

  it('are read by a ServiceMonitor with Prometheus’s own token, over TLS', async () => {
    expect(await endpoint({ metrics: SERVICE_MONITOR })).toMatchObject({
      port: 'metrics',
      scheme: 'https',
      bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
      tlsConfig: { insecureSkipVerify: true },
    });
  });

  it('are checked by the authority where there is a certificate, which is mounted', async () => {
    const values = { metrics: { ...SERVICE_MONITOR, certificate: { secretName: 'serving' } } };
    expect((await endpoint(values))['tlsConfig']).toEqual({
      ca: { secret: { name: 'serving', key: 'ca.crt' } },
      serverName: 'boxwright-metrics.default.svc',
    });
    expect(await env(values)).toMatchObject({
      BOXWRIGHT_METRICS_CERT_PATH: '/etc/boxwright/metrics-certificate',
    });
    const pod = podSpecOf(only(await helm.objects(values), 'Deployment')) as PodSpec & { volumes: unknown };
    expect(pod.volumes).toMatchObject([{ name: 'metrics-certificate', secret: { secretName: 'serving' } }]);
    expect(pod.containers[0]).toMatchObject({
      volumeMounts: [{ name: 'metrics-certificate', readOnly: true }],
    });
  });

  it.each([
    ['a name to check', { serverName: 'metrics.example.com' }],
    ['a version of TLS', { minVersion: 'TLS12' }],
    ['an authority', { caFile: '/etc/prometheus/ca.crt' }],
    [
      'a name to check beside a certificate of Prometheus',
      { serverName: 'metrics.example.com', certFile: '/tls.crt', keyFile: '/tls.key' },
    ],
  ])('are checked as a monitor says that says more than who Prometheus is: %s', async (_, tlsConfig) => {
    for (const certificate of [{}, { secretName: 'serving' }]) {
      const values = { metrics: { serviceMonitor: { enabled: true, tlsConfig }, certificate } };
      expect((await endpoint(values))['tlsConfig']).toEqual(tlsConfig);
    }
  });

  it('are read by a PodMonitor with a token from a Secret', async () => {
    const authorization = { credentials: { name: 'scraper', key: 'token' } };
    const told = await endpoint({ metrics: { podMonitor: { enabled: true, authorization } } });
    expect(told).toMatchObject({ scheme: 'https', authorization });
    expect(told).not.toHaveProperty('bearerTokenFile');
  });

  it('are read with a client certificate where there is an authority of clients', async () => {
    const tlsConfig = {
      cert: { secret: { name: 'prometheus', key: 'tls.crt' } },
      keySecret: { name: 'prometheus', key: 'tls.key' },
    };
    const values = {
      namespaces: ['shop'],
      metrics: {
        clientCA: { secretName: 'clients', names: ['prometheus'] },
        serviceMonitor: { enabled: true, tlsConfig },
      },
    };
    expect(await env(values)).toMatchObject({
      BOXWRIGHT_METRICS_CLIENT_CA: '/etc/boxwright/metrics-client-ca/ca.crt',
      BOXWRIGHT_METRICS_CLIENT_NAMES: 'prometheus',
    });
    const told = await endpoint(values);
    expect(told).toMatchObject({ scheme: 'https', tlsConfig: { ...tlsConfig, insecureSkipVerify: true } });
    expect(told).not.toHaveProperty('bearerTokenFile');
    const certificate = { secretName: 'serving' };
    const checked = await endpoint({ ...values, metrics: { ...values.metrics, certificate } });
    expect(checked['tlsConfig']).toEqual({
      ...tlsConfig,
      ca: { secret: { name: 'serving', key: 'ca.crt' } },
      serverName: 'boxwright-metrics.default.svc',
    });
  });

  it('are checked as a monitor says where it says so', async () => {
    for (const tlsConfig of [{ caFile: '/ca.pem', serverName: 'metrics' }, { insecureSkipVerify: false }]) {
      const serviceMonitor = { enabled: true, tlsConfig };
      const told = await endpoint({ metrics: { serviceMonitor, certificate: { secretName: 'serving' } } });
      expect(told['tlsConfig']).toEqual(tlsConfig);
    }
  });

  it('are in the open where an administrator wants that', async () => {
    const told = await endpoint({ metrics: { ...SERVICE_MONITOR, secure: false } });
    expect(told).toMatchObject({ scheme: 'http' });
    expect(told).not.toHaveProperty('tlsConfig');
    expect(await env({ metrics: { secure: false } })).not.toHaveProperty('BOXWRIGHT_METRICS_SECURE');
  });

  it.each([
    [
      'a monitor in scoped mode, where nobody grants the reviews',
      { namespaces: ['shop'], metrics: SERVICE_MONITOR },
      'rbac.metricsReviews=Always',
    ],
    ['a PodMonitor without a token', { metrics: POD_MONITOR }, 'metrics.podMonitor.authorization'],
    [
      'a monitor without a certificate for an authority of clients',
      { metrics: { ...SERVICE_MONITOR, clientCA: { secretName: 'clients' } } },
      'metrics.serviceMonitor.tlsConfig',
    ],
    ['one port for two', { health: { port: 8443 } }, 'metrics.port and health.port'],
    [
      'a certificate without TLS',
      { metrics: { secure: false, certificate: { secretName: 'x' } } },
      'secure=false',
    ],
    [
      'names without an authority',
      { metrics: { clientCA: { names: ['a'] } } },
      'metrics.clientCA.secretName',
    ],
    [
      'a name that is none',
      { metrics: { certificate: { secretName: 'A b' } } },
      '/metrics/certificate/secretName',
    ],
  ])('are refused with %s', async (_, values, message) => {
    const { code, stderr } = await helm.template(values);
    expect(stderr).toContain(message);
    expect(code).not.toBe(0);
  });

  it.each([
    ['for all namespaces', [], '--clusterrole=shop-system:boxwright-metrics-reader'],
    [
      'for some',
      ['--set', 'namespaces={shop}'],
      '--clusterrole=system:auth-delegator --serviceaccount=shop-system:boxwright',
    ],
  ])('are explained in the notes, %s', async (_, more, words) => {
    const install = ['install', 'boxwright', CHART, '--dry-run=client', '--namespace', 'shop-system'];
    const { stdout } = await cluster.helm([...install, '--set', 'crds.enabled=false', ...more]);
    expect(stdout.slice(stdout.indexOf('NOTES:'))).toContain(words);
  });
});
