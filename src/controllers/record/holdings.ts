import type { Listing } from './listing.ts';
import type { ResourceCache } from './resource.ts';

type Holders = Pick<ResourceCache<unknown>, 'holders'>;

/** How many records resources here hold, by the list in which the service shows them: kinds may share one. */
export class Holdings {
  readonly #byFamily = new Map<Listing['family'], Holders[]>();

  /** Counts a kind in. */
  add(family: Listing['family'], holders: Holders): void {
    this.#byFamily.set(family, [...(this.#byFamily.get(family) ?? []), holders]);
  }

  /** Records of an owner that resources here hold in a list. */
  count(family: Listing['family'], owner: string, endpoint: string): number {
    const kinds = this.#byFamily.get(family) ?? [];
    return kinds.reduce((sum, kind) => sum + kind.holders(endpoint, owner).length, 0);
  }
}
