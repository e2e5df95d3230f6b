/** Oldest Kubernetes that the operator is for: its definitions need what came with it. */
export const OLDEST_KUBERNETES: KubernetesVersion = { major: 1, minor: 30, patch: 0 };

/** A released version of Kubernetes. */
export interface KubernetesVersion {
  major: number;
  minor: number;
  patch: number;
}

/** Reads `1.36.3` or `v1.36.3`; undefined for anything else, releases to come (`-rc.0`) among it. */
export function parseKubernetesVersion(text: string): KubernetesVersion | undefined {
  const found = /^v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})$/.exec(text);
  if (found === null) return undefined;
  return { major: Number(found[1]), minor: Number(found[2]), patch: Number(found[3]) };
}

/** As people and file names have it: `1.36.3`. */
export function formatKubernetesVersion({ major, minor, patch }: KubernetesVersion): string {
  return `${major}.${minor}.${patch}`;
}

/** Below zero when `a` is the older one. */
export function compareKubernetesVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}
