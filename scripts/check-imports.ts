/**
 * Fails when an import goes against the project's directions: cli → controllers → {kube, service, api} →
 * base; sandbox and devcluster know base only; kinds do not know each other's insides.
 * Usage: node scripts/check-imports.ts [root]
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** What each folder of src/ may import besides itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  base: [],
  api: ['base'],
  kube: ['base'],
  service: ['base'],
  sandbox: ['base'],
  devcluster: ['base'],
  controllers: ['kube', 'service', 'api', 'base'],
  cli: ['controllers', 'kube', 'service', 'api', 'sandbox', 'devcluster', 'base'],
};

/** Folders of src/controllers/ that all kinds build on; every other one is a kind. */
const SHARED_BY_KINDS: ReadonlySet<string> = new Set(['record', 'content', 'draft']);

export interface Violation {
  /** Path and line, such as `src/kube/cache.ts:12`. */
  at: string;
  reason: string;
}

/** All imports below `root`/src that go against the directions. */
export function checkImports(root: string): Violation[] {
  const violations: Violation[] = [];
  for (const file of sourceFiles(join(root, 'src'))) {
    const from = relative(root, file).split(sep).join('/');
    for (const { specifier, line } of importsOf(readFileSync(file, 'utf8'))) {
      if (!specifier.startsWith('.')) continue;
      const to = relative(root, resolve(dirname(file), specifier))
        .split(sep)
        .join('/');
      const reason = objection(from, to);
      if (reason !== undefined) violations.push({ at: `${from}:${line}`, reason });
    }
  }
  return violations;
}

/** Why `from` must not import `to` (paths from the root), or undefined when it may. */
export function objection(from: string, to: string): string | undefined {
  if (isTest(from)) return undefined;
  if (isTest(to)) return `${to} is for tests only`;
  const source = placeOf(from);
  const target = placeOf(to);
  // The version stands there, and nowhere else.
  if (source.area === 'cli' && to === 'package.json') return undefined;
  const allowed = ALLOWED[source.area];
  if (allowed === undefined) {
    return `src/${source.area}/ has no place in the directions of scripts/check-imports.ts`;
  }
  if (target.area !== source.area) {
    if (allowed.includes(target.area)) return undefined;
    const may = allowed.length === 0 ? 'nothing of ours' : `only ${allowed.join(', ')}`;
    return `${source.area} imports ${may}, not ${to}`;
  }
  if (source.area === 'controllers') return objectionBetweenKinds(source, target, to);
  return undefined;
}

function objectionBetweenKinds(source: Place, target: Place, to: string): string | undefined {
  // Files right in src/controllers/ wire the kinds together; those in a kind's own folder are at home.
  if (source.folder === undefined || target.folder === undefined || source.folder === target.folder) {
    return undefined;
  }
  if (SHARED_BY_KINDS.has(target.folder)) return undefined;
  if (SHARED_BY_KINDS.has(source.folder))
    return `${source.folder}/ is shared by all kinds and knows none: ${to}`;
  if (target.rest === 'index.ts') return undefined;
  return `the kind ${source.folder} imports the inside of another one: ${to} (take its index.ts)`;
}

interface Place {
  area: string;
  folder: string | undefined;
  rest: string;
}

function placeOf(path: string): Place {
  const [top = '', area = '', ...rest] = path.split('/');
  // test/, scripts/ and files outside the project count as an area that nobody may import.
  if (top !== 'src') return { area: top, folder: undefined, rest: path };
  return { area, folder: rest.length > 1 ? rest[0] : undefined, rest: rest.slice(1).join('/') };
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/');
}

const IMPORT = /\b(?:from\s*|import\s*\(\s*|import\s+)(['"])([^'"\n]+)\1/g;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/gm;

function importsOf(text: string): { specifier: string; line: number }[] {
  // Comments may show imports; their line breaks stay, so that lines can be counted.
  const code = text.replaceAll(COMMENT, (comment) => comment.replaceAll(/[^\n]/g, ''));
  return [...code.matchAll(IMPORT)].map((match) => ({
    specifier: match[2] ?? '',
    line: code.slice(0, match.index).split('\n').length,
  }));
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) =>
      statSync(path).isDirectory() ? sourceFiles(path) : /\.[cm]?ts$/.test(path) ? [path] : [],
    );
}

if (import.meta.main) {
  const violations = checkImports(resolve(process.argv[2] ?? '.'));
  for (const { at, reason } of violations) process.stderr.write(`${at}: ${reason}\n`);
  if (violations.length > 0) process.exitCode = 1;
}
