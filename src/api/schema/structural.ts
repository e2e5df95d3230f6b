import type { TSchema } from 'typebox';
import type { Rule } from './rules.ts';

/**
 * TypeBox to the structural schema of a CRD. Only what stands in {@link KEYWORDS} passes; everything else
 * throws, so that a definition which a CRD cannot carry fails when it is generated, not when it is applied.
 * Source: Kubernetes documentation, "Specifying a structural schema".
 */

/** A node of a structural schema, as it stands in a CRD. */
export interface StructuralSchema {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  description?: string;
  default?: unknown;
  enum?: string[];
  format?: string;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  maxProperties?: number;
  properties?: Record<string, StructuralSchema>;
  required?: string[];
  items?: StructuralSchema;
  'x-kubernetes-preserve-unknown-fields'?: true;
  'x-kubernetes-list-type'?: 'map' | 'set' | 'atomic';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: { rule: string; message: string }[];
}

/** Keywords that are copied as they are. */
const KEYWORDS = new Set([
  'description',
  'default',
  'enum',
  'format',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'maxItems',
  'maxProperties',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
]);
/** Keywords that are handled one by one below, and our own marks. */
const HANDLED = new Set([
  'type',
  'properties',
  'required',
  'items',
  'rules',
  'reference',
  'names',
  'hint',
  'shown',
  'token',
]);
const TYPES = new Set(['object', 'array', 'string', 'integer', 'boolean']);
const YAML_1_1_BOOLEAN = /^(y|yes|n|no|true|false|on|off)$/i;
const LOOK_AROUND = /\(\?[=!<]/;
/** What Flux and Helm would take for theirs. */
const TEMPLATE = /\$\{|\{\{/;

/** Thrown for a definition that a CRD cannot carry, or that lacks a description or a bound. */
export class NotStructuralError extends Error {
  readonly code = 'NotStructural';
  constructor(path: string, complaint: string) {
    super(`${path || '(root)'}: ${complaint}`);
    this.name = 'NotStructuralError';
  }
}

/** Converts a definition. Throws {@link NotStructuralError}. */
export function toStructural(schema: TSchema, path = ''): StructuralSchema {
  const from = schema as Readonly<Record<string, unknown>>;
  const { type } = from;
  if (typeof type !== 'string' || !TYPES.has(type)) {
    throw new NotStructuralError(path, `type ${JSON.stringify(type)} is not one of ${[...TYPES].join(', ')}`);
  }
  const to: Record<string, unknown> = { type };
  for (const [keyword, value] of Object.entries(from)) {
    if (KEYWORDS.has(keyword)) to[keyword] = value;
    else if (!HANDLED.has(keyword)) throw new NotStructuralError(path, `a CRD cannot carry ${keyword}`);
  }
  check(to, path);
  if (from['properties'] !== undefined) addProperties(to, from['properties'] as Properties, path);
  if (from['items'] !== undefined) to['items'] = toStructural(from['items'] as TSchema, `${path}[]`);
  const rules = rulesOf(schema);
  if (rules.length > 0) {
    to['x-kubernetes-validations'] = rules.map(({ rule, message }) => ({ rule, message }));
  }
  if (TEMPLATE.test(JSON.stringify(to['x-kubernetes-validations'] ?? ''))) {
    throw new NotStructuralError(path, 'a rule holds ${ or {{, which Flux or Helm would replace');
  }
  return to as unknown as StructuralSchema;
}

/** The rules on a node. */
export function rulesOf(schema: TSchema): readonly Rule[] {
  return (schema as { rules?: Rule[] }).rules ?? [];
}

type Properties = Readonly<Record<string, TSchema>>;

/** A field with a default is never demanded of the user: it leaves `required`. */
function addProperties(to: Record<string, unknown>, properties: Properties, path: string): void {
  const fields = Object.entries(properties);
  to['properties'] = Object.fromEntries(
    fields.map(([name, field]) => [name, toStructural(field, path === '' ? name : `${path}.${name}`)]),
  );
  const required = fields
    .filter(([, field]) => !('~optional' in field) && !('default' in field))
    .map(([name]) => name);
  if (required.length > 0) to['required'] = required;
}

function check(node: Readonly<Record<string, unknown>>, path: string): void {
  const { type, description, pattern } = node;
  const values = (node['enum'] ?? []) as string[];
  const complaint =
    typeof description !== 'string' || description.trim() === ''
      ? 'has no description'
      : type === 'string' && node['maxLength'] === undefined && values.length === 0
        ? 'is a string without maxLength'
        : type === 'array' && node['maxItems'] === undefined
          ? 'is a list without maxItems'
          : type === 'integer' && (node['minimum'] === undefined || node['maximum'] === undefined)
            ? 'is a number without bounds'
            : typeof pattern === 'string' && LOOK_AROUND.test(pattern)
              ? 'has a pattern with look-around, which RE2 has not'
              : values.some((value) => type === 'string' && YAML_1_1_BOOLEAN.test(value)) &&
                  !isConditionStatus(values)
                ? 'has a value that YAML 1.1 reads as a boolean'
                : TEMPLATE.test(JSON.stringify({ ...node, properties: undefined }))
                  ? 'holds ${ or {{, which Flux or Helm would replace'
                  : undefined;
  if (complaint !== undefined) throw new NotStructuralError(path, complaint);
}

/** metav1.Condition's status is True, False or Unknown; no person writes it. */
function isConditionStatus(values: readonly string[]): boolean {
  return values.join() === 'True,False,Unknown';
}
