import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import * as formats from 'ajv-formats';
import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { KINDS } from '../src/api/kinds.ts';
import { jsonSchemas, MODELINE } from './json-schemas.ts';

const ROOT = join(import.meta.dirname, '..');
const EXAMPLES = join(ROOT, 'deploy/examples');
const RELEASE = readFileSync(join(ROOT, '.github/workflows/release.yaml'), 'utf8');

function compiled(name: string): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, strict: false });
  formats.default.default(ajv);
  return ajv.compile(jsonSchemas().get(name) ?? false);
}

function documentsOf(file: string): Record<string, unknown>[] {
  return parseAllDocuments(readFileSync(join(EXAMPLES, file), 'utf8')).map((document) => document.toJS());
}

const examples = readdirSync(EXAMPLES).filter((file) => file.endsWith('.yaml'));
const any = compiled('boxwright.schema.json');

/** Where the schema objects to a document. */
function objectedAt(document: object): (string | undefined)[] {
  any(document);
  return (any.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if')
    .map(({ instancePath, params }) =>
      [instancePath, params['additionalProperty'] ?? params['missingProperty']].filter(Boolean).join('/'),
    );
}

function ofItsKind(document: Readonly<Record<string, unknown>>): boolean {
  const one = KINDS.find(({ kind }) => kind === document['kind']);
  return one === undefined || compiled(`${one.singular}_${one.version}.json`)(document);
}

describe('the JSON Schemas', () => {
  it.each(examples)('take the example %s, which names them in its first line', (file) => {
    expect(readFileSync(join(EXAMPLES, file), 'utf8').split('\n')[0]).toBe(MODELINE);
    for (const document of documentsOf(file)) {
      expect(objectedAt(document)).toEqual([]);
      expect(ofItsKind(document)).toBe(true);
    }
  });

  const box = { apiVersion: 'boxwright.dev/v1alpha1', kind: 'Box', metadata: { name: 'web' } };
  it.each([
    ['a kind that is not there', { ...box, kind: 'Bxo', spec: {} }, ['/kind']],
    ['a missing spec', box, ['spec']],
    ['a mistyped field', { ...box, spec: { conectionRef: { name: 'main' } } }, ['/spec/conectionRef']],
    [
      'a wrong type deep inside',
      { ...box, spec: { connectionRef: { name: 'main' }, variables: [{ name: 'A', type: 'Txt' }] } },
      ['/spec/variables/0/type'],
    ],
  ])('object to %s', (_, document, paths) => {
    expect(objectedAt(document)).toEqual(expect.arrayContaining(paths));
  });

  it('let documents of other groups pass, and status as a cluster shows it', () => {
    expect(objectedAt({ apiVersion: 'v1', kind: 'ConfigMap', data: {} })).toEqual([]);
    expect(objectedAt({ apiVersion: 'example.com/v1', kind: 'Box', anything: 1 })).toEqual([]);
    const [first] = documentsOf('instance-lease.yaml');
    expect(objectedAt({ ...first, status: { observedGeneration: 1, conditions: [] } })).toEqual([]);
  });

  it('are all published with a release', () => {
    expect(RELEASE).toContain('node scripts/json-schemas.ts dist/schemas');
    expect(RELEASE).toContain('dist/schemas/*.json');
  });
});
