/**
 * Writes crds/*.yaml from the definitions in src/api. `--check` writes nothing and exits 1 when one is stale.
 */
import { join } from 'node:path';
import { stringify } from 'yaml';
import { crdOf } from '../src/api/crd.ts';
import { KINDS } from '../src/api/kinds.ts';
import { settle } from './generated.ts';

/** What client-side apply takes is 256 KiB in an annotation; this leaves room. */
const SIZE_LIMIT = 200 * 1024;

const files = new Map<string, string>();
for (const definition of KINDS) {
  const crd = crdOf(definition);
  const size = JSON.stringify(crd).length;
  if (size > SIZE_LIMIT) throw new Error(`the CRD of ${definition.kind} has ${size} bytes: shorten it`);
  const header = '# Generated from src/api by scripts/gen-crds.ts: edit there.\n';
  files.set(
    `${crd.metadata.name}.yaml`,
    header + stringify(crd, { lineWidth: 0, aliasDuplicateObjects: false }),
  );
}
process.exitCode = await settle(
  join(import.meta.dirname, '..', 'crds'),
  '.yaml',
  files,
  process.argv.includes('--check'),
);
