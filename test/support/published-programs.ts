import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { envtestPlatform } from '../../src/devcluster/envtest/release.ts';
import { loopbackServer } from './loopback-server.ts';
import { tarGz } from './tar-archive.ts';

/** A list of published archives on loopback, in the form that setup-envtest reads. */
export interface PublishedPrograms extends AsyncDisposable {
  index: string;
  /** Paths that were asked for. */
  asked(): string[];
}

/** Serves one archive with programs, as those of envtest are packed: each content by its name. */
export async function publishedPrograms(
  version: string,
  programs: Readonly<Record<string, string | Buffer>>,
): Promise<PublishedPrograms> {
  const archive = tarGz(
    Object.entries(programs).map(([name, content]) => ({
      path: `controller-tools/envtest/${name}`,
      content,
    })),
  );
  const name = `envtest-v${version}-${envtestPlatform()}.tar.gz`;
  const hash = createHash('sha512').update(archive).digest('hex');
  const server = await loopbackServer(({ url }, response) => {
    const index = { releases: { [`v${version}`]: { [name]: { hash, selfLink: `${server.url}/${name}` } } } };
    response.end(url === '/index.yaml' ? JSON.stringify(index) : archive);
  });
  return {
    index: `${server.url}/index.yaml`,
    asked: () => server.requests.map(({ url = '' }) => url),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The same, with the programs that a control plane was started with. */
export function publishedFrom(
  version: string,
  programs: { readonly etcd: string; readonly 'kube-apiserver': string; readonly kubectl: string },
): Promise<PublishedPrograms> {
  const names = ['etcd', 'kube-apiserver', 'kubectl'] as const;
  return publishedPrograms(
    version,
    Object.fromEntries(names.map((name) => [name, readFileSync(programs[name])])),
  );
}
