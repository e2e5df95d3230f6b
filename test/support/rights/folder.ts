import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from './comparison.ts';

/** How the names of the files end in which test files leave what the end of the run compares. */
export const IDENTITY = '.identity.json';
export const LOG = '.audit.log';

export function makeRightsFolder(scratch: string): string {
  const folder = join(scratch, 'rights');
  mkdirSync(folder);
  return folder;
}

/** What test files have left. */
export function readRightsFolder(folder: string): { identities: Identity[]; logs: string[] } {
  const ending = (text: string): string[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith(text))
      .map((name) => join(folder, name));
  return {
    identities: ending(IDENTITY).map((path) => JSON.parse(readFileSync(path, 'utf8')) as Identity),
    logs: ending(LOG),
  };
}
