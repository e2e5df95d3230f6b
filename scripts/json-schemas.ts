/**
 * Writes the kinds as JSON Schema, as a release publishes them: one file for manifests of any kind, which editors
 * take, and one for each kind, named as kubeconform looks for it. Usage: node scripts/json-schemas.ts <folder>
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KINDS } from '../src/api/kinds.ts';
import { ANNOTATION_NOTES, ANNOTATIONS } from '../src/api/names.ts';
import { anyManifestSchema, manifestSchemaOf, type AnnotationHint } from '../src/api/schema/json-schema.ts';

const FILE = 'boxwright.schema.json';

/** The first line of a manifest by which an editor finds the schema of the newest release. */
export const MODELINE = `# yaml-language-server: $schema=https://github.com/boxwright/boxwright/releases/latest/download/${FILE}`;

const HINTS: AnnotationHint[] = (Object.keys(ANNOTATIONS) as (keyof typeof ANNOTATIONS)[])
  .filter((key) => ANNOTATION_NOTES[key].writtenBy === 'user')
  .map((key) => ({ key: ANNOTATIONS[key], description: ANNOTATION_NOTES[key].meaning }));

/** The files by name. */
export function jsonSchemas(): Map<string, object> {
  return new Map([
    [FILE, anyManifestSchema(KINDS, HINTS)],
    ...KINDS.map((kind): [string, object] => [
      `${kind.singular}_${kind.version}.json`,
      manifestSchemaOf(kind, HINTS),
    ]),
  ]);
}

if (import.meta.main) {
  const [, , folder] = process.argv;
  if (folder === undefined) throw new Error('usage: node scripts/json-schemas.ts <folder>');
  mkdirSync(folder, { recursive: true });
  for (const [name, schema] of jsonSchemas()) writeFileSync(join(folder, name), JSON.stringify(schema));
}
