import type { AnyResource, KindName } from '../api/kinds.ts';
import type { Caches } from './caches.ts';

/** Who uses a resource: names in its namespace, which hold it, and whether there are others, which do not. */
export interface Users {
  /** As `Kind/name`, sorted, each once. */
  names: string[];
  others: boolean;
}

/**
 * Who refers to a resource, or names its record by its id. `goesWith`: it uses the resource, and does not hold it.
 */
export function usersOf(
  caches: Caches,
  { kind, metadata, status }: AnyResource & { status: { id?: string } },
  goesWith: (user: AnyResource) => boolean = () => false,
): Users {
  const { namespace, name, uid } = metadata;
  const byId = status.id === undefined ? [] : caches.namers(kind satisfies KindName, status.id);
  const users = [...caches.referrers(kind, namespace, name), ...byId].filter(
    (user) => user.metadata.uid !== uid && !goesWith(user),
  );
  const named = users
    .filter((user) => user.metadata.namespace === namespace)
    .map((user) => `${user.kind}/${user.metadata.name}`);
  return {
    names: [...new Set(named)].toSorted(),
    others: users.some((user) => user.metadata.namespace !== namespace),
  };
}
