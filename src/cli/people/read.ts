import { KINDS } from '../../api/kinds.ts';
import { KubeApiError } from '../../kube/index.ts';
import { CommandFailedError } from '../exit-codes.ts';
import { typeOf } from '../watch/type-of.ts';
import type { WatchedResource } from '../watch/resource.ts';
import { refusalOf, type Cluster } from './cluster.ts';

/** What could be read, and what not. */
export interface Read {
  resources: WatchedResource[];
  /** Sentences about kinds that could not be read. */
  gaps: string[];
}

/**
 * Every resource of ours in a namespace, or in all: kinds in their order, then by namespace and name. A kind that the
 * person may not list, or that this cluster does not have, is a gap; all of them is a failure.
 * @throws CommandFailedError
 */
export async function readAll(
  { kube, server }: Cluster,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<Read> {
  const gaps: string[] = [];
  const missing: string[] = [];
  const lists = await Promise.all(
    KINDS.map(async (definition) => {
      try {
        const found = await kube.list<WatchedResource>(typeOf(definition), { namespace, signal });
        return found.map((resource) => ({ ...resource, kind: definition.kind })).toSorted(byName);
      } catch (error) {
        if (!(error instanceof KubeApiError)) throw error;
        if (error.isNotFound) missing.push(definition.kind);
        else if (error.status === 403) gaps.push(`${definition.plural} are left out: ${refusalOf(error)}`);
        else throw error;
        return [];
      }
    }),
  );
  if (missing.length === KINDS.length) throw notInstalled(server);
  if (missing.length > 0)
    gaps.push(`the cluster lacks ${missing.join(', ')}: install the CRDs of this version of Boxwright`);
  if (gaps.length === KINDS.length) throw new CommandFailedError(gaps[0] ?? '');
  return { resources: lists.flat(), gaps };
}

/** For a cluster without our kinds. */
export function notInstalled(server: string): CommandFailedError {
  return new CommandFailedError(
    `the cluster at ${server} does not have the kinds of Boxwright: install the chart boxwright-crds, or name another --context`,
  );
}

function byName(a: WatchedResource, b: WatchedResource): number {
  const one = [a.metadata.namespace ?? '', a.metadata.name];
  const other = [b.metadata.namespace ?? '', b.metadata.name];
  return (one[0] ?? '').localeCompare(other[0] ?? '') || (one[1] ?? '').localeCompare(other[1] ?? '');
}
