import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../../src/devcluster/index.ts';
import { ROOT } from '../api/install.ts';
import { run } from '../support/run.ts';

/**
 * The version to come from and to go back to: the commit that last changed fields of spec or status in place,
 * before any release. Once there are releases, the newest one takes
 * its place.
 */
export const OLDER = '3be9255819b3307796e30d9215c0e193c5c29e3b';

/** Milliseconds. Packages may have to be installed, once per machine. */
export const OLDER_BUILD_TIMEOUT = 600_000;

/** What is kept of an older version: what it takes to install and run it. */
const KEPT = ['crds', 'helm', 'deploy', 'dist'] as const;

/** An older version of this project, ready to run. */
export interface OlderVersion {
  /** Its bundle, for Node. */
  program: string;
  /** Folders of its CRDs, its examples, its chart. */
  crds: string;
  examples: string;
  chart: string;
}

/** Without a history, as in an unpacked archive, there is nothing to come from. */
export const HAS_HISTORY = existsSync(join(ROOT, '.git'));

if (!HAS_HISTORY) {
  process.stderr.write(
    'tests of upgrades are skipped: this is no git checkout, so there is no older version\n',
  );
}

/**
 * Builds a commit as its own script does, once per machine: beside the control plane's programs in the user's
 * cache. Throws when the history does not reach back to it, with the command that fetches it.
 */
export async function olderVersion(commit: string = OLDER): Promise<OlderVersion> {
  const folder = join(dirname(cacheFolder(process.env)), 'versions', commit);
  if (!existsSync(folder)) await build(commit, folder);
  return {
    program: join(folder, 'dist/boxwright.js'),
    crds: join(folder, 'crds'),
    examples: join(folder, 'deploy/examples'),
    chart: join(folder, 'helm/boxwright'),
  };
}

async function build(commit: string, folder: string): Promise<void> {
  const known = await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT });
  if (known.code !== 0) {
    throw new Error(
      `the history of this clone does not reach back to ${commit.slice(0, 12)}, which upgrades are tested from: ` +
        `fetch it with "git fetch --unshallow", or "git fetch origin ${commit}"`,
    );
  }
  mkdirSync(dirname(folder), { recursive: true });
  const scratch = mkdtempSync(`${folder}.`);
  try {
    const sources = join(scratch, 'sources');
    mkdirSync(sources);
    const archive = join(scratch, 'sources.tar');
    await succeed('git', ['archive', '--format=tar', '--output', archive, commit], ROOT);
    await succeed('tar', ['-xf', archive, '-C', sources], scratch);
    const lock = 'package-lock.json';
    if (readFileSync(join(sources, lock), 'utf8') === readFileSync(join(ROOT, lock), 'utf8')) {
      symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'));
    } else {
      await succeed('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], sources);
    }
    await succeed(process.execPath, ['scripts/bundle.ts'], sources);
    const done = join(scratch, 'done');
    mkdirSync(done);
    for (const name of KEPT) renameSync(join(sources, name), join(done, name));
    if (!existsSync(folder)) renameSync(done, folder);
  } catch (error) {
    // Another process may have been quicker, and then all is well.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function succeed(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, stdout, stderr } = await run(command, args, { cwd, timeoutMs: OLDER_BUILD_TIMEOUT });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr.trim() || stdout.trim()}`);
}
