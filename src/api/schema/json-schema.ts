import type { KindDefinition } from './kind.ts';
import type { StructuralSchema } from './structural.ts';

/**
 * Kinds as JSON Schema (draft 7), for editors and checkers of manifests. What a cluster judges by CEL rules it cannot
 * carry: `boxwright validate` judges those too.
 */

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const DRAFT = 'http://json-schema.org/draft-07/schema#';
/** Formats that JSON Schema knows; the others of Kubernetes only name the width of a number. */
const FORMATS = new Set(['date-time']);

/** What a manifest says of an annotation. */
export interface AnnotationHint {
  key: string;
  description: string;
}

/** The schema of a manifest of one kind, as a person writes it: unknown fields are errors, and `status` is anything. */
export function manifestSchemaOf(kind: KindDefinition, annotations: readonly AnnotationHint[]): JsonSchema {
  return { $schema: DRAFT, ...bare(kind, annotations) };
}

/**
 * One schema for files of any kinds: a document of one of ours is judged as its kind, one of another API group passes.
 */
export function anyManifestSchema(
  kinds: readonly KindDefinition[],
  annotations: readonly AnnotationHint[],
): JsonSchema {
  const versions = [...new Set(kinds.map(apiVersionOf))];
  const ours = (kind: object): object => ({
    required: ['apiVersion', 'kind'],
    properties: { apiVersion: { enum: versions }, kind },
  });
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  const judged = (kind: object, then: object): object => ({ if: ours(kind), then });
  return {
    $schema: DRAFT,
    type: 'object',
    allOf: [
      judged({}, { properties: { kind: { enum: kinds.map(({ kind }) => kind) } } }),
      ...kinds.map(({ kind }) => judged({ const: kind }, { $ref: `#/definitions/${kind}` })),
    ],
    definitions: Object.fromEntries(kinds.map((each) => [each.kind, bare(each, annotations)])),
  };
}

function apiVersionOf({ group, version }: KindDefinition): string {
  return `${group}/${version}`;
}

function bare(kind: KindDefinition, annotations: readonly AnnotationHint[]): Record<string, unknown> {
  const shape = kind.structural();
  const { spec } = shape.properties ?? {};
  return {
    type: 'object',
    description: shape.description,
    required: [
      'apiVersion',
      'kind',
      'metadata',
      ...(shape.required ?? []).filter((field) => field === 'spec'),
    ],
    additionalProperties: false,
    properties: {
      apiVersion: { const: apiVersionOf(kind) },
      kind: { const: kind.kind },
      metadata: {
        type: 'object',
        properties: {
          name: { type: 'string', maxLength: 253 },
          namespace: { type: 'string', maxLength: 63 },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          annotations: {
            type: 'object',
            additionalProperties: { type: 'string' },
            properties: Object.fromEntries(
              annotations.map(({ key, description }) => [key, { type: 'string', description }]),
            ),
          },
        },
      },
      ...(spec === undefined ? {} : { spec: plain(spec) }),
      status: { type: 'object', description: 'The operator writes it: leave it out.' },
    },
  };
}

function plain(node: StructuralSchema): JsonSchema {
  const { properties, items, format, ...rest } = node;
  const kept = Object.entries(rest).filter(([keyword]) => !keyword.startsWith('x-kubernetes-'));
  const isOpen = node['x-kubernetes-preserve-unknown-fields'] === true || properties === undefined;
  return {
    ...Object.fromEntries(kept),
    ...(format === undefined || !FORMATS.has(format) ? {} : { format }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, each]) => [name, plain(each)]),
          ),
        }),
    ...(node.type === 'object' && !isOpen ? { additionalProperties: false } : {}),
    ...(items === undefined ? {} : { items: plain(items) }),
    ...(node['x-kubernetes-list-type'] === 'set' ? { uniqueItems: true } : {}),
  };
}
