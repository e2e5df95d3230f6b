import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../kube/index.ts';
import { UsageError } from '../exit-codes.ts';
import { MANIFEST_YAML } from '../manifest-yaml.ts';

/** A resource as a manifest has it. */
export interface Manifest extends KubeObject {
  apiVersion: string;
  kind: string;
  [field: string]: unknown;
}

/** Written for a service somewhere else; this run has its own. */
const REPLACED = 'connection.yaml';

/**
 * Every document of the `*.yaml` files in a folder, in the order of their names, but for connection.yaml.
 * @throws UsageError that names file and line
 */
export function readManifests(folder: string): Manifest[] {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name) && name !== REPLACED);
  } catch {
    throw new UsageError(`there is no folder ${folder}: give one with manifests, --examples <directory>`);
  }
  if (names.length === 0) throw new UsageError(`there are no *.yaml files in ${folder}`);
  return names.toSorted().flatMap((name) => parseFile(join(folder, name)));
}

/** The examples in the repository; the build puts a copy of them beside the bundle. */
export function defaultExamples(): string {
  const folder = import.meta.url.endsWith('.ts') ? '../../../deploy/examples' : './examples';
  return fileURLToPath(new URL(folder, import.meta.url));
}

function parseFile(path: string): Manifest[] {
  const file = basename(path);
  return parseAllDocuments(readFileSync(path, 'utf8'), MANIFEST_YAML).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new UsageError(`${file}: ${error.message}`);
    const value = document.toJS() as unknown;
    if (value === null) return [];
    if (isManifest(value)) return [value];
    throw new UsageError(`${file}: a document has no apiVersion, kind or metadata.name`);
  });
}

function isManifest(value: unknown): value is Manifest {
  const { apiVersion, kind, metadata } = value as Partial<Manifest>;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
}
