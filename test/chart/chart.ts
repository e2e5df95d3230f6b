import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../api/install.ts';
import type { TestCluster } from '../support/cluster.ts';
import type { RunResult } from '../support/run.ts';

export const CHART = join(ROOT, 'helm/boxwright');
export const CRD_CHART = join(ROOT, 'helm/boxwright-crds');

/** A rendered object, as far as tests read it. */
export interface Rendered {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec?: unknown;
  rules?: Rule[];
  data?: Record<string, string>;
}

export interface Rule {
  apiGroups: string[];
  /** Absent in a rule about addresses of the API server or of others. */
  resources?: string[];
  resourceNames?: string[];
  verbs: string[];
}

export interface PodSpec {
  serviceAccountName: string;
  securityContext: Record<string, unknown>;
  containers: {
    image: string;
    args: string[];
    env: { name: string; value?: string }[];
    securityContext: Record<string, unknown>;
    resources: { requests: Record<string, string>; limits: Record<string, string> };
    livenessProbe: unknown;
    readinessProbe: unknown;
  }[];
}

/** Renders a chart of this project as release `boxwright`. */
export class Helm {
  readonly #cluster: TestCluster;

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }

  template(values: object = {}, ...args: string[]): Promise<RunResult> {
    return this.#cluster.helm(['template', 'boxwright', CHART, '--values', '-', ...args], {
      input: JSON.stringify(values),
    });
  }

  /** The text, which has to render. */
  async text(values: object = {}, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.template(values, ...args);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  }

  /** The objects, without the CRDs and the test pod unless the values ask for the former. */
  async objects(values: object = {}, ...args: string[]): Promise<Rendered[]> {
    return objectsOf(await this.text({ crds: { enabled: false }, ...values }, '--skip-tests', ...args));
  }
}

export function objectsOf(text: string): Rendered[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);
}

/** The one object of a kind. */
export function only(objects: readonly Rendered[], kind: string): Rendered {
  const [found, ...more] = objects.filter((object) => object.kind === kind);
  if (found === undefined || more.length > 0) throw new Error(`${more.length + 1} objects of kind ${kind}`);
  return found;
}

export function podSpecOf(deployment: Rendered): PodSpec {
  return (deployment.spec as { template: { spec: PodSpec } }).template.spec;
}

/** Values that switch on everything that can be. */
export const EVERYTHING = {
  allowedHosts: ['deploy.example.com', '*.example.org:8443'],
  rbac: { metricsReviews: 'Always' },
  secrets: { selector: 'boxwright.dev/use=true' },
  admissionPolicies: { claims: { enabled: true, exemptUsers: ['system:serviceaccount:velero:velero'] } },
  metrics: {
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    podMonitor: {
      enabled: true,
      authorization: { credentials: { name: 'scraper', key: 'token' } },
      metricRelabelings: [{ action: 'labeldrop', regex: 'pod' }],
    },
    rules: { enabled: true },
    dashboard: { enabled: true },
  },
  proxy: { https: 'http://proxy.example.com:3128', exclude: '.svc' },
  extraEnv: [{ name: 'EXTRA', value: 'one' }],
  extraEnvFrom: [{ configMapRef: { name: 'more', optional: true } }],
  extraVolumes: [{ name: 'scratch', emptyDir: {} }],
  extraVolumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
  extraObjects: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'extra-{{ .Release.Name }}' }, data: {} },
  ],
  image: { digest: `sha256:${'0123'.repeat(16)}`, pullSecrets: ['registry'] },
  podLabels: { tier: 'control' },
  podAnnotations: { note: 'pod' },
  commonLabels: { team: 'platform' },
  commonAnnotations: { owner: 'platform' },
  serviceAccount: { annotations: { identity: 'operator' } },
  tolerations: [{ operator: 'Exists' }],
  hostAliases: [{ ip: '192.0.2.1', hostnames: ['deploy.example.com'] }],
  networkPolicy: {
    metricsFrom: [{ namespaceSelector: {} }],
    apiServer: { cidrs: ['192.0.2.2/32'] },
    service: { cidrs: ['192.0.2.0/24'] },
    proxyTo: [{ ipBlock: { cidr: '192.0.2.9/32' } }],
    tracesTo: [{ namespaceSelector: {} }],
    extraEgress: [{ ports: [{ port: 8080 }] }],
  },
  traces: { endpoint: 'http://collector.observability:4318' },
};
