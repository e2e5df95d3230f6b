import type { TSchema } from 'typebox';
import type { ReferenceTarget } from './build.ts';

/** A field of a kind that names another object, always in the same namespace. */
export interface ReferenceField {
  /** Such as `spec.variables[].valueFrom.secretKeyRef`. */
  path: string;
  /** What it may name. */
  targets: readonly ReferenceTarget[];
  /** Whether it names a key in it. */
  keyed: boolean;
}

/** One reference that a resource makes. */
export interface FoundReference {
  /** Such as `spec.variables[2].valueFrom.secretKeyRef`. */
  path: string;
  kind: ReferenceTarget;
  name: string;
  key?: string;
}

/** A record that a resource names by its id on the service. */
export interface FoundId {
  /** The kind of such records. */
  kind: ReferenceTarget;
  id: string;
}

interface Node {
  names?: ReferenceTarget;
  reference?: ReferenceTarget;
  properties?: Record<string, TSchema>;
  items?: TSchema;
}

/** Every field of a definition that refers to another object. */
export function referenceFields(schema: TSchema, path = ''): ReferenceField[] {
  const { reference, properties, items } = schema as Node;
  if (reference !== undefined) {
    return [{ path, targets: targetsOf(schema, reference), keyed: properties?.['key'] !== undefined }];
  }
  if (items !== undefined) return referenceFields(items, `${path}[]`);
  return Object.entries(properties ?? {}).flatMap(([name, field]) =>
    referenceFields(field, path === '' ? name : `${path}.${name}`),
  );
}

/**
 * Every reference that a value of that definition makes, in the order of the fields. Of a value that does not
 * fit the definition, those that can be read.
 */
export function findReferences(schema: TSchema, value: unknown, path = ''): FoundReference[] {
  const { reference, properties, items } = schema as Node;
  if (typeof value !== 'object' || value === null) return [];
  if (reference !== undefined) {
    const { name, key, kind } = value as { name?: string; key?: string; kind?: ReferenceTarget };
    if (typeof name !== 'string') return [];
    return [{ path, kind: kind ?? reference, name, ...(key === undefined ? {} : { key }) }];
  }
  if (items !== undefined) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item, i) => findReferences(items, item, `${path}[${i}]`));
  }
  return Object.entries(properties ?? {}).flatMap(([name, field]) =>
    findReferences(field, (value as Record<string, unknown>)[name], path === '' ? name : `${path}.${name}`),
  );
}

/** Every record that a value of that definition names by its id. Of a value that does not fit, those that can be read. */
export function findPlainIds(schema: TSchema, value: unknown): FoundId[] {
  const { names, properties, items } = schema as Node;
  if (names !== undefined) return typeof value === 'string' ? [{ kind: names, id: value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (items !== undefined) {
    return Array.isArray(value) ? value.flatMap((item) => findPlainIds(items, item)) : [];
  }
  return Object.entries(properties ?? {}).flatMap(([name, field]) =>
    findPlainIds(field, (value as Record<string, unknown>)[name]),
  );
}

function targetsOf(schema: TSchema, reference: ReferenceTarget): readonly ReferenceTarget[] {
  const kind: { enum?: ReferenceTarget[] } | undefined = (schema as Node).properties?.['kind'];
  return kind?.enum ?? [reference];
}
