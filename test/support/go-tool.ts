import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { cacheFolder } from '../../src/devcluster/index.ts';
import { FileLock } from '../../src/devcluster/programs/file-lock.ts';
import { GO_BUILD_TIMEOUT } from './go-program.ts';
import { run, type RunOptions } from './run.ts';

/** A program of other people, pinned by the go.mod and go.sum of a folder. */
export interface GoTool {
  /** The folder with the go.mod. */
  folder: string;
  /** The Go package of its main function; `.` for the folder’s own. */
  package: string;
  /** `-X` values for the linker, by variable. */
  variables?: Readonly<Record<string, string>>;
  /** More of the environment of `go build`. */
  env?: RunOptions['env'];
}

/**
 * The path of the program, from the user's cache, else built into it: once per machine and pin. Processes that
 * ask for one at the same time wait for each other.
 */
export async function goTool(tool: GoTool): Promise<string> {
  const flags = Object.entries(tool.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  const ldflags = ['-s', '-w', ...flags].join(' ');
  const sources = ['go.mod', 'go.sum', ...(tool.package === '.' ? ['main.go'] : [])];
  const pins = sources.map((file) => readFileSync(join(tool.folder, file), 'utf8'));
  const all = [
    ...pins,
    tool.package,
    ldflags,
    JSON.stringify(tool.env ?? {}),
    process.platform,
    process.arch,
  ];
  const hash = createHash('sha256').update(all.join('\0')).digest('hex').slice(0, 12);
  const name = basename(tool.package === '.' ? tool.folder : tool.package);
  const cache = join(dirname(cacheFolder(process.env)), 'tools');
  const path = join(cache, `${name}-${hash}`, name);
  if (existsSync(path)) return path;

  mkdirSync(dirname(path), { recursive: true });
  const lock = await FileLock.acquire(join(cache, 'lock'), { clock: systemClock });
  try {
    if (existsSync(path)) return path;
    process.stderr.write(`building ${name}, once per machine\n`);
    const partial = `${path}.tmp`;
    // Not -trimpath: compiled packages are then shared with the tests' other Go programs.
    const args = [
      'build',
      '-mod=readonly',
      '-buildvcs=false',
      '-ldflags',
      ldflags,
      '-o',
      partial,
      tool.package,
    ];
    const built = await run('go', args, {
      cwd: tool.folder,
      env: { GOWORK: 'off', ...tool.env },
      timeoutMs: GO_BUILD_TIMEOUT,
    });
    if (built.code !== 0) {
      rmSync(partial, { force: true });
      throw new Error(`go build of ${name} in ${tool.folder}: ${built.stderr.trim()}`);
    }
    renameSync(partial, path);
    return path;
  } finally {
    lock.release();
  }
}
