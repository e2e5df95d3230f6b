/**
 * Runs every generator, which is every scripts/gen-<name>.ts. Each writes its output, or with `--check`
 * compares it, names what is stale and exits with 1. Usage: node scripts/gen.ts [--check]
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const generators = readdirSync(import.meta.dirname)
  .filter((name) => /^gen-.*\.ts$/.test(name) && !name.endsWith('.test.ts'))
  .toSorted();
for (const name of generators) {
  const script = join(import.meta.dirname, name);
  const { status } = spawnSync(process.execPath, [script, ...process.argv.slice(2)], { stdio: 'inherit' });
  if (status === 0) continue;
  const hint = process.argv.includes('--check') ? ': run npm run gen and commit what it writes' : '';
  process.stderr.write(`${name} failed${hint}\n`);
  process.exitCode = 1;
}
