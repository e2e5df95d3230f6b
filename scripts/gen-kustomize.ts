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
/** For `vars`, which kustomize still has: `$(NAME)` in the place of a name. */
const varReference = [...fields.values()]
  .flat()
  .filter(({ kind, path }, at, all) => all.findIndex((one) => one.kind === kind && one.path === path) === at)
  .map(({ path, kind, group }) => ({ path, kind, group }));
const header = '# Generated from src/api by scripts/gen-kustomize.ts: edit there.\n';
const write = (content: object): string => stringify(content, { lineWidth: 0, aliasDuplicateObjects: false });
const component = {
  apiVersion: 'kustomize.config.k8s.io/v1alpha1',
  kind: 'Component',
  configurations: ['boxwright-references.yaml'],
};
process.exitCode = await settle(
  join(import.meta.dirname, '..', 'deploy/kustomize/references'),
  '.yaml',
  new Map([
    ['kustomization.yaml', `${header}# Name this folder under \`components\`.\n${write(component)}`],
    ['boxwright-references.yaml', header + write({ nameReference, varReference })],
  ]),
  process.argv.includes('--check'),
);
