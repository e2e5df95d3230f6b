import { crdOf } from '../../../src/api/crd.ts';
import { KINDS } from '../../../src/api/kinds.ts';
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  EVENTS,
  LEASES,
  NAMESPACES,
  SECRETS,
} from '../../../src/kube/types.ts';
import type { ResourceType } from '../../../src/kube/object.ts';
import { builtInMistakes } from './built-ins.ts';
import { isRecord, type StoredObject } from './objects.ts';
import type { Cause } from './refusals.ts';
import { fillDefaults, prune, validate, type Schema } from './schema.ts';

/** How the fake treats one kind. */
export interface FakeKind {
  readonly type: ResourceType;
  /** Lists of built-in kinds leave kind and apiVersion of their items out. */
  readonly builtIn: boolean;
  /** Has a status subresource, so that neither side writes the other's part. */
  readonly status: boolean;
  /** Counts changes outside of metadata and status in `metadata.generation`. */
  readonly generation: boolean;
  /** A PUT without resourceVersion is taken. */
  readonly unconditionalUpdate: boolean;
  /** Paths for field selectors besides name and namespace. */
  readonly selectableFields: readonly string[];
  /**
   * Prunes and fills in defaults; what is wrong comes as causes of a 422. `old` is there on updates.
   */
  admit(
    object: StoredObject,
    old: StoredObject | undefined,
  ): { object: StoredObject; causes: readonly Cause[] };
}

const PLAIN = { builtIn: true, status: false, generation: false, selectableFields: [] } as const;

function plain(type: ResourceType, unconditionalUpdate: boolean): FakeKind {
  return { ...PLAIN, type, unconditionalUpdate, admit: (object) => builtInMistakes(type, object) };
}

/** The built-in kinds that an operator touches. */
export function builtInKinds(): FakeKind[] {
  return [
    plain(CONFIG_MAPS, true),
    plain(SECRETS, true),
    plain(LEASES, false),
    plain(EVENTS, true),
    { ...plain(NAMESPACES, true), status: true },
    { ...plain(CUSTOM_RESOURCE_DEFINITIONS, false), status: true, generation: true },
  ];
}

interface Crd {
  spec: {
    group: string;
    scope: string;
    names: { plural: string; kind: string };
    versions: {
      name: string;
      subresources?: { status?: object };
      selectableFields?: { jsonPath: string }[];
      schema: { openAPIV3Schema: Schema };
    }[];
  };
}

/** The custom kinds of this project. They come from where crds/ is generated from: reading that YAML is slow. */
export function ownKinds(): FakeKind[] {
  return KINDS.map((definition) => customKind(crdOf(definition)));
}

/** A kind by its parsed CustomResourceDefinition, of which the first version counts. */
export function customKind(manifest: unknown): FakeKind {
  const { spec } = manifest as Crd;
  const version = spec.versions[0];
  if (version === undefined) throw new Error('a CustomResourceDefinition without versions');
  const schema = version.schema.openAPIV3Schema;
  return {
    type: {
      group: spec.group,
      version: version.name,
      plural: spec.names.plural,
      kind: spec.names.kind,
      namespaced: spec.scope === 'Namespaced',
    },
    builtIn: false,
    status: version.subresources?.status !== undefined,
    generation: true,
    unconditionalUpdate: false,
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
    admit: (object, old) => admitCustom(schema, object, old),
  };
}

function admitCustom(
  schema: Schema,
  object: StoredObject,
  old: StoredObject | undefined,
): { object: StoredObject; causes: readonly Cause[] } {
  const { apiVersion, kind, metadata, ...content } = object;
  const pruned = prune(schema, content);
  const complete = fillDefaults(schema, pruned);
  const admitted: StoredObject = { apiVersion, kind, metadata, ...(isRecord(complete) ? complete : {}) };
  return { object: admitted, causes: validate(schema, inSight(admitted), old && inSight(old)) };
}

/** Of metadata a schema and its rules see the name only. */
function inSight({ metadata, ...rest }: StoredObject): object {
  const { generateName, name } = metadata;
  return { ...rest, metadata: { name, ...(generateName === undefined ? {} : { generateName }) } };
}
