import type { TObject } from 'typebox';
import { GROUP, VERSION } from '../names.ts';
import type { Parsed } from '../resource.ts';
import { defaulted, object } from './build.ts';
import { makeParser } from './parse.ts';
import type { Rule } from './rules.ts';
import { toStructural, type StructuralSchema } from './structural.ts';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  name: string;
  type: 'string' | 'date' | 'integer';
  jsonPath: string;
  description: string;
  /** 1: only with `-o wide`. */
  priority?: 1;
}

/** A kind: the one place that says what it is called and what it looks like. */
export interface KindDefinition<R = unknown> {
  kind: string;
  plural: string;
  singular: string;
  shortNames: readonly string[];
  group: string;
  version: string;
  /** Path of the collection under a namespace: `/apis/<group>/<version>/namespaces/<namespace>/<plural>`. */
  collectionPath: (namespace: string) => string;
  description: string;
  columns: readonly PrinterColumn[];
  /** Simple string fields that `--field-selector` may name. */
  selectableFields: readonly string[];
  /** TypeBox schema of spec and status. */
  schema: TObject;
  /** The schema as the CRD carries it, without apiVersion, kind and metadata. */
  structural: () => StructuralSchema;
  /** Validates what the API server sent and fills defaults as it would. Never throws. */
  parse: (raw: unknown) => Parsed<R>;
}

interface KindInput {
  kind: string;
  plural: string;
  shortNames: readonly string[];
  description: string;
  columns: readonly PrinterColumn[];
  selectableFields: readonly string[];
  spec: TObject;
  status: TObject;
  /** Rules that need metadata.name. */
  rootRules?: Rule[];
}

/** Makes a kind from its spec and its status. */
export function defineKind<R>(input: KindInput): KindDefinition<R> {
  const { spec, status, rootRules = [], ...names } = input;
  const schema = object(
    input.description,
    { spec, status: defaulted(status, { observedGeneration: -1 }) },
    { rules: rootRules },
  );
  let structural: StructuralSchema | undefined;
  const definition = {
    ...names,
    singular: input.kind.toLowerCase(),
    group: GROUP,
    version: VERSION,
    schema,
    collectionPath: (namespace: string) =>
      `/apis/${GROUP}/${VERSION}/namespaces/${encodeURIComponent(namespace)}/${input.plural}`,
    structural: () => (structural ??= toStructural(schema)),
  };
  return { ...definition, parse: makeParser<R>(input.kind, schema, definition.structural) };
}

/** The column that every kind begins with. */
export const READY_COLUMN: PrinterColumn = {
  name: 'READY',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  description: 'Whether the resource is as declared.',
};

/** The column that every kind ends with. */
export const AGE_COLUMN: PrinterColumn = {
  name: 'AGE',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since the resource was made.',
};

/** Why Ready is what it is. */
export function reasonColumn(priority?: 1): PrinterColumn {
  return {
    name: 'REASON',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Why READY is what it is.',
    ...(priority === undefined ? {} : { priority }),
  };
}

/** The id of the record. */
export const ID_COLUMN: PrinterColumn = {
  name: 'ID',
  type: 'string',
  jsonPath: '.status.id',
  description: 'Id of the record on the service.',
  priority: 1,
};

/** The connection in use. */
export const CONNECTION_COLUMN: PrinterColumn = {
  name: 'CONNECTION',
  type: 'string',
  jsonPath: '.spec.connectionRef.name',
  description: 'The connection in use.',
  priority: 1,
};
