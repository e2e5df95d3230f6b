/**
 * How long `boxwright dev` takes on a new machine until the first Instance is Online: with an archive that is served on
 * loopback, with KUBEBUILDER_ASSETS, with programs that were built before, and with `--build` with neither (it builds
 * them with empty caches of Go: many minutes).
 *
 * Usage: node test/first-run/main.ts [--build]
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../../scripts/markdown.ts';
import { systemClock } from '../../src/base/clock.ts';
import { getPrograms, streamProgress } from '../../src/devcluster/index.ts';
import { publishedFrom } from '../support/published-programs.ts';
import { run } from '../support/run.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
const LIMIT_MS = 3_600_000;

const { values } = parseArgs({ options: { build: { type: 'boolean', default: false } } });
const scratch = mkdtempSync(join(tmpdir(), 'boxwright-first-'));
const progress = streamProgress(process.stderr, systemClock);

/** The first run of a machine of its own: `env` is what it has. */
async function firstRun(way: string, env: Record<string, string>, ...flags: string[]): Promise<string[]> {
  const machine = mkdtempSync(join(scratch, 'machine-'));
  const own = {
    KUBECONFIG: '',
    KUBEBUILDER_ASSETS: '',
    TMPDIR: machine,
    XDG_CACHE_HOME: join(machine, 'cache'),
    XDG_DATA_HOME: join(machine, 'data'),
    GOCACHE: join(machine, 'go-build'),
    GOMODCACHE: join(machine, 'go-mod'),
    GOFLAGS: '-modcacherw',
  };
  const argv = [MAIN, 'dev', '--exit', '--output=json', ...flags];
  const { code, stdout, stderr } = await run(process.execPath, argv, {
    env: { ...own, ...env },
    timeoutMs: LIMIT_MS,
  });
  rmSync(machine, { recursive: true, force: true });
  if (code !== 0) throw new Error(`${way}: ended with ${code}\n${stdout}\n${stderr}`);
  const { firstInstanceOnlineSeconds } = JSON.parse(stdout) as { firstInstanceOnlineSeconds: number };
  const said = stderr.split('\n').find((line) => line.startsWith('the control plane is ')) ?? 'built';
  return [way, `${firstInstanceOnlineSeconds} s`, said.replaceAll(scratch, '…')];
}

try {
  const programs = await getPrograms({ env: process.env, clock: systemClock, progress });
  const assets = join(scratch, 'assets');
  mkdirSync(assets);
  for (const name of ['etcd', 'kube-apiserver'] as const) symlinkSync(programs[name], join(assets, name));
  await using published = await publishedFrom('1.36.2', programs);
  const fetched = `--envtest-index=${published.index}`;
  const builtBefore = { XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? '' };
  const rows = [
    await firstRun('an archive on loopback', {}, fetched),
    await firstRun('KUBEBUILDER_ASSETS', { KUBEBUILDER_ASSETS: assets }, '--envtest-index=off'),
    await firstRun('built before', builtBefore, '--envtest-index=off'),
    ...(values.build ? [await firstRun('neither: built, cold', {}, '--envtest-index=off')] : []),
  ];
  process.stdout.write(`${table(['way', 'first Instance Online after', 'what it said'], rows)}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
