import * as fc from 'fast-check';
import { KINDS, type AnyResource } from '../../../src/api/kinds.ts';
import type { KindDefinition } from '../../../src/api/schema/kind.ts';
import type { Rule } from '../../../src/api/schema/rules.ts';
import type { StructuralSchema } from '../../../src/api/schema/structural.ts';
import { characters } from '../../../src/base/text.ts';
import { read } from '../samples.ts';

/** A manifest of one of our kinds, and what it is made for. */
export interface Manifest {
  says: string;
  object: { apiVersion: string; kind: string; metadata: { name: string }; spec: unknown };
}

type Path = readonly string[];
type Fields = Record<string, unknown>;

/** A node of a definition: its schema, and the rules that no schema can say. */
type Node = Omit<StructuralSchema, 'properties' | 'items'> & {
  properties?: Record<string, Node>;
  items?: Node;
  rules?: readonly Rule[];
};

/** What was made of a node already. */
type Known = Map<Node, unknown[]>;

/** An item of a list, in a path. */
const ITEM = '[]';
/** Manifests tried for one field, at most. */
const TRIES = 2_000;
/** Values for one field that are tried with every other. */
const FEW = 10;
/** Values for one field, at most. */
const CANDIDATES = 40;
/** Values and objects made of one node, at most. */
const VALUES = 40;
const WORDS = [
  'web',
  '80',
  '8h',
  '1',
  'https://deploy.example.com',
  '/opt/web',
  '2030-01-01T00:00:00Z',
  'Authorization',
];

/**
 * For every optional field of every kind one manifest that has it, and where the rules admit it the same without: so
 * each is left out once beside all else. Made from the definitions, with the samples as the ground to stand on.
 * Throws for a field that no manifest could be made for.
 */
export function everyOptionalField(): Manifest[] {
  return KINDS.flatMap((definition) => manifestsOf(definition));
}

function manifestsOf(definition: KindDefinition<AnyResource>): Manifest[] {
  const { kind, group, version, schema } = definition;
  const shape = schema.properties['spec'] as unknown as Node;
  const known: Known = new Map();
  const samples = read('deploy/examples').filter((sample) => sample.kind === kind);
  const grounds = [...samples.map(({ spec }) => spec as Fields), ...objectsOf(shape, known)];
  const made = new Map<string, Manifest>();
  const add = (says: string, spec: unknown): void => {
    const object = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'guard' }, spec };
    const key = JSON.stringify(spec);
    if (!made.has(key)) made.set(key, { says: `${kind} ${says}`, object });
  };
  for (const path of optionalPaths(shape)) {
    const planted = plant(definition, { shape, known, grounds }, path);
    if (planted === undefined) throw new Error(`${kind}: no manifest has ${path.join('.')}`);
    add(`with ${path.join('.')}`, planted);
    const without = structuredClone(planted);
    remove(without, path);
    if (isAdmitted(definition, without)) add(`without ${path.join('.')}`, without);
  }
  return [...made.values()];
}

function plant(
  definition: KindDefinition<AnyResource>,
  { shape, known, grounds }: { shape: Node; known: Known; grounds: readonly Fields[] },
  [top = '', ...rest]: Path,
): Fields | undefined {
  const values = [...containing(shape.properties?.[top], rest, known).take(CANDIDATES)];
  let tries = 0;
  for (const ground of grounds) {
    // What excludes it may be any one of the others.
    for (const left of ['', ...Object.keys(ground).filter((name) => name !== top)]) {
      for (const value of values) {
        if ((tries += 1) > TRIES) break;
        const { [left]: _, ...kept } = ground;
        const spec = { ...kept, [top]: value };
        if (isAdmitted(definition, spec)) return spec;
      }
    }
  }
  // Or it goes with another field only, as with the type that it is for.
  return values
    .slice(0, FEW)
    .flatMap((value) => objectsOf(shape, known, { [top]: value }))
    .find((spec) => isAdmitted(definition, spec));
}

const META = {
  name: 'guard',
  namespace: 'shop',
  uid: 'u',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
};

function isAdmitted(definition: KindDefinition<AnyResource>, spec: unknown): boolean {
  return definition.parse({ metadata: META, spec: structuredClone(spec) }).ok;
}

function* optionalPaths(node: Node): Generator<Path> {
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    if (!requiredOf(node).includes(name)) yield [name];
    for (const below of optionalPaths(child)) yield [name, ...below];
    if (child.items === undefined) continue;
    for (const below of optionalPaths(child.items)) yield [name, ITEM, ...below];
  }
}

/** Values of a node in which the path is there. */
function* containing(node: Node | undefined, path: Path, known: Known): Generator {
  if (node === undefined) return;
  const [first, ...rest] = path;
  if (first === undefined) {
    yield* valuesOf(node, known);
  } else if (first === ITEM) {
    for (const item of containing(node.items, rest, known)) yield [item];
  } else {
    for (const value of containing(node.properties?.[first], rest, known)) {
      yield* objectsOf(node, known, { [first]: value });
    }
  }
}

/** Some values of a node that its own rules admit. */
function valuesOf(node: Node, known: Known): unknown[] {
  const found = known.get(node) ?? makeValues(node, known).slice(0, VALUES);
  known.set(node, found);
  return found;
}

function makeValues(node: Node, known: Known): unknown[] {
  switch (node.type) {
    case 'string':
      return textsOf(node).filter((text) => holds(node, text));
    case 'integer':
      return [node.minimum ?? 1];
    case 'boolean':
      return [true, false];
    case 'array':
      return node.items === undefined ? [[]] : valuesOf(node.items, known).map((item) => [item]);
    case 'object':
      return node['x-kubernetes-preserve-unknown-fields'] === true
        ? [{ image: 'test' }]
        : objectsOf(node, known);
    default:
      return node.type satisfies never;
  }
}

/** Objects that the node's own rules admit: what is given and required, and none, one or two of the other fields. */
function objectsOf(node: Node, known: Known, given: Fields = {}): Fields[] {
  const { properties = {} } = node;
  const required = requiredOf(node);
  let bases: Fields[] = [given];
  for (const name of required.filter((one) => !(one in given))) {
    const child = properties[name];
    if (child === undefined) continue;
    const choices = child.enum ?? valuesOf(child, known).slice(0, 2);
    bases = bases.flatMap((base) => choices.map((value) => ({ ...base, [name]: value }))).slice(0, 24);
  }
  const others = Object.entries(properties)
    .filter(([name]) => !required.includes(name) && !(name in given))
    .map(([name, child]): [string, unknown[]] => [name, child.enum ?? valuesOf(child, known).slice(0, 2)]);
  const withOne = (objects: readonly Fields[]): Fields[] =>
    objects.flatMap((object) =>
      others.flatMap(([name, values]) =>
        name in object ? [] : values.map((value) => ({ ...object, [name]: value })),
      ),
    );
  const singles = withOne(bases);
  const few = [...bases, ...singles].filter((object) => holds(node, object));
  return (few.length > 0 ? few : withOne(singles).filter((object) => holds(node, object))).slice(0, VALUES);
}

/** What a person has to write: what has a default is there in any case. */
function requiredOf({ required = [], properties = {} }: Node): string[] {
  return required.filter((name) => properties[name]?.default === undefined);
}

/** Whether the rules of a node admit a value, with the defaults of its fields filled in. */
function holds({ rules = [], properties = {} }: Node, value: unknown): boolean {
  let filled = value;
  if (typeof value === 'object' && value !== null) {
    const defaults = Object.entries(properties).filter(([, child]) => child.default !== undefined);
    filled = { ...Object.fromEntries(defaults.map(([name, child]) => [name, child.default])), ...value };
  }
  return rules.every((rule) => rule.holds?.(filled as never) ?? true);
}

function textsOf({
  enum: words,
  default: usual,
  format,
  pattern,
  minLength = 0,
  maxLength = 64,
}: Node): string[] {
  if (words !== undefined) return words;
  if (format === 'date-time') return ['2030-01-01T00:00:00Z'];
  const made =
    pattern === undefined
      ? []
      : fc.sample(fc.stringMatching(new RegExp(pattern), { size: '-1' }), { numRuns: 3, seed: 1 });
  return [...(typeof usual === 'string' ? [usual] : []), ...WORDS, ...made].filter(
    (text) =>
      (pattern === undefined || new RegExp(pattern).test(text)) &&
      characters(text) >= minLength &&
      characters(text) <= maxLength,
  );
}

function remove(from: unknown, [first = '', ...rest]: Path): void {
  if (first === ITEM) {
    for (const item of from as unknown[]) remove(item, rest);
  } else if (rest.length === 0) {
    delete (from as Fields)[first];
  } else {
    remove((from as Fields)[first], rest);
  }
}
