import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { writeManifest } from '../../scripts/krew.ts';
import { nodeComplaint, OLDEST_NODE } from '../../src/cli/required-node.ts';
import { ROOT } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { run, type RunResult } from '../support/run.ts';

/** Somewhere without node_modules on the way up. */
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'boxwright-bundle-'));
  const built = await run(process.execPath, ['scripts/bundle.ts', folder], { cwd: ROOT });
  if (built.code !== 0) throw new Error(built.stderr);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function bundle(...argv: string[]): Promise<RunResult> {
  return bundleWith({}, ...argv);
}

function bundleWith(env: Readonly<Record<string, string>>, ...argv: string[]): Promise<RunResult> {
  return run(process.execPath, [join(folder, 'boxwright.js'), ...argv], {
    cwd: folder,
    env: { TMPDIR: folder, KUBECONFIG: '', ...env },
    timeoutMs: 150_000,
  });
}

/** A Node.js on PATH that is older than the program needs; undefined where there is none. */
function oldNode(): string | undefined {
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((each) => join(each, 'node'));
  return candidates.find((path) => {
    const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    return status === 0 && nodeComplaint(stdout.trim().replace(/^v/, ''), path) !== undefined;
  });
}

const OLD_NODE = oldNode();

const toldOldNode = (version: string): RegExp =>
  new RegExp(`^boxwright needs Node\\.js ${OLDEST_NODE} or newer, and \\S+ is v${version}: .+\n$`);

describe('on a Node.js that is too old', () => {
  it('says so in one line and ends with 2, whatever it was called for', async () => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '21.7.3' } })`;
    for (const argv of [[], ['--version'], ['sandbox'], ['nonsense']]) {
      const { code, stdout, stderr } = await run(process.execPath, [
        `--import=data:text/javascript,${encodeURIComponent(pretend)}`,
        join(folder, 'boxwright.js'),
        ...argv,
      ]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(toldOldNode('21\\.7\\.3'));
    }
  });

  it.skipIf(OLD_NODE === undefined)('that is really there says the same', async () => {
    const { code, stdout, stderr } = await run(OLD_NODE ?? '', [join(folder, 'boxwright.js'), 'operator']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(toldOldNode('\\d+\\.\\d+\\.\\d+'));
  });
});

function withoutSqlite(...argv: string[]): Promise<RunResult> {
  return run(process.execPath, ['--no-experimental-sqlite', join(folder, 'boxwright.js'), ...argv]);
}

describe('the bundle', () => {
  it('loads the database for the embedded service alone', async () => {
    expect(await withoutSqlite('version')).toMatchObject({ code: 0, stderr: '' });
    expect(await withoutSqlite('dev', '--help')).toMatchObject({ code: 0, stderr: '' });
    const operator = await withoutSqlite('operator', '--log-format=text', '--kubeconfig=/nowhere/kubeconfig');
    expect(operator).toMatchObject({ code: 2, stderr: expect.stringContaining('/nowhere/kubeconfig') });
    expect(operator.stderr).not.toContain('sqlite');
  });

  it.each(['operator', 'dev', 'sandbox', 'completion', 'version'])(
    'prints the help of %s',
    async (command) => {
      const { code, stdout, stderr } = await bundle(command, '--help');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: boxwright ${command}`);
    },
  );

  it('knows its version', async () => {
    const { stdout } = await bundle('version', '--output', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'boxwright.dev/v1alpha1' });
  });

  it('brings the examples to Ready, by itself', async () => {
    const { code, stdout, stderr } = await bundle('dev', '--exit');
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/All 7 resources are Ready after \d/);
    expect(stdout).toMatch(/First Instance Online after \d/);
    expect(readdirSync(folder).filter((name) => name.startsWith('boxwright-'))).toEqual([]);
  }, 180_000);

  describe('says at once what it needs for a control plane', () => {
    const ALTERNATIVES = /Go 1\.26[\s\S]*KUBEBUILDER_ASSETS=[\s\S]*--context <name>/;

    it('where there is no Go and nothing was built before', async () => {
      const env = {
        PATH: '/usr/bin:/bin',
        XDG_CACHE_HOME: join(folder, 'cache'),
        XDG_DATA_HOME: join(folder, 'data'),
      };
      const { code, stderr } = await bundleWith(env, 'dev', '--exit', '--envtest-index=off');
      expect(code).toBe(1);
      expect(stderr).toMatch(ALTERNATIVES);
      expect(stderr).toContain('because: etcd, kube-apiserver, kube-controller-manager must be built');
    });

    it('where the file is alone', async () => {
      const alone = mkdtempSync(join(tmpdir(), 'boxwright-alone-'));
      try {
        copyFileSync(join(folder, 'boxwright.js'), join(alone, 'boxwright.js'));
        const { code, stderr } = await run(
          process.execPath,
          [join(alone, 'boxwright.js'), 'dev', '--exit', '--examples', join(ROOT, 'deploy/examples')],
          { cwd: alone, env: { TMPDIR: alone, KUBECONFIG: '' } },
        );
        expect(code).toBe(1);
        expect(stderr).toMatch(/^boxwright: this copy .* is not whole: take the whole dist folder/);
      } finally {
        rmSync(alone, { recursive: true });
      }
    });
  });
});

describe('packed for krew', () => {
  it('is found by kubectl under the name that krew gives it', async () => {
    const work = mkdtempSync(join(tmpdir(), 'boxwright-krew-'));
    const archive = join(work, 'boxwright.tar.gz');
    // As the release workflow packs it.
    const packed = ['--transform=s,^\\.,boxwright,', `--file=${archive}`, '-C', folder, '.'];
    expect(await run('tar', ['--create', '--gzip', ...packed])).toMatchObject({ code: 0, stderr: '' });
    const manifest = parse(readFileSync(writeManifest(archive), 'utf8')) as {
      spec: { platforms: { sha256: string; bin: string; uri: string; files: { from: string }[] }[] };
    };
    const [platform] = manifest.spec.platforms;
    const hash = createHash('sha256').update(readFileSync(archive)).digest('hex');
    expect(platform).toMatchObject({
      sha256: hash,
      bin: 'boxwright.js',
      files: [{ from: 'boxwright/*', to: '.' }],
    });
    expect(platform?.uri.endsWith('/boxwright.tar.gz')).toBe(true);
    // As krew does it: the files of the manifest in a store, and a link to bin on PATH.
    const store = join(work, 'store');
    mkdirSync(store);
    await run('tar', ['-C', store, '--strip-components=1', '-xzf', archive]);
    symlinkSync(join(store, 'boxwright.js'), join(work, 'kubectl-boxwright'));
    const path = [work, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
    const help = await testCluster().kubectl(['boxwright', 'status', '--help'], { env: { PATH: path } });
    rmSync(work, { recursive: true });
    expect(help.stdout).toContain('Usage: kubectl boxwright status');
  });
});
