import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART } from '../../chart/chart.ts';
import type { TestCluster } from '../../support/cluster.ts';
import { json, loopbackServer, type LoopbackServer } from '../../support/loopback-server.ts';

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = 'application/vnd.cncf.helm.config.v1+json';
const LAYER = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';

/** The chart of this project in a registry on loopback that answers reads only, as OCI Distribution 1.1 has them. */
export interface ChartRegistry extends AsyncDisposable {
  /** `<address>/charts/boxwright`, without a scheme. */
  repository: string;
  version: string;
}

export async function chartRegistry(cluster: TestCluster): Promise<ChartRegistry> {
  const blobs = new Map<string, Buffer>();
  const keep = (content: Buffer): { digest: string; size: number } => {
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    blobs.set(digest, content);
    return { digest, size: content.length };
  };
  const chart = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as { version: string };
  const config = keep(Buffer.from(JSON.stringify(chart)));
  const layer = keep(await packed(cluster));
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: { mediaType: CONFIG, ...config },
      layers: [{ mediaType: LAYER, ...layer }],
    }),
  );
  const { digest } = keep(manifest);
  const server: LoopbackServer = await loopbackServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const [, what, reference = ''] =
      /^\/v2\/charts\/boxwright\/(tags|manifests|blobs)\/(.+)$/.exec(path) ?? [];
    const content =
      what === 'manifests' && [chart.version, digest].includes(reference) ? manifest : blobs.get(reference);
    if (path === '/v2/') return json(response, 200, {});
    if (what === 'tags') return json(response, 200, { name: 'charts/boxwright', tags: [chart.version] });
    if (what === undefined || content === undefined) return json(response, 404, { errors: [] });
    response.writeHead(200, {
      'content-type': what === 'manifests' ? MANIFEST : 'application/octet-stream',
      'content-length': content.length,
      'docker-content-digest': what === 'manifests' ? digest : reference,
    });
    response.end(request.method === 'HEAD' ? undefined : content);
  });
  return {
    repository: `${server.url.replace('http://', '')}/charts/boxwright`,
    version: chart.version,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function packed(cluster: TestCluster): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-package-'));
  try {
    const { code, stderr } = await cluster.helm(['package', CHART, '--destination', folder]);
    if (code !== 0) throw new Error(stderr);
    const [file = ''] = readdirSync(folder);
    return readFileSync(join(folder, file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
