import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Writes generated files, or with `--check` says which are stale: the one way in which our generators end.
 * Files of the folder with the same ending that are no longer generated are stale too.
 */
export async function settle(
  folder: string,
  ending: string,
  files: ReadonlyMap<string, string>,
  check: boolean,
): Promise<number> {
  await mkdir(folder, { recursive: true });
  const present = (await readdir(folder)).filter((name) => name.endsWith(ending));
  const left = present.filter((name) => !files.has(name));
  const stale: string[] = [...left];
  for (const [name, content] of files) {
    const now = present.includes(name) ? await readFile(join(folder, name), 'utf8') : undefined;
    if (now === content) continue;
    stale.push(name);
    if (!check) await writeFile(join(folder, name), content);
  }
  if (!check) {
    for (const name of left) await rm(join(folder, name));
    return 0;
  }
  for (const name of stale) {
    process.stderr.write(`${join(folder, name)} is stale: run npm run gen\n`);
  }
  return stale.length === 0 ? 0 : 1;
}
