import { parse } from 'yaml';
import type { KubernetesVersion } from '../../base/kubernetes-version.ts';
import { EnvtestError } from './errors.ts';
import { versionOfArchive } from './release.ts';
import { get, type WebOptions } from './web.ts';

/** An archive that the list names. */
export interface PublishedArchive {
  version: KubernetesVersion;
  name: string;
  url: URL;
  /** SHA-512 of the archive, in hexadecimal digits. */
  hash: string;
}

const LIMIT_MS = 15_000;
/** The list has about 1 KB for each release. */
const LARGEST_LIST = 4 * 1024 * 1024;

/**
 * The archives for `platform` in a list of the form that setup-envtest reads: `releases`, then the version, then the
 * archive's name, then `hash` and `selfLink`. Throws {@link EnvtestError}, or the signal's reason.
 */
export async function publishedArchives(
  index: URL,
  platform: string,
  web: WebOptions,
): Promise<PublishedArchive[]> {
  const text = await get(index, LIMIT_MS, web, async ({ body }) => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > LARGEST_LIST) throw new EnvtestError(`the list at ${index.href} is larger than 4 MiB`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  });
  return archivesIn(text, index, platform);
}

function archivesIn(text: string, index: URL, platform: string): PublishedArchive[] {
  const releases = entriesOf(entriesOf(readYaml(text)).find(([key]) => key === 'releases')?.[1]);
  if (releases.length === 0) throw new EnvtestError(`${index.href} is no list of releases of envtest`);
  return releases.flatMap(([, archives]) =>
    entriesOf(archives).flatMap(([name, archive]) => {
      const version = versionOfArchive(name, platform);
      const { hash, selfLink } = Object.fromEntries(entriesOf(archive));
      const url = typeof selfLink === 'string' ? URL.parse(selfLink) : null;
      if (version === undefined || url === null) return [];
      if (typeof hash !== 'string' || !/^[0-9a-f]{128}$/.test(hash)) return [];
      return [{ version, name, url, hash }];
    }),
  );
}

function readYaml(text: string): unknown {
  try {
    return parse(text) as unknown;
  } catch {
    // Such as the page on which some network has people log in.
    return undefined;
  }
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
