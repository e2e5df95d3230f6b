import {
  compareKubernetesVersions,
  formatKubernetesVersion,
  OLDEST_KUBERNETES,
  parseKubernetesVersion,
  type KubernetesVersion,
} from '../../base/kubernetes-version.ts';

/** The programs of a control plane that an archive of envtest must hold; it has no controller manager. */
export const ENVTEST_PROGRAMS = ['kube-apiserver', 'etcd'] as const;

/** Node's names for processors, where Go has other ones. */
const GO_ARCH: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** This machine as setup-envtest writes it in names: `linux-amd64`. */
export function envtestPlatform(): string {
  return `${process.platform}-${GO_ARCH[process.arch] ?? process.arch}`;
}

/** The folder of one release in setup-envtest's store, and in ours: `1.36.2-linux-amd64`. */
export function releaseFolder(version: KubernetesVersion, platform: string): string {
  return `${formatKubernetesVersion(version)}-${platform}`;
}

/** The version in such a name; undefined for other names and other platforms. */
export function versionOfFolder(name: string, platform: string): KubernetesVersion | undefined {
  const suffix = `-${platform}`;
  return name.endsWith(suffix) ? parseKubernetesVersion(name.slice(0, -suffix.length)) : undefined;
}

/** The version in the name of an archive, `envtest-v1.36.2-linux-amd64.tar.gz`. */
export function versionOfArchive(name: string, platform: string): KubernetesVersion | undefined {
  const found = /^envtest-v(.+)\.tar\.gz$/.exec(name);
  return found === null ? undefined : versionOfFolder(found[1] ?? '', platform);
}

/**
 * Why a version is not taken, or undefined when it fits: not older than what the operator is for, and of no later minor
 * version than `tried`, whose flags are known.
 */
export function misfit(version: KubernetesVersion, tried: KubernetesVersion): string | undefined {
  if (compareKubernetesVersions(version, OLDEST_KUBERNETES) < 0) {
    return `older than ${formatKubernetesVersion(OLDEST_KUBERNETES)}`;
  }
  const { major, minor } = tried;
  if (version.major !== major || version.minor > minor) return `newer than ${major}.${minor}, not tried yet`;
  return undefined;
}

/** The newest that fits; what does not is handed to `refuse`. */
export function choose<T extends { version: KubernetesVersion }>(
  offers: readonly T[],
  tried: KubernetesVersion,
  refuse: (version: KubernetesVersion, why: string) => void,
): T | undefined {
  const fitting = offers.filter(({ version }) => {
    const why = misfit(version, tried);
    if (why !== undefined) refuse(version, why);
    return why === undefined;
  });
  return fitting.toSorted((a, b) => compareKubernetesVersions(b.version, a.version))[0];
}
