import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatKubernetesVersion, type KubernetesVersion } from '../../base/kubernetes-version.ts';
import { choose, versionOfArchive } from './release.ts';
import { keptReleases, setupEnvtestStore, type Filling } from './store.ts';

describe('the folder of setup-envtest', () => {
  it.each([
    ['linux', { HOME: '/home/a' }, '/home/a/.local/share/kubebuilder-envtest/k8s'],
    ['linux', { HOME: '/home/a', XDG_DATA_HOME: '/data' }, '/data/kubebuilder-envtest/k8s'],
    ['linux', { HOME: '/home/a', XDG_DATA_HOME: '' }, '/home/a/.local/share/kubebuilder-envtest/k8s'],
    ['darwin', { HOME: '/Users/a' }, '/Users/a/Library/Application Support/io.kubebuilder.envtest/k8s'],
    ['linux', {}, undefined],
  ] as const)('on %s with %j is %s', (platform, env, folder) => {
    expect(setupEnvtestStore(env, platform)).toBe(folder);
  });
});

describe('releases that are kept', () => {
  let store = '';
  beforeEach(() => {
    store = mkdtempSync(join(tmpdir(), 'boxwright-store-'));
  });
  afterEach(() => {
    for (const name of ['1.36.2', '1.35.0']) chmodIfThere(join(store, `${name}-linux-amd64`), 0o755);
    rmSync(store, { recursive: true });
  });

  function keep(name: string, programs: readonly string[], mode = 0o555): void {
    const folder = join(store, name);
    mkdirSync(folder);
    for (const program of programs) writeFileSync(join(folder, program), 'program', { mode: 0o555 });
    chmodSync(folder, mode);
  }

  function look(filling: Filling = 'in place') {
    const refused: string[] = [];
    const refuse = (version: KubernetesVersion, why: string): void =>
      void refused.push(`${formatKubernetesVersion(version)}: ${why}`);
    const kept = keptReleases(store, 'linux-amd64', filling, refuse);
    return { kept: kept.map(({ version }) => formatKubernetesVersion(version)), refused };
  }

  it('are those of this platform, with both programs', () => {
    keep('1.36.2-linux-amd64', ['etcd', 'kube-apiserver', 'kubectl']);
    keep('1.35.0-linux-amd64', ['etcd']);
    keep('1.36.2-linux-arm64', ['etcd', 'kube-apiserver']);
    keep('notes', []);
    expect(look()).toEqual({ kept: ['1.36.2'], refused: ['1.35.0: no kube-apiserver there'] });
  });

  it('are not taken while setup-envtest unpacks them', () => {
    keep('1.36.2-linux-amd64', ['etcd', 'kube-apiserver'], 0o755);
    expect(look()).toEqual({ kept: [], refused: ['1.36.2: still being unpacked, or left so'] });
    expect(look('moved').kept).toEqual(['1.36.2']);
  });

  it('are none where there is no folder', () => {
    rmSync(store, { recursive: true });
    expect(look()).toEqual({ kept: [], refused: [] });
    mkdirSync(store);
  });
});

describe('the choice', () => {
  it('is the newest that is neither too old nor newer than what was tried, and says of each why not', () => {
    const offers = ['1.36.0', '1.29.4', '1.36.9', '1.37.0', '1.30.0', '2.0.0'].flatMap((text) => {
      const version = versionOfArchive(`envtest-v${text}-linux-amd64.tar.gz`, 'linux-amd64');
      return version === undefined ? [] : [{ version }];
    });
    const refused: string[] = [];
    const chosen = choose(offers, { major: 1, minor: 36, patch: 3 }, (version, why) =>
      refused.push(`${formatKubernetesVersion(version)}: ${why}`),
    );
    expect(chosen?.version).toEqual({ major: 1, minor: 36, patch: 9 });
    expect(refused).toEqual([
      '1.29.4: older than 1.30.0',
      '1.37.0: newer than 1.36, not tried yet',
      '2.0.0: newer than 1.36, not tried yet',
    ]);
  });

  it('knows archives by their names', () => {
    const names = [
      'envtest-v1.36.2-linux-amd64.tar.gz',
      'envtest-v1.36.2-linux-arm64.tar.gz',
      'envtest-v1.36.2-rc.1-linux-amd64.tar.gz',
      'kubebuilder-tools-1.24.1-linux-amd64.tar.gz',
    ];
    expect(names.filter((name) => versionOfArchive(name, 'linux-amd64') !== undefined)).toEqual([names[0]]);
  });
});

function chmodIfThere(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch {
    // The test did not make it.
  }
}
