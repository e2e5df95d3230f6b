import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes a file that only its owner may read, whatever was there before: it is complete when it appears, and
 * takes the place of what had the name.
 */
export function writePrivateFile(path: string, text: string): void {
  const next = `${path}.${randomUUID()}`;
  try {
    writeFileSync(next, text, { mode: 0o600, flag: 'wx' });
    renameSync(next, path);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
}
