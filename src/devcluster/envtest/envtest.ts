import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { formatKubernetesVersion, type KubernetesVersion } from '../../base/kubernetes-version.ts';
import type { ProxySettings } from '../../base/proxy/settings.ts';
import type { Progress } from '../progress.ts';
import { downloadArchive } from './download.ts';
import { EnvtestError } from './errors.ts';
import { publishedArchives, type PublishedArchive } from './published.ts';
import { choose, envtestPlatform, releaseFolder } from './release.ts';
import { keptReleases, setupEnvtestStore, type KeptRelease } from './store.ts';
import { unpackArchive } from './unpack.ts';

/** Where published programs may come from. */
export interface EnvtestOptions {
  /** The list of archives; undefined: none is asked for. */
  index: URL | undefined;
  proxies: ProxySettings;
}

export interface FindOptions extends EnvtestOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** A folder of ours, for what is fetched. */
  folder: string;
  /** The version whose flags are known. */
  tried: KubernetesVersion;
  clock: Clock;
  progress: Progress;
  signal?: AbortSignal | undefined;
}

/** A release on this machine, and where it is from, for people. */
export interface FoundRelease extends KeptRelease {
  from: string;
}

/** What is on this machine: the newest that fits of what setup-envtest keeps and of what was fetched before. */
export function findEnvtest({ env, folder, tried, progress }: FindOptions): FoundRelease | undefined {
  const platform = envtestPlatform();
  const theirs = setupEnvtestStore(env);
  const refuseIn =
    (place: string) =>
    (version: KubernetesVersion, why: string): void =>
      progress.note(`not taken: Kubernetes ${formatKubernetesVersion(version)} in ${place}: ${why}`);
  const stores = [
    ...(theirs === undefined
      ? []
      : [{ store: theirs, filling: 'in place', from: `setup-envtest’s folder ${theirs}` } as const]),
    { store: folder, filling: 'moved', from: `${folder}, fetched before` } as const,
  ];
  const best = stores.flatMap(({ store, filling, from }) => {
    const refuse = refuseIn(store);
    const found = choose(keptReleases(store, platform, filling, refuse), tried, refuse);
    return found === undefined ? [] : [{ ...found, from }];
  });
  return choose(best, tried, () => undefined);
}

/**
 * Fetches the newest published archive that fits into our folder, where it appears only when it is complete and what
 * the list says. Undefined, with a word, where none can be had. Throws the signal's reason.
 */
export async function fetchEnvtest(options: FindOptions): Promise<FoundRelease | undefined> {
  const { env, index, tried, progress } = options;
  if (index === undefined) return undefined;
  if ((env['ENVTEST_INSTALLED_ONLY'] ?? '') !== '') {
    progress.note('nothing is fetched: ENVTEST_INSTALLED_ONLY is set');
    return undefined;
  }
  const platform = envtestPlatform();
  try {
    const archives = await publishedArchives(index, platform, options);
    const tooOld: string[] = [];
    const archive = choose(archives, tried, (version) => tooOld.push(formatKubernetesVersion(version)));
    if (archive !== undefined) return await take(archive, platform, options);
    const others = tooOld.length === 0 ? '' : `; it has ${tooOld.join(', ')}`;
    throw new EnvtestError(`${index.href} lists no archive for ${platform} that fits${others}`);
  } catch (error) {
    if (!(error instanceof EnvtestError)) throw error;
    progress.note(`no published archive is taken: ${error.message}`);
    return undefined;
  }
}

async function take(
  archive: PublishedArchive,
  platform: string,
  options: FindOptions,
): Promise<FoundRelease> {
  const { folder, progress } = options;
  const { version, url, name } = archive;
  const place = join(folder, releaseFolder(version, platform));
  const partial = `${place}.${process.pid}.tmp`;
  mkdirSync(partial, { recursive: true });
  const step = progress.begin(`fetching Kubernetes ${formatKubernetesVersion(version)} from ${url.host}`);
  try {
    const file = join(partial, name);
    await downloadArchive(archive, file, options, step);
    await unpackArchive(file, partial);
    rmSync(file);
    // What is there is not complete: it would have been found.
    if (existsSync(place)) rmSync(place, { recursive: true });
    renameSync(partial, place);
    step.end('done');
  } catch (error) {
    step.end('failed');
    throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return { version, folder: place, from: url.host };
}
