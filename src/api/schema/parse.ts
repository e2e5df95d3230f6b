import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { exactJson } from '../../base/exact-json.ts';
import { cutText } from '../../base/text.ts';
import { API_VERSION } from '../names.ts';
import type { Meta, OwnerReference, Parsed, Problem } from '../resource.ts';
import { isFields, prune, under } from './prune.ts';
import { MATCHES } from './rules.ts';
import { rulesOf, type StructuralSchema } from './structural.ts';

/** Problems named at most: a person mends the first few and looks again. */
const PROBLEMS_LIMIT = 20;
/** Fields whose value is never repeated: they may hold secrets or whole scripts. */
const QUIET_FIELDS = /(^|\.)(value|inline|endpoint|token|message|want|have)$/;

/**
 * A parser for one kind: prunes, fills defaults, validates, and runs the rules that need no older object,
 * as the API server does on a write. It is for objects that come *from* the API server: most often they are
 * right, and where an older schema let something through, the answer says what and what to do.
 */
export function makeParser<R>(
  kind: string,
  schema: TSchema,
  structural: () => StructuralSchema,
): (raw: unknown) => Parsed<R> {
  let validate: ValidateFunction | undefined;
  return (raw) => {
    if (!isFields(raw)) return failed([problem('', undefined, `a ${kind} is a JSON object`)]);
    const problems: Problem[] = [];
    const metadata = metaOf(raw['metadata'], problems);
    const shape = structural();
    const body = prune(shape, raw, '', problems) as Record<string, unknown>;
    validate ??= compile(shape);
    // Fills defaults in `body`, which is our own copy.
    if (!validate(body)) {
      problems.push(...onePerField((validate.errors ?? []).map((error) => explain(error, body, shape))));
    }
    if (problems.length === 0) runRules(schema, { ...body, metadata }, '', problems);
    if (problems.length > 0 || metadata === undefined) return failed(problems, metadata);
    return { ok: true, resource: { apiVersion: API_VERSION, kind, metadata, ...body } as R };
  };
}

function compile(shape: StructuralSchema): ValidateFunction {
  const ajv = new Ajv({ useDefaults: true, allErrors: true, strict: false });
  addFormats.default(ajv, ['date-time']);
  ajv.addFormat('int64', true);
  return ajv.compile(shape);
}

function failed(problems: readonly Problem[], metadata?: Meta): { ok: false; problems: Problem[] } {
  return {
    ok: false,
    problems: problems.slice(0, PROBLEMS_LIMIT),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** One problem per field: of several the last, which is the most telling one. */
function onePerField(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((found) => [found.path, found])).values()];
}

function problem(path: string, value: unknown, complaint: string): Problem {
  const hidden = value === undefined || typeof value === 'object' || QUIET_FIELDS.test(path);
  const shown = hidden ? '' : cutText(exactJson(value), 80);
  const subject = shown === '' ? path : `${path} is ${shown}`;
  return { path, value: shown, message: subject === '' ? complaint : `${subject}: ${complaint}` };
}

function missing(path: string, next?: string): Problem {
  return {
    path,
    value: '',
    message: next === undefined ? `${path} is required` : `${path} is missing: ${next}`,
  };
}

/** One of ajv's errors in words: the field, its value, what is wanted and what to do. */
function explain(error: ErrorObject, body: unknown, shape: StructuralSchema): Problem {
  const steps = error.instancePath.split('/').slice(1).map(unescape);
  let value: unknown = body;
  let node: StructuralSchema | undefined = shape;
  let path = '';
  for (const step of steps) {
    value = (value as Record<string, unknown> | undefined)?.[step];
    path = node?.type === 'array' ? `${path}[${step}]` : under(path, step);
    node = node?.type === 'array' ? node.items : node?.properties?.[step];
  }
  const params = error.params as Record<string, unknown>;
  if (error.keyword === 'required') {
    return missing(under(path, String(params['missingProperty'])));
  }
  const hint = node?.['x-kubernetes-validations']?.find(({ rule }) => rule.startsWith(MATCHES));
  switch (error.keyword) {
    case 'enum':
      return problem(path, value, `must be one of ${(node?.enum ?? []).join(', ')}`);
    case 'pattern':
      return problem(path, value, hint?.message ?? `must match ${String(params['pattern'])}`);
    case 'type':
      return ofType(path, value, String(params['type']));
    default:
      return problem(path, value, error.message ?? 'is not allowed');
  }
}

/** A word where an object belongs may be the very secret that was to be referred to: it is not repeated. */
function ofType(path: string, value: unknown, type: string): Problem {
  const isText = type === 'string' && (typeof value === 'boolean' || typeof value === 'number');
  const next = isText ? ': put it in quotes' : '';
  const said = type === 'object' || type === 'array' ? undefined : value;
  return problem(path, said, `must be of type ${type}${next}`);
}

/** JSON pointer escapes. */
function unescape(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Runs what the API server runs as CEL, as far as it needs no older object, and looks for duplicates. */
function runRules(schema: TSchema, value: unknown, path: string, problems: Problem[]): void {
  for (const { holds, message } of rulesOf(schema)) {
    if (holds !== undefined && !holds(value as never)) problems.push(problem(path, value, message));
  }
  const { items, properties } = schema as { items?: TSchema; properties?: Record<string, TSchema> };
  if (Array.isArray(value) && items !== undefined) {
    findDuplicates(schema, value, path, problems);
    for (const [index, item] of value.entries()) runRules(items, item, `${path}[${index}]`, problems);
  } else if (isFields(value) && properties !== undefined) {
    for (const [name, field] of Object.entries(properties)) {
      if (value[name] !== undefined) runRules(field, value[name], under(path, name), problems);
    }
  }
}

function findDuplicates(schema: TSchema, items: readonly unknown[], path: string, problems: Problem[]): void {
  const keywords = schema as Readonly<Record<string, unknown>>;
  const keys = keywords['x-kubernetes-list-map-keys'] as readonly string[] | undefined;
  if (keys === undefined && keywords['x-kubernetes-list-type'] !== 'set') return;
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const key = JSON.stringify(
      keys === undefined ? item : keys.map((k) => (item as Record<string, unknown>)[k]),
    );
    if (seen.has(key)) {
      problems.push(problem(`${path}[${index}]`, item, `appears twice in ${path}: keep one`));
    }
    seen.add(key);
  }
}

/** `metadata` as far as the operator uses it; managedFields and the like are left out. */
function metaOf(raw: unknown, problems: Problem[]): Meta | undefined {
  const from = isFields(raw) ? raw : {};
  const texts = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'] as const;
  const absent = [
    ...texts.filter((field) => typeof from[field] !== 'string' || from[field] === ''),
    ...(typeof from['generation'] === 'number' ? [] : ['generation']),
  ];
  for (const field of absent) {
    problems.push(missing(`metadata.${field}`, 'read the object from the API server'));
  }
  if (absent.length > 0) return undefined;
  const meta: Partial<Meta> = {};
  for (const field of texts) meta[field] = from[field] as string;
  meta.generation = from['generation'] as number;
  if (typeof from['deletionTimestamp'] === 'string') meta.deletionTimestamp = from['deletionTimestamp'];
  if (Array.isArray(from['finalizers'])) {
    meta.finalizers = from['finalizers'].filter((name): name is string => typeof name === 'string');
  }
  if (isFields(from['labels'])) meta.labels = textMap(from['labels']);
  if (isFields(from['annotations'])) meta.annotations = textMap(from['annotations']);
  if (Array.isArray(from['ownerReferences'])) {
    meta.ownerReferences = from['ownerReferences'].filter(isFields) as unknown as OwnerReference[];
  }
  return meta as Meta;
}

function textMap(from: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(from).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
