import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { KINDS } from '../../src/api/kinds.ts';
import { HttpProxy } from '../../src/base/proxy/settings.ts';
import { testCluster, type TestCluster } from '../support/cluster.ts';
import { CHART, CRD_CHART, EVERYTHING, Helm, objectsOf, only, podSpecOf, type Rendered } from './chart.ts';

let cluster: TestCluster;
let helm: Helm;
beforeAll(() => {
  cluster = testCluster();
  helm = new Helm(cluster);
});

describe('the chart', () => {
  it('has nothing that helm lint objects to', async () => {
    const { code, stdout } = await cluster.helm(['lint', '--strict', CHART, CRD_CHART]);
    expect(stdout).toContain('0 chart(s) failed');
    expect(code).toBe(0);
  });

  it('renders the same twice, with everything switched on', async () => {
    expect(await helm.text(EVERYTHING)).toBe(await helm.text(EVERYTHING));
  });

  it('has no hook but the test, and looks nothing up', async () => {
    const hooks = objectsOf(await helm.text(EVERYTHING)).flatMap(({ metadata }) =>
      Object.entries(metadata.annotations ?? {}).filter(([name]) => name === 'helm.sh/hook'),
    );
    expect(hooks).toEqual([['helm.sh/hook', 'test']]);
    for (const text of templates()) {
      expect(text).not.toMatch(/\b(lookup|rand[A-Z]\w*|genCA|genSelfSignedCert|uuidv4|now|htpasswd)\b/);
    }
  });

  it.each([
    ['the oldest Kubernetes', '--kube-version', '1.30.0'],
    ['the newest', '--kube-version', '1.36.0'],
    ['a cluster with every kind that it makes', '--api-versions', 'monitoring.coreos.com/v1/ServiceMonitor'],
    ['a cluster with none but the core', '--api-versions', 'v1'],
  ])('is the same on %s: it asks for no capability', async (_, ...args) => {
    expect(await helm.text(EVERYTHING, ...args)).toBe(await helm.text(EVERYTHING));
  });

  it('is refused by a Kubernetes that lacks what it needs, in so many words', async () => {
    const { code, stderr } = await helm.template({}, '--kube-version', '1.29.0');
    expect(stderr).toContain('requires kubeVersion: >=1.30.0-0');
    expect(code).not.toBe(0);
  });

  it('has nothing that Flux would take for a variable', async () => {
    expect(await helm.text(EVERYTHING)).not.toContain('${');
  });

  it('installs the CRDs, kept when the release goes, or leaves them to the other chart', async () => {
    const names = KINDS.map(({ plural, group }) => `${plural}.${group}`).toSorted();
    const own = crdsOf(await helm.text());
    expect(own.map(({ metadata }) => metadata.name).toSorted()).toEqual(names);
    for (const { metadata } of own)
      expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(crdsOf(await helm.text({ crds: { enabled: false } }))).toEqual([]);
    const apart = await cluster.helm(['template', 'crds', CRD_CHART]);
    expect(
      crdsOf(apart.stdout)
        .map(({ metadata }) => metadata.name)
        .toSorted(),
    ).toEqual(names);
    expect(objectsOf(apart.stdout)).toHaveLength(names.length);
  });

  it('is far smaller than what a release Secret may hold', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'boxwright-chart-'));
    try {
      await cluster.helm(['package', CHART, '--destination', folder]);
      const [file = ''] = readdirSync(folder);
      expect(statSync(join(folder, file)).size).toBeLessThan(200 * 1024);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('tells Artifact Hub its kinds, their examples, its licence and its image', () => {
    const chart = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as {
      version: string;
      annotations: Record<string, string>;
    };
    const listed = (name: string): { kind: string; image: string }[] =>
      parse(chart.annotations[`artifacthub.io/${name}`] ?? '[]') as { kind: string; image: string }[];
    const kinds = KINDS.map(({ kind }) => kind).toSorted();
    expect(
      listed('crds')
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(kinds);
    expect([...new Set(listed('crdsExamples').map(({ kind }) => kind))].toSorted()).toEqual(kinds);
    expect(listed('images')[0]?.image).toContain(chart.version);
    expect(chart.annotations['artifacthub.io/license']).toBe('Apache-2.0');
  });
});

describe('the values', () => {
  it.each([
    ['an unknown one', { replicaCount: 2 }, "additional properties 'replicaCount' not allowed"],
    ['an unknown one in a group', { image: { version: '1' } }, "additional properties 'version' not allowed"],
    ['a type that does not fit', { allowedHosts: 'deploy.example.com' }, '/allowedHosts'],
    ['an endpoint where a host belongs', { allowedHosts: ['https://deploy.example.com'] }, '/allowedHosts/0'],
    ['a host with a dot at its end', { allowedHosts: ['deploy.example.com.'] }, '/allowedHosts/0'],
    ['a port that is none', { allowedHosts: ['deploy.example.com:https'] }, '/allowedHosts/0'],
    ['a digest that is none', { image: { digest: 'latest' } }, '/image/digest'],
    [
      'a proxy of another kind',
      { proxy: { https: 'socks5://proxy.example.com' } },
      'proxy.https: write http://<host>:<port>',
    ],
    [
      'a collector of traces with a login, which the operator refuses',
      { traces: { endpoint: 'http://me:CANARY@collector.example.com:4318' } },
      'traces.endpoint: write http://<host>:<port>, without a login',
    ],
    [
      'a collector of traces without a scheme, which the operator refuses',
      { traces: { endpoint: 'collector.example.com:4318' } },
      'traces.endpoint: write http://<host>:<port>',
    ],
    ['a number out of range', { heapPercent: 100 }, '/heapPercent'],
  ])('are refused with %s', async (_, values, message) => {
    const { code, stderr } = await helm.template(values);
    expect(stderr).toContain(message);
    expect(code).not.toBe(0);
  });

  it('are all in the reference, with their defaults', () => {
    const readme = readFileSync(join(CHART, 'README.md'), 'utf8');
    const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Record<string, unknown>;
    for (const name of Object.keys(values)) expect(readme).toContain(`| \`${name}`);
  });
});

describe('the surroundings', { timeout: 180_000 }, () => {
  it('let metrics in, and out only DNS, the API server and the service', async () => {
    const policy = only(await helm.objects(EVERYTHING), 'NetworkPolicy').spec;
    expect(policy).toMatchObject({
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ ports: [{ port: 'metrics' }], from: [{ namespaceSelector: {} }] }],
      egress: [
        { ports: [{ port: 53 }, { port: 53 }] },
        { to: [{ ipBlock: { cidr: '192.0.2.2/32' } }], ports: [{ port: 443 }, { port: 6443 }] },
        { to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 443 }, { port: 8443 }] },
        { to: [{ ipBlock: { cidr: '192.0.2.9/32' } }], ports: [{ port: 3128 }] },
        { to: [{ namespaceSelector: {} }], ports: [{ port: 4318 }] },
        { ports: [{ port: 8080 }] },
      ],
    });
  });

  it.each([
    'http://proxy.example.com:3128',
    'HTTP://proxy.example.com:3128',
    'http://proxy.example.com/',
    'https://proxy.example.com',
    'HTTPS://proxy.example.com',
    'proxy.example.com:8080',
    'proxy.example.com',
    'proxy.example.com:',
    ' http://proxy.example.com:3128 ',
    'http://proxy.example.com:03128',
    'http://proxy.example.com:3128/a:1/b@c:2?d@e:3#f@g:4',
    'http://proxy.example.com:3128\\@other.example.com:1',
    'http:////proxy.example.com:3128',
    'http://[fd00::1]:3128',
    'https://[fd00::1]',
    'http://user:pass%20word@proxy.example.com:3129',
    'https://user:CANARY@with:more@proxy.example.com',
    'me:CANARY@proxy.example.com:3128',
    'http://me:1/CANARY@proxy.example.com:3128',
  ])('let out to a proxy at the port that the operator takes it to have: %j', async (url) => {
    const { port } = HttpProxy.parse(url.trim(), 'HTTPS_PROXY');
    expect(await addedEgress({ proxy: { http: url, https: url } })).toEqual([
      { ports: [{ port, protocol: 'TCP' }] },
    ]);
  });

  it.each([
    'http://me:CANARY/@proxy.example.com:3128',
    'http://me:CANARY?@proxy.example.com:3128',
    'http://me:CANARY#@proxy.example.com:3128',
    'http://me:CANARY@proxy.example.com:99999',
    'http://me:CANARY@proxy.example.com:99999999999999999999',
    'http://me:CANARY@proxy.example.com:port',
    'http://me:CANARY@fd00::1',
    'http://me:CANARY@',
    'socks5://me:CANARY@proxy.example.com:3128',
    'me:CANARY://@proxy.example.com:3128',
  ])('refuse a proxy that the operator refuses, without a word of its login: %s', async (url) => {
    expect(() => HttpProxy.parse(url, 'HTTPS_PROXY')).toThrow('write http://<host>:<port>');
    for (const name of ['http', 'https']) {
      for (const networkPolicy of [{ enabled: true }, { enabled: false }]) {
        const { code, stderr } = await helm.template({ proxy: { [name]: url }, networkPolicy });
        expect(stderr).toContain(`proxy.${name}: write http://<host>:<port>`);
        expect(stderr).not.toContain('CANARY');
        expect(code).not.toBe(0);
      }
    }
  });

  it.each(['http://me:CANA%zzRY@proxy:3128', 'http://me:CANARY@proxy:0', 'http://me:CANARY@pro xy:3128'])(
    'say nothing of the login of a proxy that is odd in another way: %s',
    async (url) => {
      const { stderr } = await helm.template({ proxy: { https: url }, traces: { endpoint: url } });
      expect(stderr).not.toMatch(/CANA|RY@/);
    },
  );

  it('let out to a collector of traces, and to the proxies of both schemes', async () => {
    const traces = { endpoint: 'https://collector.example.com/otlp' };
    const proxy = { http: 'http://one.example.com:3128', https: 'http://two.example.com:3129' };
    expect(await addedEgress({ traces, proxy })).toEqual([
      {
        ports: [
          { port: 3128, protocol: 'TCP' },
          { port: 3129, protocol: 'TCP' },
        ],
      },
      { ports: [{ port: 443, protocol: 'TCP' }] },
    ]);
  });

  it('let out to the ports that allowed hosts name, each once', async () => {
    const allowedHosts = [
      'a.test',
      '*.b.test:8443',
      'b.test:443',
      'fd00::1234:9',
      '[fd00::8]:9443',
      'c:*',
      'd:8443',
    ];
    const policy = only(await helm.objects({ allowedHosts }), 'NetworkPolicy');
    const { egress: rules } = policy.spec as { egress: { ports: { port: number }[] }[] };
    expect(rules[2]?.ports.map(({ port }) => port)).toEqual([443, 8443, 9443]);
  });

  it('have no monitor, rule or dashboard until asked for', async () => {
    const monitoring = ['ServiceMonitor', 'PodMonitor', 'PrometheusRule', 'ConfigMap'];
    const silent = await helm.objects();
    expect(silent.filter(({ kind }) => monitoring.includes(kind))).toEqual([]);
    const told = new Set((await helm.objects(EVERYTHING)).map(({ kind }) => kind));
    expect(monitoring.filter((kind) => !told.has(kind))).toEqual([]);
  });

  it('print what to do next, and no secret', async () => {
    const install = ['install', 'boxwright', CHART, '--dry-run=client', '--set', 'crds.enabled=false'];
    const { stdout } = await cluster.helm(install);
    const notes = stdout.slice(stdout.indexOf('NOTES:'));
    expect(notes).toContain('helm test boxwright');
    expect(notes).toContain('allowedHosts=');
    expect(notes).toContain('may read every Secret');
  });
});

/** What may be reached with these values and not without them. */
async function addedEgress(values: object): Promise<unknown[]> {
  const without = await egress({});
  return (await egress(values)).slice(without.length);
}

async function egress(values: object): Promise<unknown[]> {
  return (only(await helm.objects(values), 'NetworkPolicy').spec as { egress: unknown[] }).egress;
}

function crdsOf(text: string): Rendered[] {
  return objectsOf(text).filter(({ kind }) => kind === 'CustomResourceDefinition');
}

function templates(): string[] {
  return readdirSync(CHART, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.startsWith('templates/') && /\.(yaml|tpl|txt)$/.test(path))
    .filter((path) => !path.endsWith('.crd.yaml'))
    .map((path) => readFileSync(join(CHART, path), 'utf8'));
}

// B9
describe('a value that is null', () => {
  const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Node;

  it('is as if it were not there: sections and plain values are their defaults, nothing is nil', async () => {
    const usual = await helm.text();
    const paths = pathsOf(schema, '');
    expect(paths.length).toBeGreaterThan(80);
    const others: string[] = [];
    for (const path of paths) {
      const text = await helm.text({}, '--set', `${path}=null`);
      expect(/<nil>|%!/.test(text) ? path : '').toBe('');
      if (text !== usual) others.push(path);
    }
    // Without a map or a list there is none.
    const isMap = (path: string): boolean => typeof defaultOf(schema, path) === 'object';
    expect(others.filter((path) => !isMap(path))).toEqual([]);
    expect(others).toContain('resources.requests');
  }, 300_000);

  it('leaves a part of a map out', async () => {
    const objects = await helm.objects({}, '--set', 'resources.limits=null');
    const { resources } = podSpecOf(only(objects, 'Deployment')).containers[0] as {
      resources?: { limits?: object; requests?: object };
    };
    expect(resources?.limits ?? {}).toEqual({});
    expect(resources?.requests).toHaveProperty('memory');
  });
});

interface Node {
  default?: unknown;
  properties?: Record<string, Node>;
}

function pathsOf({ properties = {} }: Node, path: string): string[] {
  return Object.entries(properties).flatMap(([name, node]) => [
    `${path}${name}`,
    ...pathsOf(node, `${path}${name}.`),
  ]);
}

function defaultOf(schema: Node, path: string): unknown {
  return path.split('.').reduce<Node | undefined>((node, name) => node?.properties?.[name], schema)?.default;
}
