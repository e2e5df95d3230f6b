import { kindOf, referencesOf, type AnyResource, type KindName } from '../api/kinds.ts';
import { ANNOTATIONS } from '../api/names.ts';
import type { Problem } from '../api/resource.ts';
import { weigh } from '../base/memory-budget.ts';
import { Informer, type ChangeHandler, type InformerOptions, type KubeObject } from '../kube/index.ts';
import type { CacheRoom } from './cache-room.ts';
import { ownPart } from './record/identity/marker.ts';
import { withoutMisfits } from './record/status/gate.ts';
import { TOO_LARGE } from './record/status/problems.ts';

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
  /** By the ids that its spec names without a reference. */
  names: 'names',
} as const;

/** The cache of one of our kinds: parsed and defaulted, with what points at what. */
export class KindCache<R extends AnyResource> {
  readonly informer: Informer<Held<R>>;
  readonly kind: KindName;
  #ownWrite = false;

  constructor(
    kind: R['kind'],
    {
      room,
      ...options
    }: Omit<InformerOptions<Held<R>>, 'type' | 'indexes' | 'transform'> & { room: CacheRoom },
  ) {
    this.kind = kind;
    const { group, version, plural, parse } = kindOf(kind);
    this.informer = new Informer<Held<R>>({
      ...options,
      type: { group, version, plural, kind, namespaced: true },
      transform: (given) => {
        const raw = withoutForeignAnnotations(given);
        const { namespace, name } = raw.metadata;
        if (!room.take(kind, namespace, name, weigh(raw))) return outlineOf(raw, room.most);
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
        [INDEXES.names]: (resource) => plainIdsOf(resource),
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

  /** Resources of any namespace whose spec names a record by its id. */
  namers(id: string): Cached<R>[] {
    return this.informer.byIndex(INDEXES.names, id);
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

/** Members of a spec that weigh less stay where there is no room for the whole, bytes of the heap. */
const SMALL_PART = 4_096;

/** What is kept of a resource that is too large: enough to say so, to see what it holds, and to let go of it. */
function outlineOf<R extends AnyResource>(raw: Held<R>, most: number): Held<R> {
  const spec = Object.fromEntries(
    Object.entries(raw.spec ?? {}).filter(([, part]) => weigh(part) <= SMALL_PART),
  );
  const message =
    `It takes more memory than the operator has for the large resources of one namespace, or of all ` +
    `(${Math.floor(most / 1_048_576)} MiB for one): put scripts and files into ConfigMaps, or have the administrator ` +
    `raise the operator's memory limit. Any change of this resource has it looked at again`;
  const status = raw.status ?? { observedGeneration: -1 };
  return { ...raw, spec, status, problems: [{ path: TOO_LARGE, value: '', message }] };
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

/** Also of what does not fit its schema: what it names is in use. */
function plainIdsOf(resource: AnyResource): string[] {
  const { spec } = resource as { spec?: { boxId?: unknown; policyBoxId?: unknown; variables?: unknown } };
  const nested: unknown[] = Array.isArray(spec?.variables)
    ? spec.variables.map((variable: { boxId?: unknown } | null) => variable?.boxId)
    : [];
  return [spec?.boxId, spec?.policyBoxId, ...nested].filter((id) => typeof id === 'string');
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
