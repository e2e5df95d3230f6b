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
  /** What the program is called, where that is not the last part of its package. */
  name?: string;
  /** `-X` values for the linker, by variable. */
  variables?: Readonly<Record<string, string>>;
  /** More of the environment of `go build`. */
  env?: RunOptions['env'];
}

/** Where the program of a pin is kept, and how it is linked. */
function placeOf(tool: GoTool): { name: string; path: string; ldflags: string } {
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
  const name = tool.name ?? basename(tool.package === '.' ? tool.folder : tool.package);
  const path = join(dirname(cacheFolder(process.env)), 'tools', `${name}-${hash}`, name);
  return { name, path, ldflags };
}

/** Whether the program is in the user's cache: a test that is not worth minutes of building asks first. */
export function isBuilt(tool: GoTool): boolean {
  return existsSync(placeOf(tool).path);
}

/**
 * The path of the program, from the user's cache, else built into it: once per machine and pin. Processes that
 * ask for one at the same time wait for each other.
 */
export async function goTool(tool: GoTool): Promise<string> {
  const { name, path, ldflags } = placeOf(tool);
  if (existsSync(path)) return path;

  mkdirSync(dirname(path), { recursive: true });
  // One for each program: a small one does not wait for one that takes many minutes.
  const lock = await FileLock.acquire(join(dirname(path), 'lock'), { clock: systemClock });
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
