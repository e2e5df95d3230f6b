import { KIND_NAMES, type AnyResource, type KindName, type ResourceOf } from '../api/kinds.ts';
import { KindCache, type KindCacheOptions } from './cache.ts';

/** The caches of all kinds. */
export class Caches {
  /** In the order in which kinds build on each other. */
  readonly all: readonly KindCache<AnyResource>[];
  readonly #byKind: ReadonlyMap<string, KindCache<AnyResource>>;

  constructor(options: KindCacheOptions) {
    this.all = KIND_NAMES.map((kind) => new KindCache<AnyResource>(kind, options));
    this.#byKind = new Map(this.all.map((cache) => [cache.kind, cache]));
  }

  /** The cache of one kind. */
  of<K extends KindName>(kind: K): KindCache<ResourceOf<K>> {
    // There is one for each kind, and it holds that kind only.
    return this.#byKind.get(kind) as unknown as KindCache<ResourceOf<K>>;
  }

  /** Resources that refer to an object, kind by kind; always of the object's own namespace. */
  referrers(kind: string, namespace: string, name: string): AnyResource[] {
    return this.all.flatMap((cache) => cache.referrers(kind, namespace, name));
  }

  /** Resources of any namespace whose spec names a record of a kind by its id. */
  namers(kind: KindName, id: string): AnyResource[] {
    return this.all.flatMap((cache) => cache.namers(kind, id));
  }
}
