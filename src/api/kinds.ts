import { BoxKind, type Box } from './box.ts';
import { ConnectionKind, type Connection } from './connection.ts';
import { InstanceKind, type Instance } from './instance.ts';
import { InstanceLeaseKind, type InstanceLease } from './instance-lease.ts';
import { PolicyBoxKind, type PolicyBox } from './policy-box.ts';
import type { KindDefinition } from './schema/kind.ts';
import {
  findPlainIds,
  findReferences,
  referenceFields,
  type FoundId,
  type FoundReference,
  type ReferenceField,
} from './schema/references.ts';

/** Any resource of ours. */
export type AnyResource = Connection | Box | PolicyBox | Instance | InstanceLease;
/** The name of a kind of ours. */
export type KindName = AnyResource['kind'];
/** The resource of a kind. */
export type ResourceOf<K extends KindName> = Extract<AnyResource, { kind: K }>;

/** Every kind, in the order in which they build on each other. Rights, docs and completion derive from it. */
export const KINDS: readonly KindDefinition<AnyResource>[] = [
  ConnectionKind,
  BoxKind,
  PolicyBoxKind,
  InstanceKind,
  InstanceLeaseKind,
];

/** The names of all kinds, in that order. */
export const KIND_NAMES: readonly KindName[] = KINDS.map(({ kind }) => kind as KindName);

/** The definition of a kind. */
export function kindOf(name: KindName): KindDefinition<AnyResource> {
  const found = KINDS.find((definition) => definition.kind === name);
  // KindName is made from the kinds themselves.
  if (found === undefined) throw new Error(`no kind ${name}`);
  return found;
}

/** Every field of a kind that refers to another object. */
export function referenceFieldsOf(definition: KindDefinition): readonly ReferenceField[] {
  return referenceFields(definition.schema);
}

/** Every reference that a resource makes, Secrets and ConfigMaps included. */
export function referencesOf(resource: AnyResource): readonly FoundReference[] {
  return findReferences(kindOf(resource.kind).schema, resource);
}

/** Every record that the spec of a resource names by its id on the service. */
export function plainIdsOf(resource: AnyResource): readonly FoundId[] {
  return findPlainIds(kindOf(resource.kind).schema, { spec: resource.spec });
}

/** Whether a reference is to a kind of ours. */
export function isOurs(kind: string): kind is KindName {
  return KINDS.some((definition) => definition.kind === kind);
}

/** Whether resources of a kind stand for records of the service. */
export function hasRecord(kind: KindName): boolean {
  const spec: { properties?: object } | undefined = kindOf(kind).schema.properties['spec'];
  return Object.hasOwn(spec?.properties ?? {}, 'managementPolicy');
}
