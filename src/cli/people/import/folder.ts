import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandFailedError, UsageError } from '../../exit-codes.ts';
import { NOTES_FILE, type Tree } from './tree.ts';

/**
 * Checks that a folder may be written to: it is empty, not there, or holds an earlier import and is to be overwritten.
 * @throws UsageError
 */
export function checkFolder(folder: string, overwrite: boolean): void {
  let there: string[];
  try {
    there = readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    throw new UsageError(`-o ${folder}: cannot be used as a folder (${code})`);
  }
  if (there.length === 0) return;
  if (!overwrite) throw new UsageError(`-o ${folder} is not empty: name another folder, or add --overwrite`);
  if (!there.includes(NOTES_FILE))
    throw new UsageError(
      `-o ${folder} has no ${NOTES_FILE}, so it is no earlier import: name another folder`,
    );
}

/** Writes the files. Others that are there stay. @throws CommandFailedError */
export function writeFolder(folder: string, tree: Tree): void {
  try {
    for (const [path, text] of tree) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  } catch (error) {
    throw new CommandFailedError(`-o ${folder}: writing failed: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
