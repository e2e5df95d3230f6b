import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { parse, stringify } from 'yaml';
import { freePort } from '../../../src/devcluster/free-port.ts';
import { ROOT } from '../../api/install.ts';
import { run } from '../../support/run.ts';
import { program } from '../programs.ts';
import { filesOf, type Live, type Stage } from './stage.ts';

export const ARGOCD = 'argocd';
/** Argo CD keeps what it has found there; Debian's package `redis-server` has it. */
export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

if (!HAS_REDIS)
  process.stderr.write('the checks under Argo CD are left out: there is no redis-server on PATH\n');

/** Argo CD as it runs beside the cluster. */
export interface ArgoCd {
  versions: string[];
  /** Of the API server. */
  url: string;
}

/** Starts redis, the repo server, the application controller and the API server, without logins. */
export async function startArgoCd(stage: Stage): Promise<ArgoCd> {
  const { path, version, source } = await program('argocd');
  await stage.kubectl('create', 'namespace', ARGOCD);
  const kinds = ['application', 'appproject', 'applicationset'];
  await stage.define(...kinds.map((kind) => join(source, `manifests/crds/${kind}-crd.yaml`)));
  for (const object of settings()) await stage.cluster.apply(stringify(object), ARGOCD);

  const [redis, repo, repoMetrics, metrics, api, apiMetrics] = await Promise.all(
    Array.from({ length: 6 }, () => freePort()),
  );
  const env = {
    // It runs beside the cluster: what it takes for its own is that of the kubeconfig.
    ARGOCD_FAKE_IN_CLUSTER: 'true',
    ARGOCD_GPG_ENABLED: 'false',
    ARGOCD_TLS_DATA_PATH: stage.folder('tls'),
    ARGOCD_SSH_DATA_PATH: stage.folder('ssh'),
    TMPDIR: stage.folder('tmp'),
    PATH: `${dirname(inject('controlPlane').helm)}:${process.env['PATH']}`,
  };
  const start = (name: string, ready: number | undefined, ...args: string[]): Promise<void> =>
    stage.run({
      name,
      command: path,
      args: [...args, '--redis', `127.0.0.1:${redis}`],
      env: { ...env, ARGOCD_BINARY_NAME: name },
      ready: `http://127.0.0.1:${ready}/healthz`,
    });
  stage.start('redis', 'redis-server', ['--port', String(redis), '--bind', '127.0.0.1', '--save', '']);
  const local = ['--address', '127.0.0.1', '--metrics-address', '127.0.0.1'];
  const shared = ['--namespace', ARGOCD, '--repo-server', `127.0.0.1:${repo}`, '--repo-server-plaintext'];
  const often = ['--app-resync', '60', '--app-resync-jitter', '0'];
  const open = ['--insecure', '--disable-auth'];
  await start('argocd-repo-server', repoMetrics, '--disable-tls', ...local, ...ports(repo, repoMetrics));
  await start(
    'argocd-application-controller',
    metrics,
    ...shared,
    ...often,
    '--metrics-port',
    String(metrics),
  );
  await start('argocd-server', api, ...shared, ...open, ...local, ...ports(api, apiMetrics));
  const [, redisVersion = '?'] = /v=(\S+)/.exec((await run('redis-server', ['--version'])).stdout) ?? [];
  return { versions: [`argo-cd ${version}`, `redis ${redisVersion}`], url: `http://127.0.0.1:${api}` };
}

function ports(port: number | undefined, metrics: number | undefined): string[] {
  return ['--port', String(port), '--metrics-port', String(metrics)];
}

/** As the guide has them, and what a fresh installation has. */
function settings(): object[] {
  const component = parse(readFileSync(join(ROOT, 'deploy/argocd/component/argocd-cm.yaml'), 'utf8')) as Live;
  const labels = { 'app.kubernetes.io/part-of': 'argocd' };
  return [
    { ...component, metadata: { ...component.metadata, labels } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'argocd-rbac-cm', labels } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'argocd-secret', labels },
      stringData: { 'server.secretkey': 'a key of the tests' },
    },
    {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'AppProject',
      metadata: { name: 'default' },
      spec: {
        sourceRepos: ['*'],
        destinations: [{ server: '*', namespace: '*' }],
        clusterResourceWhitelist: [{ group: '*', kind: '*' }],
      },
    },
  ];
}

/** The samples as the guide has a reader change them: own addresses, and the chart from Git. */
export function sampleFiles({ git, url, service }: Stage): Record<string, string> {
  const change = (object: Live): Live => {
    const { kind, spec = {}, metadata } = object;
    if (kind === 'Application' && metadata.name === 'boxwright') {
      const { helm } = spec['source'] as { helm: { valuesObject: object } };
      const trial = { allowedHosts: ['127.0.0.1:*'], allowInsecure: true, allowLoopback: true };
      const source = {
        repoURL: git.url,
        targetRevision: 'main',
        path: 'helm/boxwright',
        helm: { valuesObject: { ...helm.valuesObject, ...trial } },
      };
      return { ...object, spec: { ...spec, source } };
    }
    if (kind === 'Application') {
      return { ...object, spec: { ...spec, source: { ...(spec['source'] as object), repoURL: git.url } } };
    }
    if (kind === 'Connection') return { ...object, spec: { ...spec, endpoint: url } };
    if (kind === 'Secret' && metadata.name === 'deploy-login')
      return { ...object, stringData: { token: service.credentials.token } } as Live;
    return object;
  };
  const examples = Object.entries(filesOf('deploy/examples', change)).map(([path, text]) => [
    path.replace('deploy/examples', 'boxwright'),
    text,
  ]);
  return { ...filesOf('deploy/argocd/applications', change), ...Object.fromEntries(examples), ...chart() };
}

function chart(): Record<string, string> {
  const folder = 'helm/boxwright';
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((path) => statSync(join(ROOT, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

/** The Application above the samples. */
export function above({ git }: Stage): object {
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: 'all', namespace: ARGOCD },
    spec: {
      project: 'default',
      source: { repoURL: git.url, targetRevision: 'main', path: 'deploy/argocd/applications' },
      destination: { server: 'https://kubernetes.default.svc', namespace: ARGOCD },
      syncPolicy: { automated: { selfHeal: true, prune: true } },
    },
  };
}
