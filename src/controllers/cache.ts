import { kindOf, plainIdsOf, referencesOf, type AnyResource, type KindName } from '../api/kinds.ts';
import { ANNOTATIONS } from '../api/names.ts';
import type { Problem } from '../api/resource.ts';
import { weigh } from '../base/memory-budget.ts';
import { Informer, type ChangeHandler, type InformerOptions, type KubeObject } from '../kube/index.ts';
import type { CacheRoom, NoRoom } from './cache-room.ts';
import { ownPart } from './record/identity/marker.ts';
import { withoutMisfits } from './record/status/gate.ts';
import { TOO_LARGE } from './record/status/problems.ts';
import { withSpelling } from './record/status/spelling.ts';

/** A resource in the cache. `problems`: it does not fit its schema, so nothing but its envelope can be trusted. */
export type Cached<R> = R & { problems?: Problem[] };

type Held<R extends AnyResource> = Cached<R> & KubeObject;

/** Indexes of every kind's cache. */
const INDEXES = {
  /** By `Kind/namespace/name` of everything that the resource refers to. */
  reference: 'reference',
  /** By the id of the record that it claims, in annotation or status. */
  id: 'id',
  /** By namespace, and the id of the record that it holds by its status. */
  held: 'held',
  uid: 'uid',
  /** By the part of its marker that is its own. */
  marker: 'marker',
  /** By endpoint and owner of the record that it holds. */
  home: 'home',
  /** By kind and id of the records that its spec names without a reference. */
  names: 'names',
} as const;

/** What a cache needs, whatever its kind. */
export type KindCacheOptions = Omit<
  InformerOptions<KubeObject>,
  'type' | 'indexes' | 'transform' | 'prune'
> & {
  room: CacheRoom;
};

/** The cache of one of our kinds: parsed and defaulted, with what points at what. */
export class KindCache<R extends AnyResource> {
  readonly informer: Informer<Held<R>>;
  readonly kind: KindName;
  #ownWrite = false;

  constructor(kind: R['kind'], { room, ...options }: KindCacheOptions) {
    this.kind = kind;
    const { group, version, plural, parse } = kindOf(kind);
    this.informer = new Informer<Held<R>>({
      ...options,
      type: { group, version, plural, kind, namespaced: true },
      transform: (given) => {
        const raw = withSpelling(withoutForeignAnnotations(given));
        const { namespace, name } = raw.metadata;
        const noRoom = room.take(kind, namespace, name, weigh(raw));
        if (noRoom !== undefined) return outlineOf(raw, noRoom, room.most(noRoom));
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
        [INDEXES.held]: ({ metadata, status }) =>
          'id' in status && typeof status.id === 'string' ? [heldKey(metadata.namespace, status.id)] : [],
        [INDEXES.uid]: (resource) => [resource.metadata.uid],
        [INDEXES.marker]: ({ metadata }) => [ownPart({ kind, ...metadata })],
        [INDEXES.home]: (resource) => homesOf(resource),
        // As well of what does not fit.
        [INDEXES.names]: (resource) => plainIdsOf(resource).map((named) => nameKey(named.kind, named.id)),
      },
    });
    this.informer.onChange(({ type, object: { metadata } }) => {
      if (type === 'deleted') room.drop(kind, metadata.namespace, metadata.name);
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

  /** Resources of a namespace that hold a record by their status, which no author can write. */
  holding(namespace: string, id: string): Cached<R>[] {
    return this.informer.byIndex(INDEXES.held, heldKey(namespace, id));
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

  /** Resources of any namespace whose spec names a record of a kind by its id. */
  namers(kind: string, id: string): Cached<R>[] {
    return this.informer.byIndex(INDEXES.names, nameKey(kind, id));
  }

  /** Resources that refer to an object; always of the object's own namespace. */
  referrers(kind: string, namespace: string, name: string): Cached<R>[] {
    return this.informer.byIndex(INDEXES.reference, referenceKey(kind, namespace, name));
  }

  onChange(handler: ChangeHandler<Held<R>>): () => void {
    return this.informer.onChange(handler);
  }
}

const OURS = 'boxwright.dev/';

/** Nobody here reads those of others, and what `kubectl apply` keeps in one is the whole resource once more. */
function withoutForeignAnnotations<T extends KubeObject>(object: T): T {
  const { annotations } = object.metadata;
  if (annotations === undefined) return object;
  const ours = Object.entries(annotations).filter(([name]) => name.startsWith(OURS));
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(ours) } };
}

/** Parts of a resource that weigh no more stay where there is no room for the whole, bytes of the heap. */
const SMALL_PART: Readonly<Record<NoRoom, number>> = { large: 4_096, many: 512 };

/**
 * What is kept of a resource that there is no room for: enough to say so, to see what it holds, and to let go of it. An
 * author may make as many as the API server takes, and any part of them as large.
 */
function outlineOf<R extends AnyResource>(raw: Held<R>, why: NoRoom, most: number): Held<R> {
  const isSmall = (part: unknown): boolean => weigh(part) <= SMALL_PART[why];
  const small = (parts: object): object =>
    Object.fromEntries(Object.entries(parts).filter(([, part]) => isSmall(part)));
  const {
    labels: _labels,
    ownerReferences: _owners,
    annotations = {},
    finalizers,
    ...metadata
  } = raw.metadata;
  const mebibytes = Math.floor(most / 1_048_576);
  const message =
    (why === 'large'
      ? `It takes more memory than the operator has for the large resources of one namespace, or of all ` +
        `(${mebibytes} MiB for one): put scripts and files into ConfigMaps, or `
      : `There are more resources than the operator has memory for (${mebibytes} MiB for those of one namespace): ` +
        `delete what is not used, or `) +
    `have the administrator raise the operator's memory limit. Any change of this resource has it looked at again`;
  return {
    ...raw,
    metadata: {
      ...metadata,
      annotations: small(annotations),
      ...(finalizers !== undefined && isSmall(finalizers) ? { finalizers } : {}),
    },
    spec: small(raw.spec ?? {}),
    status: raw.status ?? { observedGeneration: -1 },
    problems: [{ path: TOO_LARGE, value: '', message }],
  };
}

function referenceKey(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

function heldKey(namespace: string, id: string): string {
  return `${namespace}/${id}`;
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

function nameKey(kind: string, id: string): string {
  return `${kind} ${id}`;
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
