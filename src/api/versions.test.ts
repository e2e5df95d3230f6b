import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { KINDS } from './kinds.ts';
import { VERSION } from './names.ts';

const ROOT = join(import.meta.dirname, '../..');
const GUIDE = readFileSync(join(ROOT, 'docs/guides/upgrade.md'), 'utf8');

interface Definition {
  metadata: { name: string };
  spec: {
    conversion?: { strategy: string };
    versions: { name: string; served: boolean; storage: boolean }[];
  };
}

const definitions = readdirSync(join(ROOT, 'crds')).map(
  (file) => parse(readFileSync(join(ROOT, 'crds', file), 'utf8')) as Definition,
);

describe('the versions of the API', () => {
  test('are one, served and stored; a second one has its move written down', () => {
    expect(definitions).toHaveLength(KINDS.length);
    for (const { metadata, spec } of definitions) {
      const stored = spec.versions.filter(({ storage }) => storage);
      expect(stored).toHaveLength(1);
      const others = spec.versions.map(({ name }) => name).filter((name) => name !== VERSION);
      const unplanned = others.filter((name) => !GUIDE.includes(`\n## From ${VERSION} to ${name}\n`));
      const plan =
        `${metadata.name} has a second version: follow "A second API version" of docs/guides/upgrade.md (serve both ` +
        `and store the old one, move the operator, store the new one, migrate what is stored, stop serving the old ` +
        `one), and say in a section "From ${VERSION} to ${unplanned.join()}" which step this release is`;
      expect(unplanned.length === 0 ? '' : plan).toBe('');
      expect(spec.versions.find(({ name }) => name === VERSION)).toMatchObject({ served: true });
    }
  });

  test('have a plan that names every kind when what is stored is migrated', () => {
    const section = GUIDE.slice(GUIDE.indexOf('## A second API version'));
    const kinds = /for kind in (.+); do/.exec(section)?.[1]?.split(' ').toSorted();
    expect(kinds).toEqual(KINDS.map(({ plural }) => plural).toSorted());
    for (const word of ['storedVersions', 'conversion', 'storage: true', 'Rolling back', 'backup']) {
      expect(section.toLowerCase()).toContain(word.toLowerCase());
    }
  });
});
