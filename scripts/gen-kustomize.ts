/**
 * Writes deploy/kustomize/references/*.yaml: what kustomize has to know of the references of our kinds, so that
 * namePrefix, nameSuffix and generators reach them. `--check` writes nothing and exits 1 when it is stale.
 */
import { join } from 'node:path';
import { stringify } from 'yaml';
import { KINDS, referenceFieldsOf } from '../src/api/kinds.ts';
import { GROUP } from '../src/api/names.ts';
import { settle } from './generated.ts';

interface FieldSpec {
  kind: string;
  group: string;
  path: string;
}

const fields = new Map<string, FieldSpec[]>();
for (const definition of KINDS) {
  for (const { path, targets } of referenceFieldsOf(definition)) {
    // kustomize goes into lists by itself.
    const spec = {
      kind: definition.kind,
      group: GROUP,
      path: `${path.replaceAll('[]', '').replaceAll('.', '/')}/name`,
    };
    for (const target of targets) fields.set(target, [...(fields.get(target) ?? []), spec]);
  }
}
const nameReference = [...fields]
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([kind, fieldSpecs]) => ({
    kind,
    ...(kind === 'Secret' || kind === 'ConfigMap' ? { version: 'v1' } : { group: GROUP }),
    fieldSpecs,
  }));
const header =
  '# Generated from src/api by scripts/gen-kustomize.ts: edit there.\n' +
  '# Copy it beside your kustomization.yaml and name it under `configurations`.\n';
process.exitCode = await settle(
  join(import.meta.dirname, '..', 'deploy/kustomize/references'),
  '.yaml',
  new Map([
    [
      'boxwright-references.yaml',
      header + stringify({ nameReference }, { lineWidth: 0, aliasDuplicateObjects: false }),
    ],
  ]),
  process.argv.includes('--check'),
);
