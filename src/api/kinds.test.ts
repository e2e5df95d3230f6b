import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { crdOf } from './crd.ts';
import { KINDS, kindOf, referenceFieldsOf, referencesOf, type AnyResource } from './kinds.ts';
import { CONDITIONS, factsOf, REASONS, type Reason } from './reasons.ts';
import type { StructuralSchema } from './schema/structural.ts';
import { EVENT_NAMES, LEASE_OPERATIONS } from './words.ts';

const examples = join(import.meta.dirname, '..', '..', 'deploy', 'examples');

function example(file: string): AnyResource {
  const text = readFileSync(join(examples, `${file}.yaml`), 'utf8');
  const raw = parseAllDocuments(text)
    .map((document) => document.toJS() as { apiVersion: string; kind: AnyResource['kind']; metadata: object })
    .find(({ apiVersion }) => apiVersion.startsWith('boxwright.dev/'));
  if (raw === undefined) throw new Error(`${file} has no resource of ours`);
  const metadata = {
    ...raw.metadata,
    namespace: 'shop',
    uid: 'u-1',
    resourceVersion: '7',
    generation: 1,
    creationTimestamp: '2026-11-01T08:00:00Z',
  };
  const parsed = kindOf(raw.kind).parse({ ...raw, metadata });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.resource;
}

function nodes(schema: StructuralSchema, path = ''): [string, StructuralSchema][] {
  return [
    [path, schema],
    ...(schema.items === undefined ? [] : nodes(schema.items, `${path}[]`)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => nodes(field, `${path}.${name}`)),
  ];
}

describe.each(KINDS)('$kind', (definition) => {
  // G18
  test('has columns from READY to AGE, a short name of its own and the category', () => {
    const { versions, names } = crdOf(definition).spec;
    const shown = versions[0]?.additionalPrinterColumns as { name: string; priority?: number }[];
    const narrow = shown.filter(({ priority }) => priority === undefined).map(({ name }) => name);
    expect(narrow.at(0)).toBe('READY');
    expect(narrow.at(-1)).toBe('AGE');
    expect(names.shortNames.every((name) => name.startsWith('bw'))).toBe(true);
    expect(names.categories).toEqual(['boxwright']);
  });

  // G11, G12
  test('fits into what a client-side apply can carry, without template marks', () => {
    const text = JSON.stringify(crdOf(definition));
    expect(text.length).toBeLessThan(200 * 1024);
    expect(text).not.toMatch(/\$\{|\{\{/);
  });

  // G01, G02, G03
  test('says in status that nobody has looked yet', () => {
    const status = definition.structural().properties?.['status'];
    expect(status?.default).toEqual({ observedGeneration: -1 });
    expect(status?.properties?.['observedGeneration']).toMatchObject({ type: 'integer', format: 'int64' });
    expect(status?.properties?.['conditions']).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    });
  });

  // G47
  test('says of each field of its spec whether it can be changed', () => {
    const spec = definition.structural().properties?.['spec'];
    const fields = nodes(spec as StructuralSchema)
      .filter(([path]) => path !== '' && !path.endsWith('[]'))
      .filter(([, { description }]) => !/can be changed|immutable|another variable/i.test(description ?? ''));
    expect(fields.map(([path]) => path)).toEqual([]);
  });

  test('names the default in words where there is one', () => {
    const spec = definition.structural().properties?.['spec'];
    const silent = nodes(spec as StructuralSchema).filter(
      ([, node]) => node.default !== undefined && !/Default/.test(node.description ?? ''),
    );
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  // G1, G17: Argo CD's server-side modes do not match items whose key the API server fills in.
  test('keys its lists by properties that are always written out', () => {
    const loose = nodes(definition.structural()).flatMap(([path, node]) =>
      (node['x-kubernetes-list-map-keys'] ?? [])
        .filter((key) => {
          const { properties, required } = node.items ?? {};
          return properties?.[key]?.default !== undefined || required?.includes(key) !== true;
        })
        .map((key) => `${path} by ${key}`),
    );
    expect(loose).toEqual([]);
  });

  test('has no reference that names a namespace', () => {
    const fields = nodes(definition.structural()).map(([path]) => path);
    expect(fields.filter((path) => path.endsWith('.namespace'))).toEqual([]);
  });
});

test('an Instance shows whether it is up, where, since when, and with -o wide why not', () => {
  const columns = kindOf('Instance').columns;
  const names = (wide: boolean) =>
    columns.filter(({ priority }) => (priority === 1) === wide).map(({ name }) => name);
  expect(names(false)).toEqual(['READY', 'PHASE', 'BOX', 'ADDRESS', 'LEASE', 'AGE']);
  expect(names(true)).toEqual(['ID', 'STATE', 'OPERATION', 'REASON']);
});

describe('references', () => {
  test('are listed for every kind from its definition', () => {
    const paths = KINDS.flatMap((definition) =>
      referenceFieldsOf(definition).map(({ path }) => `${definition.kind} ${path}`),
    );
    expect(paths).toContain('Connection spec.credentialsRef');
    expect(paths).toContain('Box spec.variables[].valueFrom.secretKeyRef');
    expect(paths).toContain('Instance spec.leaseRef');
    expect(paths).toContain('InstanceLease spec.instanceRef');
  });

  test('every field whose name ends in Ref is a reference', () => {
    for (const definition of KINDS) {
      const known = new Set(referenceFieldsOf(definition).map(({ path }) => path));
      const named = nodes(definition.structural())
        .map(([path]) => path.slice(1))
        .filter((path) => path.endsWith('Ref'));
      expect(named.filter((path) => !known.has(path))).toEqual([]);
    }
  });

  test('of a resource are found with kind, name and key', () => {
    expect(referencesOf(example('web-box')).map(({ path, ...rest }) => [path, rest])).toEqual([
      ['spec.connectionRef', { kind: 'Connection', name: 'main' }],
      ['spec.variables[1].valueFrom.secretKeyRef', { kind: 'Secret', name: 'web-admin', key: 'password' }],
      ['spec.variables[2].file.configMapKeyRef', { kind: 'ConfigMap', name: 'web-files', key: 'web.conf' }],
      ['spec.variables[3].boxRef', { kind: 'Box', name: 'runtime' }],
      [
        'spec.events.configure.configMapKeyRef',
        { kind: 'ConfigMap', name: 'web-files', key: 'configure.sh' },
      ],
    ]);
  });
});

describe('the examples', () => {
  test.each([
    'connection',
    'runtime-box',
    'web-box',
    'docker-box',
    'policy-box',
    'instance',
    'instance-lease',
  ])('%s is what the parser takes', (file) => {
    expect(example(file).status).toEqual({ observedGeneration: -1 });
  });
});

describe('reasons', () => {
  test('each says what to do, in whole sentences, and fits a condition', () => {
    for (const reason of Object.keys(REASONS) as Reason[]) {
      const { situation, whatToDo } = factsOf(reason);
      expect(reason).toMatch(/^[A-Z][A-Za-z]+$/);
      expect(situation).toMatch(/\.$/);
      expect(whatToDo).toMatch(/\.$/);
    }
  });

  // G05
  test('stalled ones leave Ready False', () => {
    const odd = (Object.keys(REASONS) as Reason[]).filter(
      (reason) => factsOf(reason).also === 'Stalled' && factsOf(reason).ready !== 'False',
    );
    expect(odd).toEqual([]);
    expect(CONDITIONS.stalled).toBe('Stalled');
  });
});

describe('words of the service', () => {
  test('go there and back', () => {
    for (const word of EVENT_NAMES.ours) {
      expect(EVENT_NAMES.fromService(EVENT_NAMES.toService(word))).toBe(word);
    }
    expect(EVENT_NAMES.toService('preInstall')).toBe('pre_install');
    expect(LEASE_OPERATIONS.toService('AlwaysOn')).toBe('alwayson');
  });

  test('that are not known come back as nothing, whatever they are', () => {
    expect(LEASE_OPERATIONS.fromService('hibernate')).toBeUndefined();
    expect(LEASE_OPERATIONS.fromService('constructor')).toBeUndefined();
  });
});
