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
import { run } from '../support/run.ts';

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'boxwright-programs-'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

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
