import type { RecordStatus } from '../../api/fields/status.ts';
import type { Meta, Resource } from '../../api/resource.ts';

/** The spec fields of every kind that stands for a record of the service. */
export interface ManagedSpec {
  connectionRef: { name: string };
  managementPolicy: 'Full' | 'Observe';
  driftPolicy?: 'Correct' | 'Report' | 'Ignore';
  deletionPolicy?: string;
  onMissing?: 'Recreate' | 'Hold';
  paused: boolean;
  owner?: string;
  name?: string;
}

/** A custom resource that stands for one record of the service, defaults filled in. */
export type ManagedResource = Resource<ManagedSpec, RecordStatus>;

/** The name that a record bears once it is made: the declared one, else that of the resource. */
export function finalNameOf({
  spec,
  metadata,
}: {
  spec: Pick<ManagedSpec, 'name'>;
  metadata: { name: string };
}): string {
  return spec.name ?? metadata.name;
}

/** How queues and caches call an object. */
export function keyOf({ metadata }: { metadata: Pick<Meta, 'namespace' | 'name'> }): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Whether two versions of an object are the same but for their status and labels. */
export function sameMeaning(a: Meta, b: Meta): boolean {
  return (
    a.uid === b.uid &&
    a.generation === b.generation &&
    a.deletionTimestamp === b.deletionTimestamp &&
    JSON.stringify(a.annotations) === JSON.stringify(b.annotations) &&
    JSON.stringify(a.finalizers) === JSON.stringify(b.finalizers)
  );
}

/** What the controllers ask of the cache of a kind with records. */
export interface ResourceCache<R> {
  get(key: string): R | undefined;
  /** Takes the answer of an own write, so that no later look sees an older version. */
  remember(raw: object): void;
  /** Resources, of any namespace, that claim the record. */
  claimants(id: string): readonly R[];
  /** The resource, if there is one, whose marker ends so. */
  marked(own: string): readonly R[];
  isLiving(uid: string): boolean;
  /** Resources that hold a record of an owner. */
  holders(endpoint: string, owner: string): readonly R[];
}
