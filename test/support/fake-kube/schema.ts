import { sameJson } from '../../../src/kube/patches.ts';
import { celFailures } from './cel.ts';
import { copy, isRecord, type JsonRecord } from './objects.ts';
import type { Cause } from './refusals.ts';

/** The part of a structural schema that the API server acts upon. */
export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  required?: string[];
  default?: unknown;
  nullable?: boolean;
  enum?: unknown[];
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: CelRule[];
}

export interface CelRule {
  rule: string;
  message?: string;
  reason?: string;
}

/** Drops what the schema does not name. */
export function prune(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => prune(items, item));
  }
  if (!isRecord(value)) return value;
  const { additionalProperties, properties } = schema;
  const result: JsonRecord = {};
  for (const [key, member] of Object.entries(value)) {
    const known = properties?.[key];
    if (known !== undefined) result[key] = prune(known, member);
    else if (isRecord(additionalProperties)) result[key] = prune(additionalProperties, member);
    else if (additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields'] === true) {
      result[key] = member;
    }
  }
  return result;
}

/** Fills in defaults, also where a field that may not be null is null. */
export function fillDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => fillDefaults(items, item));
  }
  if (!isRecord(value)) return value;
  const result: JsonRecord = { ...value };
  for (const [key, member] of Object.entries(schema.properties ?? {})) {
    const absent = result[key] === undefined || (result[key] === null && member.nullable !== true);
    if (absent && member.default !== undefined) result[key] = copy(member.default);
    if (result[key] !== undefined) result[key] = fillDefaults(member, result[key]);
  }
  if (isRecord(schema.additionalProperties)) {
    for (const key of Object.keys(result)) {
      if (schema.properties?.[key] === undefined) {
        result[key] = fillDefaults(schema.additionalProperties, result[key]);
      }
    }
  }
  return result;
}

/**
 * What is wrong with a value. What was wrong already and has not changed is let through ("ratcheting",
 * Kubernetes documents, "Validation ratcheting"). Rules run unless the structure is so wrong that they could
 * not be evaluated.
 */
export function validate(schema: Schema, value: unknown, old: unknown): Cause[] {
  const structural = [...walk(schema, value, old, '', structuralMistakes)];
  if (structural.some(({ reason }) => BLOCKING.has(reason))) {
    const message =
      'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
    return [...structural, { field: '<nil>', reason: 'FieldValueInvalid', message }];
  }
  return [...structural, ...walk(schema, value, old, '', brokenRules)];
}

const BLOCKING: ReadonlySet<Cause['reason']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

type NodeCheck = (schema: Schema, value: unknown, old: unknown, path: string) => Cause[];

/** Calls `check` for each node that changed, parents first. */
function* walk(
  schema: Schema,
  value: unknown,
  old: unknown,
  path: string,
  check: NodeCheck,
): Iterable<Cause> {
  if (old !== undefined && sameJson(value, old)) return;
  const own = check(schema, value, old, path);
  yield* own;
  if (own.some(({ reason }) => reason === 'FieldValueTypeInvalid')) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    for (const [i, item] of value.entries()) {
      yield* walk(items, item, counterpart(schema, item, old), `${path}[${i}]`, check);
    }
    return;
  }
  if (!isRecord(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const known =
      schema.properties?.[key] ??
      (isRecord(schema.additionalProperties) ? schema.additionalProperties : undefined);
    if (known === undefined) continue;
    yield* walk(
      known,
      member,
      isRecord(old) ? old[key] : undefined,
      path === '' ? key : `${path}.${key}`,
      check,
    );
  }
}

function brokenRules(schema: Schema, value: unknown, old: unknown, path: string): Cause[] {
  return celFailures(schema, value, old).map(({ message, rule }) => ({
    field: path === '' ? '<nil>' : path,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${message ?? `failed rule: ${rule}`}`,
  }));
}

/** The item of an old list that an item of the new one corresponds to: only map lists can tell. */
function counterpart(schema: Schema, item: unknown, old: unknown): unknown {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys === undefined || !Array.isArray(old) || !isRecord(item)) return undefined;
  return old.find((other) => isRecord(other) && keys.every((key) => sameJson(other[key], item[key])));
}

function structuralMistakes(schema: Schema, value: unknown, _old: unknown, path: string): Cause[] {
  const field = path === '' ? '<nil>' : path;
  const mistakes: Cause[] = [];
  const bad = (reason: Cause['reason'], message: string): number => mistakes.push({ field, reason, message });
  if (value === null && schema.nullable === true) return [];
  if (!hasType(schema, value)) {
    const actual = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    bad(
      'FieldValueTypeInvalid',
      `Invalid value: "${actual}": ${field} in body must be of type ${schema.type}: "${actual}"`,
    );
    return mistakes;
  }
  const shown = JSON.stringify(value);
  if (schema.enum !== undefined && !schema.enum.some((allowed) => sameJson(allowed, value))) {
    const list = schema.enum.map((allowed) => JSON.stringify(allowed)).join(', ');
    bad('FieldValueNotSupported', `Unsupported value: ${shown}: supported values: ${list}`);
  }
  if (typeof value === 'string') {
    const length = Array.from(value).length;
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
      bad('FieldValueInvalid', `Invalid value: ${shown}: ${field} in body should match '${schema.pattern}'`);
    }
    if (length > (schema.maxLength ?? Infinity))
      bad('FieldValueTooLong', `Too long: may not be more than ${schema.maxLength} bytes`);
    if (length < (schema.minLength ?? 0)) {
      bad(
        'FieldValueInvalid',
        `Invalid value: ${shown}: ${field} in body should be at least ${schema.minLength} chars long`,
      );
    }
    if (schema.format === 'date-time' && Number.isNaN(Date.parse(value))) {
      bad(
        'FieldValueInvalid',
        `Invalid value: ${shown}: ${field} in body must be of type date-time: ${shown}`,
      );
    }
  }
  if (typeof value === 'number') {
    if (value > (schema.maximum ?? Infinity))
      bad(
        'FieldValueInvalid',
        `Invalid value: ${shown}: ${field} in body should be less than or equal to ${schema.maximum}`,
      );
    if (value < (schema.minimum ?? -Infinity))
      bad(
        'FieldValueInvalid',
        `Invalid value: ${shown}: ${field} in body should be greater than or equal to ${schema.minimum}`,
      );
  }
  if (Array.isArray(value)) {
    if (value.length > (schema.maxItems ?? Infinity))
      bad('FieldValueTooMany', `Too many: ${value.length}: must have at most ${schema.maxItems} items`);
    if (value.length < (schema.minItems ?? 0))
      bad(
        'FieldValueInvalid',
        `Invalid value: ${value.length}: ${field} in body should have at least ${schema.minItems} items`,
      );
    mistakes.push(...duplicates(schema, value, field));
  }
  if (isRecord(value)) {
    for (const key of schema.required ?? []) {
      if (value[key] === undefined) {
        mistakes.push({
          field: path === '' ? key : `${path}.${key}`,
          reason: 'FieldValueRequired',
          message: 'Required value',
        });
      }
    }
    if (Object.keys(value).length > (schema.maxProperties ?? Infinity)) {
      bad(
        'FieldValueTooMany',
        `Too many: ${Object.keys(value).length}: must have at most ${schema.maxProperties} items`,
      );
    }
  }
  return mistakes;
}

function hasType(schema: Schema, value: unknown): boolean {
  if (schema['x-kubernetes-int-or-string'] === true)
    return typeof value === 'string' || Number.isInteger(value);
  switch (schema.type) {
    case undefined:
      return true;
    case 'object':
      return isRecord(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number';
    default:
      return typeof value === schema.type;
  }
}

function duplicates(schema: Schema, value: readonly unknown[], field: string): Cause[] {
  const kind = schema['x-kubernetes-list-type'];
  if (kind !== 'set' && kind !== 'map') return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const identity = (item: unknown): unknown =>
    kind === 'map' && isRecord(item) ? Object.fromEntries(keys.map((key) => [key, item[key]])) : item;
  return value.flatMap((item, i) =>
    value.slice(0, i).some((other) => sameJson(identity(other), identity(item)))
      ? [
          {
            field: `${field}[${i}]`,
            reason: 'FieldValueDuplicate' as const,
            message: `Duplicate value: ${JSON.stringify(identity(item))}`,
          },
        ]
      : [],
  );
}
