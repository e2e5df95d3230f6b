import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesVersion } from '../../base/kubernetes-version.ts';
import { ENVTEST_PROGRAMS, versionOfFolder } from './release.ts';

/** A release whose programs are on this machine. */
export interface KeptRelease {
  version: KubernetesVersion;
  folder: string;
}

/**
 * Where setup-envtest keeps its releases, one folder each; undefined where the environment names no place for data.
 * Source: its store package (DefaultStoreDir, unpackedBase). `setup-envtest use -p path` prints a folder of it.
 */
export function setupEnvtestStore(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const home = setOf(env, 'HOME');
  switch (platform) {
    case 'win32':
      return below(setOf(env, 'LocalAppData'), 'kubebuilder-envtest');
    case 'darwin':
      return below(home, 'Library/Application Support/io.kubebuilder.envtest');
    default:
      return (
        below(setOf(env, 'XDG_DATA_HOME'), 'kubebuilder-envtest') ??
        below(home, '.local/share/kubebuilder-envtest')
      );
  }
}

function setOf(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

function below(base: string | undefined, path: string): string | undefined {
  return base === undefined ? undefined : join(base, path, 'k8s');
}

/** How the releases of a store came there. */
export type Filling =
  /** Unpacked elsewhere, and moved there when they were complete. */
  | 'moved'
  /** Unpacked where they are; taking the right to write away is the last thing that setup-envtest does. */
  | 'in place';

/** The complete releases for `platform` in a store; what is half there is handed to `refuse`. */
export function keptReleases(
  store: string,
  platform: string,
  filling: Filling,
  refuse: (version: KubernetesVersion, why: string) => void,
): KeptRelease[] {
  if (!existsSync(store)) return [];
  return readdirSync(store, { withFileTypes: true }).flatMap((entry) => {
    const version = entry.isDirectory() ? versionOfFolder(entry.name, platform) : undefined;
    if (version === undefined) return [];
    const folder = join(store, entry.name);
    const lacks = ENVTEST_PROGRAMS.filter((name) => !isProgram(join(folder, name)));
    if (lacks.length > 0) refuse(version, `no ${lacks.join(' and no ')} there`);
    else if (filling === 'in place' && isWritable(folder))
      refuse(version, 'still being unpacked, or left so');
    else return [{ version, folder }];
    return [];
  });
}

function isProgram(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && stat.isFile() && stat.size > 0 && (stat.mode & 0o111) !== 0;
}

function isWritable(folder: string): boolean {
  return (statSync(folder).mode & 0o200) !== 0;
}
