import { API_VERSION } from '../api/names.ts';
import type { Meta } from '../api/resource.ts';
import type { EventInput } from '../kube/index.ts';

/** What an Event of one of our resources is about. */
export function eventTarget(
  kind: string,
  { metadata: { namespace, name, uid } }: { metadata: Pick<Meta, 'namespace' | 'name' | 'uid'> },
): EventInput['regarding'] {
  return { apiVersion: API_VERSION, kind, namespace, name, uid };
}
