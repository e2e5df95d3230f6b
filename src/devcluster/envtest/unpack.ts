import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { extract } from 'tar';
import { EnvtestError } from './errors.ts';
import { ENVTEST_PROGRAMS } from './release.ts';

/** The programs that are taken out of an archive; the last one may be missing. */
const TAKEN: readonly string[] = [...ENVTEST_PROGRAMS, 'kubectl'];

/**
 * Puts the programs of an archive into `folder`, whatever folders they are in there. Nothing else is unpacked, and an
 * archive with a path that leads outside is refused. Throws {@link EnvtestError}.
 */
export async function unpackArchive(file: string, folder: string): Promise<void> {
  const whole = join(folder, 'whole');
  mkdirSync(whole, { recursive: true });
  const outside: string[] = [];
  const found = new Set<string>();
  try {
    await extract({
      file,
      cwd: whole,
      // A damaged archive is an error, not a warning.
      strict: true,
      filter: (path, entry) => {
        if (path.startsWith('/') || path.split(/[/\\]/).includes('..')) outside.push(path);
        const taken = 'type' in entry && entry.type === 'File' && TAKEN.includes(basename(path));
        if (taken && outside.length === 0) found.add(path);
        return taken && outside.length === 0;
      },
    });
  } catch (error) {
    throw new EnvtestError(`${basename(file)} cannot be unpacked: ${(error as Error).message}`, error);
  }
  if (outside.length > 0)
    throw new EnvtestError(`${basename(file)} has a path that leads outside: ${outside[0]}`);
  for (const path of found) renameSync(join(whole, path), join(folder, basename(path)));
  rmSync(whole, { recursive: true });
  const lacks = ENVTEST_PROGRAMS.filter((name) => !existsSync(join(folder, name)));
  if (lacks.length > 0) throw new EnvtestError(`${basename(file)} holds no ${lacks.join(' and no ')}`);
  for (const name of TAKEN) if (existsSync(join(folder, name))) chmodSync(join(folder, name), 0o555);
}
