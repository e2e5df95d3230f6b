/**
 * Compares the licences of every package in package-lock.json with those that we take: for what goes into the
 * program, and for tools that never leave the workshop. Usage: node scripts/licenses.ts
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licences under which code may go into the program: none asks anything of who runs it. */
const IN_THE_PROGRAM: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
]);
/** Licences of tools: also those that ask for the sources of changed files. */
const OF_TOOLS: ReadonlySet<string> = new Set([...IN_THE_PROGRAM, 'CC-BY-4.0', 'MPL-2.0']);

/** What a lock file says of a package. */
export interface LockedPackage {
  version?: string;
  license?: string;
  dev?: boolean;
}

/** What is wrong with the licences of a lock file, one line a package. */
export function objections(packages: Readonly<Record<string, LockedPackage>>): string[] {
  return Object.entries(packages).flatMap(([path, { version, license, dev }]) => {
    if (path === '') return [];
    const name = `${path.replace(/^.*node_modules\//, '')}@${version ?? '?'}`;
    if (license === undefined) return [`${name} names no licence: look at it, and replace it or say so here`];
    const taken = dev === true ? OF_TOOLS : IN_THE_PROGRAM;
    if (allows(license, taken)) return [];
    return [
      `${name} is under ${license}, which is not taken ${dev === true ? 'for tools' : 'into the program'}`,
    ];
  });
}

/** Whether an SPDX expression leaves a choice that is taken: one side of OR, both of AND. */
function allows(expression: string, taken: ReadonlySet<string>): boolean {
  const text = expression.trim().replace(/^\((.*)\)$/, '$1');
  if (/ OR /.test(text)) return text.split(' OR ').some((part) => allows(part, taken));
  return text.split(' AND ').every((part) => taken.has(part.trim()));
}

/** The packages of the project's lock file. */
export function lockedPackages(): Record<string, LockedPackage> {
  const lock = readFileSync(join(import.meta.dirname, '..', 'package-lock.json'), 'utf8');
  return (JSON.parse(lock) as { packages: Record<string, LockedPackage> }).packages;
}

if (import.meta.main) {
  const packages = lockedPackages();
  const wrong = objections(packages);
  for (const line of wrong) process.stderr.write(`${line}\n`);
  process.stdout.write(
    `${Object.keys(packages).length - 1} packages, ${wrong.length} with a licence to look at\n`,
  );
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
