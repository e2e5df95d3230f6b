import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isSeq, LineCounter, parseAllDocuments, type Document, type Node } from 'yaml';
import { UsageError } from '../../exit-codes.ts';
import { MANIFEST_YAML } from '../../manifest-yaml.ts';

/** One object of a manifest, and where it stands. */
export interface Loaded {
  file: string;
  object: Readonly<Record<string, unknown>>;
  /** The line of a field, such as `spec.variables[0].name`, or of what encloses it. */
  lineOf(path: string): number;
}

/** A file, or a document in it, that cannot be read. */
export interface Unreadable {
  file: string;
  line: number;
  message: string;
}

/** Larger files are no manifests. */
const SIZE_LIMIT = 16 * 1024 * 1024;

/** Every object in the files, and in the folders with all below them. @throws UsageError for a path that is not there */
export function loadFiles(paths: readonly string[]): {
  files: number;
  loaded: Loaded[];
  unreadable: Unreadable[];
} {
  const files = [...new Set(paths.flatMap(filesIn))];
  const loaded: Loaded[] = [];
  const unreadable: Unreadable[] = [];
  for (const file of files) {
    try {
      readFile(file, loaded, unreadable);
    } catch (error) {
      unreadable.push({ file, line: 1, message: (error as Error).message });
    }
  }
  return { files: files.length, loaded, unreadable };
}

function filesIn(path: string): string[] {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (error) {
    throw new UsageError(
      `-f ${path}: there is no such file or folder (${(error as NodeJS.ErrnoException).code})`,
    );
  }
  if (!isFolder) return [path];
  return readdirSync(path, { withFileTypes: true })
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .flatMap((entry) => {
      if (entry.isDirectory()) return filesIn(join(path, entry.name));
      if (!/\.(ya?ml|json)$/.test(entry.name)) return [];
      const file = join(path, entry.name);
      return isReadOut(file) ? [file] : [];
    });
}

/** Neither a link to a folder nor something that somebody else has to write first, such as a pipe. */
function isReadOut(file: string): boolean {
  try {
    return statSync(file).isFile();
  } catch {
    // Such as a link that leads nowhere: reading it says why.
    return true;
  }
}

function readFile(file: string, loaded: Loaded[], unreadable: Unreadable[]): void {
  if (statSync(file).size > SIZE_LIMIT) throw new Error('is too large for a manifest');
  const lines = new LineCounter();
  const documents = parseAllDocuments(readFileSync(file, 'utf8'), {
    ...MANIFEST_YAML,
    lineCounter: lines,
    prettyErrors: false,
  });
  for (const document of documents as Document[]) {
    const [error] = document.errors;
    if (error !== undefined) {
      unreadable.push({
        file,
        line: lines.linePos(error.pos[0]).line,
        message: `is no YAML: ${error.message}`,
      });
      continue;
    }
    const lineAt = (path: readonly (string | number)[]): number => {
      const node = nearest(document, path);
      return lines.linePos(node?.range?.[0] ?? document.range?.[0] ?? 0).line;
    };
    collect(
      document.toJS({ maxAliasCount: 1_000 }),
      [],
      { file, lineAt, isList: isSeq(document.get('items', true)) },
      loaded,
    );
  }
}

interface Place {
  file: string;
  lineAt(path: readonly (string | number)[]): number;
  isList: boolean;
}

/** A List is what it holds. */
function collect(value: unknown, at: readonly (string | number)[], place: Place, loaded: Loaded[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const object = value as Record<string, unknown>;
  if (place.isList && at.length === 0 && String(object['kind']).endsWith('List')) {
    for (const [index, item] of (object['items'] as unknown[]).entries()) {
      collect(item, ['items', index], place, loaded);
    }
    return;
  }
  loaded.push({ file: place.file, object, lineOf: (path) => place.lineAt([...at, ...stepsOf(path)]) });
}

/** The node of a path, or the innermost that there is. */
function nearest(document: Document, path: readonly (string | number)[]): Node | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (typeof node === 'object' && node !== null && 'range' in node) return node as Node;
  }
  return undefined;
}

function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) =>
    index === undefined ? (name ?? '') : Number(index),
  );
}
