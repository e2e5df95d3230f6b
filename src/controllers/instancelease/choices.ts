import type { InstanceLease } from '../../api/instance-lease.ts';
import type { Instance } from '../../api/instance.ts';
import type { Cached, KindCache } from '../cache.ts';
import { leaseSourceOf } from '../instance/index.ts';
import { keyOf, sameMeaning } from '../record/resource.ts';

type Choice = ReturnType<typeof leaseSourceOf>;

/**
 * Which lease each Instance has, looked up once for all leases that name it: an author may make thousands of one
 * Instance, and each of them asks.
 */
export class LeaseChoices {
  readonly #leases: KindCache<InstanceLease>;
  /** By key of the Instance, as of one version of it. */
  readonly #known = new Map<string, { version: string; choice: Choice }>();

  constructor(leases: KindCache<InstanceLease>, instances: Pick<KindCache<Instance>, 'onChange'>) {
    this.#leases = leases;
    leases.onChange((change) => {
      if (change.type !== 'updated') return this.#forget(change.object);
      const { old, object } = change;
      const isFit = (old.problems === undefined) === (object.problems === undefined);
      if (isFit && sameMeaning(old.metadata, object.metadata)) return undefined;
      this.#forget(old);
      return this.#forget(object);
    });
    instances.onChange(({ type, object }) => {
      if (type === 'deleted') this.#known.delete(keyOf(object));
    });
  }

  /** The choice, for whoever does not know how the connection deals with deletions. */
  of(instance: Cached<Instance>): Choice {
    const key = keyOf(instance);
    const version = instance.metadata.resourceVersion;
    const known = this.#known.get(key);
    if (known?.version === version) return known.choice;
    const choice = leaseSourceOf(instance, this.#leases, undefined);
    this.#known.set(key, { version, choice });
    return choice;
  }

  #forget({ metadata, spec }: Pick<InstanceLease, 'metadata'> & { spec?: unknown }): void {
    // Of one that does not fit its schema anything may be missing.
    const { instanceRef } = (spec ?? {}) as { instanceRef?: { name?: unknown } };
    this.#known.delete(`${metadata.namespace}/${String(instanceRef?.name)}`);
  }
}
