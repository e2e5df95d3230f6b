import { kindOf, referencesOf, type AnyResource, type KindName } from '../api/kinds.ts';
import { ANNOTATIONS } from '../api/names.ts';
import type { Problem } from '../api/resource.ts';
import { Informer, type ChangeHandler, type InformerOptions, type KubeObject } from '../kube/index.ts';
import { ownPart } from './record/identity/marker.ts';
import { withoutMisfits } from './record/status/gate.ts';

/** A resource in the cache. `problems`: it does not fit its schema, so nothing but its envelope can be trusted. */
export type Cached<R> = R & { problems?: Problem[] };

type Held<R extends AnyResource> = Cached<R> & KubeObject;

/** Indexes of every kind's cache. */
const INDEXES = {
  /** By `Kind/namespace/name` of everything that the resource refers to. */
  reference: 'reference',
  /** By the id of the record that it claims, in annotation or status. */
  id: 'id',
  uid: 'uid',
  /** By the part of its marker that is its own. */
  marker: 'marker',
  /** By endpoint and owner of the record that it holds. */
  home: 'home',
} as const;

/** The cache of one of our kinds: parsed and defaulted, with what points at what. */
export class KindCache<R extends AnyResource> {
  readonly informer: Informer<Held<R>>;
  readonly kind: KindName;
  #ownWrite = false;

  constructor(kind: R['kind'], options: Omit<InformerOptions<Held<R>>, 'type' | 'indexes' | 'transform'>) {
    this.kind = kind;
    const { group, version, plural, parse } = kindOf(kind);
    this.informer = new Informer<Held<R>>({
      ...options,
      type: { group, version, plural, kind, namespaced: true },
      transform: (raw) => {
        const parsed = parse(raw);
        if (parsed.ok) return parsed.resource as Held<R>;
        const rest = withoutMisfits(kind, raw, parsed.problems);
        const again = rest === undefined ? parsed : parse(rest);
        if (again.ok) return again.resource as Held<R>;
        return { ...raw, status: raw.status ?? { observedGeneration: -1 }, problems: parsed.problems };
      },
      indexes: {
        // Also of what does not fit its schema: what it uses is in use.
        [INDEXES.reference]: (resource) =>
          referencesOf(resource).map((ref) => referenceKey(ref.kind, resource.metadata.namespace, ref.name)),
        [INDEXES.id]: (resource) => claimedIds(resource),
        [INDEXES.uid]: (resource) => [resource.metadata.uid],
        [INDEXES.marker]: ({ metadata }) => [ownPart({ kind, ...metadata })],
        [INDEXES.home]: (resource) => homesOf(resource),
      },
    });
  }

  get(key: string): Cached<R> | undefined {
    return this.informer.get(key);
  }

  list(namespace?: string): Cached<R>[] {
    return this.informer.list(namespace);
  }

  /** Takes the answer of an own write; handlers that hear of it meanwhile can tell by {@link isOwnWrite}. */
  remember(raw: object): void {
    this.#ownWrite = true;
    try {
      this.informer.remember(raw as Held<R>);
    } finally {
      this.#ownWrite = false;
    }
  }

  /** Whether the change that a handler is told of is an own write: who wrote it knows it already. */
  get isOwnWrite(): boolean {
    return this.#ownWrite;
  }

  /** Resources that claim a record. */
  claimants(id: string): Cached<R>[] {
    return this.informer.byIndex(INDEXES.id, id);
  }

  isLiving(uid: string): boolean {
    return this.informer.byIndex(INDEXES.uid, uid).length > 0;
  }

  /** The resource, if there is one, whose marker ends so. */
  marked(own: string): Cached<R>[] {
    return this.informer.byIndex(INDEXES.marker, own);
  }

  /** Resources that hold a record of a workspace. */
  holders(endpoint: string, owner: string): Cached<R>[] {
    return this.informer.byIndex(INDEXES.home, homeKey(endpoint, owner));
  }

  /** Resources that refer to an object; always of the object's own namespace. */
  referrers(kind: string, namespace: string, name: string): Cached<R>[] {
    return this.informer.byIndex(INDEXES.reference, referenceKey(kind, namespace, name));
  }

  onChange(handler: ChangeHandler<Held<R>>): () => void {
    return this.informer.onChange(handler);
  }
}

function referenceKey(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

function homeKey(endpoint: string, owner: string): string {
  return `${owner} ${endpoint}`;
}

function homesOf({ status }: { status?: unknown }): string[] {
  const { id, home } = (status ?? {}) as { id?: unknown; home?: { endpoint?: unknown; owner?: unknown } };
  const { endpoint, owner } = home ?? {};
  const isHeld = typeof id === 'string' && typeof endpoint === 'string' && typeof owner === 'string';
  return isHeld ? [homeKey(endpoint, owner)] : [];
}

function claimedIds(resource: {
  metadata: { annotations?: Record<string, string> | undefined };
  status?: unknown;
}): string[] {
  const status = resource.status as { id?: unknown } | undefined;
  const ids = new Set<string>();
  const annotated = resource.metadata.annotations?.[ANNOTATIONS.externalId];
  if (annotated !== undefined) ids.add(annotated);
  if (typeof status?.id === 'string') ids.add(status.id);
  return [...ids];
}
