import * as fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyResource } from '../../src/api/kinds.ts';
import { ANNOTATIONS } from '../../src/api/names.ts';
import { REASONS, type Reason } from '../../src/api/reasons.ts';
import type { KindDefinition } from '../../src/api/schema/kind.ts';
import type { StructuralSchema } from '../../src/api/schema/structural.ts';
import { characters } from '../../src/base/text.ts';

/** Whatever a service, a person or a restored backup may bring: for tests that nothing of it is refused. */

/** Text of any kind: empty, long, astral, with half characters, with line breaks, numbers as text. */
export function wildText(limit = 256): fc.Arbitrary<string> {
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom('web', 'done', 'a', 'PORT', '2026-01-02 03:04:05.000000', '****'),
    },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
    fc.constantFrom('', ' ', '\n', '\0', '…', '-', '~2', '\ud83d', 'a\udc00', '😀', '\u202e', '__proto__'),
    fc
      .integer({ min: -2, max: 2 })
      .chain((by) =>
        fc.constantFrom('x', '😀', 'é').map((unit) => unit.repeat(Math.max(0, Math.min(limit, 2_100) + by))),
      ),
    fc.constantFrom('y', '😀').map((unit) => unit.repeat(5_000)),
  );
}

/** JSON of any shape. */
export function wildJson(): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 2 ** 53, 1e300, {}, []),
    wildText(),
    fc.jsonValue({ maxDepth: 2 }),
  );
}

/**
 * What somebody may want written where the schema is `node`: most often of its type, of any size; with members that
 * it does not know, doubled items, nothing at all.
 */
export function wildValue(node: StructuralSchema): fc.Arbitrary<unknown> {
  const odd = { weight: 1, arbitrary: wildJson() };
  switch (node.type) {
    case 'string':
      return fc.oneof(odd, {
        weight: 12,
        arbitrary:
          node.enum !== undefined
            ? fc.oneof(fc.constantFrom(...node.enum), wildText())
            : node.format === 'date-time'
              ? fc.oneof(
                  fc.constantFrom('2026-01-02T03:04:05Z', '+010000-01-01T00:00:00Z', 'soon'),
                  wildText(),
                )
              : wildText(node.maxLength),
      });
    case 'integer':
      return fc.oneof(odd, { weight: 8, arbitrary: fc.oneof(fc.nat(9), fc.maxSafeInteger(), fc.double()) });
    case 'boolean':
      return fc.oneof(odd, { weight: 8, arbitrary: fc.boolean() });
    case 'array':
      return fc.oneof(odd, { weight: 20, arbitrary: wildList(node) });
    case 'object':
      return fc.oneof(odd, { weight: 20, arbitrary: wildFields(node) });
    default:
      return node.type satisfies never;
  }
}

function wildList({ items, maxItems = 10 }: StructuralSchema): fc.Arbitrary<unknown[]> {
  if (items === undefined) return fc.constant([]);
  const few = fc.array(wildValue(items), { maxLength: 3 });
  return fc.oneof(
    { weight: 30, arbitrary: few },
    { weight: 6, arbitrary: few.map((list) => [...list, ...structuredClone(list)]) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(few, fc.boolean())
        .map(([list, numbered]) =>
          Array.from({ length: maxItems + 3 }, (_, at) => (numbered ? numberedItem(list[0], at) : list[0])),
        ),
    },
  );
}

function numberedItem(item: unknown, at: number): unknown {
  if (typeof item === 'string') return `${item.slice(0, 20)}${at}`;
  if (typeof item !== 'object' || item === null) return item;
  return Object.fromEntries(Object.entries(item).map(([key, member]) => [key, numberedItem(member, at)]));
}

function wildFields({ properties = {} }: StructuralSchema): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, node]) => [name, wildValue(node)]),
  );
  return fc
    .record({ ...members, unknownHere: wildJson() }, { requiredKeys: [] })
    .map((fields) => ({ ...fields }));
}

/** Annotations as people, tools and older versions leave them. */
export function wildAnnotations(): fc.Arbitrary<Record<string, string>> {
  const ours = Object.values(ANNOTATIONS);
  return fc.dictionary(fc.constantFrom(...ours, 'example.com/note'), wildText(), { maxKeys: 4 });
}

/** A verdict of any reason, with text that may come from anywhere. */
export function wildVerdict(): fc.Arbitrary<{ reason: Reason; message: string }> {
  return fc.record({
    reason: fc.constantFrom(...(Object.keys(REASONS) as Reason[])),
    message: wildText(2_048),
  });
}

/** Specs that the schema and its rules admit: the samples', with fields of any admitted value. */
export function admittedSpec(definition: KindDefinition<AnyResource>): fc.Arbitrary<object> {
  const samples = samplesOf(definition.kind);
  const shape = definition.structural().properties?.['spec'];
  if (shape === undefined) throw new Error(`${definition.kind} has no spec`);
  const changes = Object.fromEntries(
    Object.entries(shape.properties ?? {}).map(([name, node]) => [name, admitted(node)]),
  );
  return fc
    .tuple(fc.constantFrom(...samples), fc.record(changes, { requiredKeys: [] }))
    .map(([sample, fields]) => {
      // One change after the other: a rule over several fields may refuse one of them.
      let spec: object = sample;
      for (const [name, value] of Object.entries(fields)) {
        const changed = { ...spec, [name]: value };
        if (isAdmitted(definition, changed)) spec = changed;
      }
      return spec;
    });
}

function admitted(node: StructuralSchema): fc.Arbitrary<unknown> {
  switch (node.type) {
    case 'string': {
      const { minLength = 0, maxLength = 20 } = node;
      if (node.enum !== undefined) return fc.constantFrom(...node.enum);
      if (node.format === 'date-time') return fc.constantFrom('2026-12-24T18:00:00Z', '9999-12-31T23:59:59Z');
      const plain =
        node.pattern === undefined
          ? fc.constantFrom('x', '😀', 'é ü', 'x'.repeat(maxLength), '😀'.repeat(maxLength))
          : fc.oneof(
              fc.stringMatching(new RegExp(node.pattern), { size: '-1' }),
              fc.constantFrom('a'.repeat(maxLength), '1'.repeat(Math.min(maxLength, 5)), '8h', '30m'),
            );
      return plain.filter((text) => {
        const length = characters(text);
        return length >= minLength && length <= maxLength;
      });
    }
    case 'integer':
      return fc.integer({ min: node.minimum ?? 0, max: node.maximum ?? 9 });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return node.items === undefined
        ? fc.constant([])
        : fc.array(admitted(node.items), { maxLength: Math.min(node.maxItems ?? 3, 3) });
    case 'object': {
      if (node['x-kubernetes-preserve-unknown-fields'] === true) return fc.constant({ image: 'test' });
      const members = Object.entries(node.properties ?? {}).map(([name, one]) => [name, admitted(one)]);
      return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
        requiredKeys: node.required ?? [],
      });
    }
    default:
      return node.type satisfies never;
  }
}

function isAdmitted(definition: KindDefinition<AnyResource>, spec: object): boolean {
  return definition.parse({ metadata: META, spec: structuredClone(spec) }).ok;
}

const META = {
  name: 'sample',
  namespace: 'shop',
  uid: 'u',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
};

function samplesOf(kind: string): object[] {
  const folder = join(import.meta.dirname, '../../deploy/examples');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => parseAllDocuments(readFileSync(join(folder, file), 'utf8')))
    .map((document) => document.toJS() as { kind?: string; spec?: object } | null)
    .flatMap((object) => (object?.kind === kind && object.spec !== undefined ? [object.spec] : []));
}

/** A resource of any kind: what is declared, and what a pass over it may want status to say. */
export interface WildCase {
  definition: KindDefinition<AnyResource>;
  spec: object;
  annotations: Record<string, string>;
  fields: Record<string, unknown>;
  verdict: { reason: Reason; message: string };
}

/** Resources of one kind, or of every kind. */
export function wildCase(definition: KindDefinition<AnyResource>): fc.Arbitrary<WildCase> {
  const status = definition.structural().properties?.['status'];
  const { observedGeneration: _ours, conditions: _made, ...properties } = status?.properties ?? {};
  const shape = { ...status, type: 'object' as const, properties };
  return fc.record({
    definition: fc.constant(definition),
    spec: admittedSpec(definition),
    annotations: wildAnnotations(),
    fields: wildFields(shape),
    verdict: wildVerdict(),
  });
}
