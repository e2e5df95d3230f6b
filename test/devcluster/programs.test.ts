import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import {
  AssetsIncompleteError,
  BuildFailedError,
  GoMissingError,
  getPrograms,
  silentProgress,
} from '../../src/devcluster/index.ts';
import { readProxySettings } from '../../src/base/proxy/settings.ts';
import { envtestPlatform } from '../../src/devcluster/envtest/release.ts';
import { publishedPrograms } from '../support/published-programs.ts';
import { run } from '../support/run.ts';

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'boxwright-programs-'));
});
afterEach(async () => {
  // What setup-envtest keeps is read-only.
  await run('chmod', ['-R', 'u+w', scratch]);
  rmSync(scratch, { recursive: true });
});

/** A `go` that writes what it was asked to build into the output file, or fails for packages that match. */
function fakeGo(failFor = 'nothing'): string {
  const folder = mkdtempSync(join(scratch, 'go-'));
  const script = `#!/bin/sh
[ "$1" = version ] && exit 0
echo "$@" >> ${scratch}/calls
for last; do :; done
while [ "$1" != -o ]; do shift; done
case "$last" in *${failFor}*) echo "cannot compile $last"; exit 1;; esac
echo "$last" > "$2"
`;
  writeFileSync(join(folder, 'go'), script);
  chmodSync(join(folder, 'go'), 0o755);
  return folder;
}

function get(env: Record<string, string>) {
  return getPrograms({
    env: { XDG_CACHE_HOME: join(scratch, 'cache'), ...env },
    clock: systemClock,
    progress: silentProgress,
  });
}

/** As `boxwright dev` asks for them; answers what was said besides. */
async function getForDev(env: Record<string, string>, index?: string) {
  const notes: string[] = [];
  const programs = await getPrograms({
    env: {
      XDG_CACHE_HOME: join(scratch, 'cache'),
      XDG_DATA_HOME: join(scratch, 'data'),
      PATH: `${fakeGo()}:/usr/bin:/bin`,
      ...env,
    },
    clock: systemClock,
    progress: { ...silentProgress, note: (text) => void notes.push(text) },
    envtest: { index: index === undefined ? undefined : new URL(index), proxies: readProxySettings({}) },
  });
  return { programs, notes };
}

/** A release of setup-envtest, complete, as it leaves them. */
function setupEnvtestKeeps(version: string): string {
  const folder = join(scratch, 'data/kubebuilder-envtest/k8s', `${version}-${envtestPlatform()}`);
  mkdirSync(folder, { recursive: true });
  for (const name of ['etcd', 'kube-apiserver']) writeFileSync(join(folder, name), name, { mode: 0o555 });
  chmodSync(folder, 0o555);
  return folder;
}

const PUBLISHED = { etcd: 'etcd', 'kube-apiserver': 'kube-apiserver' };

function calls(): string[] {
  const file = join(scratch, 'calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

describe('the programs of the control plane', () => {
  it('are built once from pinned modules, then taken from the cache', async () => {
    const env = { PATH: `${fakeGo()}:/usr/bin:/bin` };
    const built = await get(env);
    expect(readFileSync(built['kube-apiserver'], 'utf8').trim()).toBe('k8s.io/kubernetes/cmd/kube-apiserver');
    expect(calls()).toHaveLength(3);
    expect(calls()[0]).toContain('-mod=readonly -trimpath');
    expect(await get({ PATH: '' })).toEqual(built);
    expect(calls()).toHaveLength(3);
  });

  it('are built once when two ask at the same time', async () => {
    const env = { PATH: `${fakeGo()}:/usr/bin:/bin` };
    const [one, two] = await Promise.all([get(env), get(env)]);
    expect(one).toEqual(two);
    expect(calls()).toHaveLength(3);
  });

  it('that were finished before a failure are not built again', async () => {
    const failing = get({ PATH: `${fakeGo('kube-apiserver')}:/usr/bin:/bin` });
    await expect(failing).rejects.toThrow(BuildFailedError);
    await expect(failing).rejects.toThrow('cannot compile k8s.io/kubernetes/cmd/kube-apiserver');
    const before = calls().length;
    const built = await get({ PATH: `${fakeGo()}:/usr/bin:/bin` });
    expect(
      calls()
        .slice(before)
        .map((call) => call.split(' ').at(-1)),
    ).toEqual(['k8s.io/kubernetes/cmd/kube-apiserver', 'k8s.io/kubernetes/cmd/kube-controller-manager']);
    expect(existsSync(built.etcd)).toBe(true);
  });

  it('cannot be built without Go, and the error says what to do', async () => {
    const without = get({ PATH: scratch });
    await expect(without).rejects.toThrow(GoMissingError);
    await expect(without).rejects.toThrow(/install Go .* or set KUBEBUILDER_ASSETS/);
  });

  it('come from KUBEBUILDER_ASSETS, and what that lacks is built', async () => {
    const assets = join(scratch, 'assets');
    mkdirSync(assets);
    for (const name of ['kube-apiserver', 'etcd']) writeFileSync(join(assets, name), '');
    const programs = await get({ KUBEBUILDER_ASSETS: assets, PATH: `${fakeGo()}:/usr/bin:/bin` });
    expect(dirname(programs.etcd)).toBe(assets);
    expect(dirname(programs['kube-apiserver'])).toBe(assets);
    expect(calls()).toHaveLength(1);
    expect(calls()[0]).toMatch(/kube-controller-manager$/);
  });

  it('are missed when KUBEBUILDER_ASSETS names a folder without them', async () => {
    const incomplete = get({ KUBEBUILDER_ASSETS: scratch, PATH: '' });
    await expect(incomplete).rejects.toThrow(AssetsIncompleteError);
    await expect(incomplete).rejects.toThrow(
      `KUBEBUILDER_ASSETS=${scratch} holds no kube-apiserver and no etcd`,
    );
  });

  it('include kubectl and helm', async () => {
    const { kubectl, helm } = await get({ PATH: `${fakeGo()}:/usr/bin:/bin` });
    const versions = [await run(kubectl, ['version', '--client']), await run(helm, ['version', '--short'])];
    expect(versions.map(({ stdout }) => stdout)).toEqual([
      expect.stringContaining('Client Version: v1.35'),
      expect.stringMatching(/^v4\./),
    ]);
  });
});

describe('the programs for boxwright dev', () => {
  it('are those of KUBEBUILDER_ASSETS, and no controller manager is built for them', async () => {
    const assets = join(scratch, 'assets');
    mkdirSync(assets);
    for (const name of ['kube-apiserver', 'etcd']) writeFileSync(join(assets, name), '');
    const { programs, notes } = await getForDev({ KUBEBUILDER_ASSETS: assets });
    expect(programs).toMatchObject({ etcd: join(assets, 'etcd'), 'kube-controller-manager': undefined });
    expect(calls()).toEqual([]);
    expect(notes).toEqual([
      `the control plane is that of KUBEBUILDER_ASSETS=${assets}`,
      expect.stringMatching(/^there is no kube-controller-manager: /),
    ]);
  });

  it('are what setup-envtest keeps, before anything is fetched or built', async () => {
    setupEnvtestKeeps('1.29.0');
    const folder = setupEnvtestKeeps('1.35.1');
    await using published = await publishedPrograms('1.36.2', PUBLISHED);
    const { programs, notes } = await getForDev({}, published.index);
    expect(programs).toMatchObject({ etcd: join(folder, 'etcd'), 'kube-controller-manager': undefined });
    expect(notes).toEqual([
      `not taken: Kubernetes 1.29.0 in ${dirname(folder)}: older than 1.30.0`,
      `the control plane is Kubernetes 1.35.1, from setup-envtest’s folder ${dirname(folder)}`,
      expect.stringMatching(/^there is no kube-controller-manager: /),
    ]);
    expect(published.asked()).toEqual([]);
    expect(calls()).toEqual([]);
  });

  it('are fetched once when two ask at the same time, and need no network after that', async () => {
    const published = await publishedPrograms('1.36.2', PUBLISHED);
    const { index } = published;
    const [one, two] = await Promise.all([getForDev({}, index), getForDev({}, index)]);
    expect(one.programs).toEqual(two.programs);
    expect(readFileSync(one.programs.etcd, 'utf8')).toBe('etcd');
    expect(published.asked().toSorted()).toEqual([
      expect.stringMatching(/^\/envtest-v1\.36\.2-/),
      '/index.yaml',
    ]);
    await published[Symbol.asyncDispose]();
    expect((await getForDev({}, index)).programs).toEqual(one.programs);
    expect(calls()).toEqual([]);
  });

  it('are built where nothing can be fetched, which is said first', async () => {
    const { programs, notes } = await getForDev({}, 'http://127.0.0.1:1/index.yaml');
    expect(calls()).toHaveLength(3);
    expect(existsSync(programs['kube-controller-manager'] ?? '')).toBe(true);
    expect(notes).toEqual([expect.stringMatching(/^no published archive is taken: .*ECONNREFUSED/)]);
  });

  it('are those that were built before, with the controller manager, whatever else there is', async () => {
    await get({ PATH: `${fakeGo()}:/usr/bin:/bin` });
    setupEnvtestKeeps('1.36.2');
    const { programs, notes } = await getForDev({});
    expect(programs['kube-controller-manager']).toContain(join(scratch, 'cache'));
    expect(notes).toEqual([
      expect.stringMatching(/^the control plane is Kubernetes v1\.36\.3, built before/),
    ]);
  });
});
