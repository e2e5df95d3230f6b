import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { GO_BUILD_TIMEOUT } from '../support/go-program.ts';
import { run } from '../support/run.ts';
import { HAS_HISTORY, OLDER } from '../upgrade/older-version.ts';
import { CHART, objectsOf, type Rendered } from './chart.ts';
import { HELMS } from './helms.ts';

let folder: string;
let older: string;
beforeAll(async () => {
  if (!HAS_HISTORY) return;
  folder = mkdtempSync(join(tmpdir(), 'boxwright-older-'));
  older = join(folder, 'helm/boxwright');
  const archive = join(folder, 'chart.tar');
  await succeed(run('git', ['archive', '--output', archive, OLDER, 'helm/boxwright'], { cwd: ROOT }));
  await succeed(run('tar', ['--extract', '--file', archive, '--directory', folder]));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function succeed(running: ReturnType<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await running;
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** Their order is Helm's own affair, and differs between its commands. */
function byName(text: string): Rendered[] {
  return objectsOf(text).toSorted((one, other) => fullName(one).localeCompare(fullName(other)));
}

function fullName({ kind, metadata }: Rendered): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}

describe.skipIf(!HAS_HISTORY).each(HELMS)(
  'a release of the version before, upgraded by Helm $major',
  { timeout: GO_BUILD_TIMEOUT },
  ({ program }) => {
    it.each(['--reuse-values', '--reset-then-reuse-values'])(
      'with %s is what the new chart makes of the values that its user gave',
      async (flag) => {
        const cluster = testCluster();
        await using place = await cluster.namespace('reuse');
        const helm = await program(cluster);
        const within = ['--namespace', place.name];
        const given = ['--set', `namespaces={${place.name}},allowedHosts={deploy.example.com},replicas=1`];
        // The kinds belong to the cluster, which other tests share.
        const all = [...within, ...given, '--set', 'crds.enabled=false,admissionPolicies.enabled=false'];
        await succeed(helm(['install', 'boxwright', older, ...all]));
        const upgrade = ['upgrade', 'boxwright', CHART, ...within, flag, '--set', 'log.level=debug'];
        await succeed(helm(upgrade));
        const manifest = await succeed(helm(['get', 'manifest', 'boxwright', ...within]));
        const template = ['template', 'boxwright', CHART, '--skip-tests', '--is-upgrade'];
        const wanted = await succeed(helm([...template, ...all, '--set', 'log.level=debug']));
        expect(byName(manifest)).toEqual(byName(wanted));

        // Nothing is random, nothing has the time in it: what helm diff compares is equal.
        await succeed(helm(upgrade));
        expect(await succeed(helm(['get', 'manifest', 'boxwright', ...within]))).toBe(manifest);
        await succeed(helm(['uninstall', 'boxwright', ...within]));
      },
    );
  },
);
