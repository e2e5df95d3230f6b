import { join } from 'node:path';
import { freePort } from '../../../src/devcluster/free-port.ts';
import { program, type ProgramName } from '../programs.ts';
import { filesOf, type Live, type Stage } from './stage.ts';

export const CONTROLLERS = [
  'source-controller',
  'kustomize-controller',
  'helm-controller',
] as const satisfies readonly ProgramName[];
export const FLUX = 'flux-system';

/** Starts the controllers of Flux as `flux install` does, but beside the cluster. Answers their versions. */
export async function startFlux(stage: Stage): Promise<string[]> {
  await stage.kubectl('create', 'namespace', FLUX);
  const programs = await Promise.all(CONTROLLERS.map((name) => program(name)));
  await stage.define(...programs.map(({ source }) => join(source, 'config/crd/bases')));
  const storage = await address();
  const flags: Record<string, readonly string[]> = {
    'source-controller': [
      `--storage-path=${stage.folder('artifacts')}`,
      `--storage-addr=${storage}`,
      `--storage-adv-addr=${storage}`,
    ],
    'kustomize-controller': ['--requeue-dependency=2s'],
    'helm-controller': ['--requeue-dependency=2s'],
  };
  for (const { name, path } of programs) {
    const health = await address();
    await stage.run({
      name,
      command: path,
      args: [
        `--metrics-addr=${await address()}`,
        `--health-addr=${health}`,
        '--events-addr=',
        '--enable-leader-election=false',
        ...(flags[name] ?? []),
      ],
      env: { RUNTIME_NAMESPACE: FLUX },
      ready: `http://${health}/readyz`,
    });
  }
  return programs.map(({ name, version }) => `${name} ${version}`);
}

async function address(): Promise<string> {
  return `127.0.0.1:${await freePort()}`;
}

/** The samples as the guide has a reader change them: own addresses, an own chart, no sops. */
export function sampleFiles({ registry, url, service }: Stage): Record<string, string> {
  const change = (object: Live): Live => {
    const { kind, spec = {}, metadata } = object;
    if (kind === 'OCIRepository') {
      const { verify: _, ...rest } = spec;
      return { ...object, spec: { ...rest, url: `oci://${registry.repository}`, insecure: true } };
    }
    if (kind === 'HelmRelease') {
      const trial = { allowedHosts: ['127.0.0.1:*'], allowInsecure: true, allowLoopback: true };
      return { ...object, spec: { ...spec, values: { ...(spec['values'] as object), ...trial } } };
    }
    if (kind === 'Kustomization' && 'decryption' in spec) {
      const { decryption: _, ...rest } = spec;
      return { ...object, spec: rest };
    }
    if (kind === 'Connection') return { ...object, spec: { ...spec, endpoint: url } };
    if (kind === 'Secret' && metadata.name === 'deploy-login')
      return { ...object, stringData: { token: service.credentials.token } } as Live;
    return object;
  };
  return Object.fromEntries(
    ['deploy/flux/cluster', 'deploy/flux/namespaces', 'deploy/flux/operator', 'deploy/examples'].flatMap(
      (folder) => Object.entries(filesOf(folder, change)),
    ),
  );
}

/** What `flux bootstrap git --path deploy/flux/cluster` leaves in a cluster. */
export function bootstrap({ git }: Stage): object[] {
  return [
    {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      metadata: { name: FLUX, namespace: FLUX },
      spec: { interval: '1m', url: git.url, ref: { branch: 'main' } },
    },
    {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: FLUX, namespace: FLUX },
      spec: {
        interval: '10m',
        path: './deploy/flux/cluster',
        prune: true,
        sourceRef: { kind: 'GitRepository', name: FLUX },
      },
    },
  ];
}
