import type { KindDefinition } from '../../api/schema/kind.ts';
import type { ResourceType } from '../../kube/index.ts';

/** A kind of ours as the client of the API server takes it. */
export function typeOf({ group, version, plural, kind }: KindDefinition): ResourceType {
  return { group, version, plural, kind, namespaced: true };
}
