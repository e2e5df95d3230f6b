import { expect, it } from 'vitest';
import type { InstanceLease } from '../../api/instance-lease.ts';
import type { Instance } from '../../api/instance.ts';
import type { Cached, KindCache } from '../cache.ts';
import { LeaseChoices } from './choices.ts';

type Lease = Cached<InstanceLease>;

const lease = (name: string, second: number, generation = 1): Lease =>
  ({
    metadata: {
      namespace: 'shop',
      name,
      uid: name,
      generation,
      resourceVersion: `${generation}`,
      creationTimestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
    },
    spec: { instanceRef: { name: 'web' } },
    status: {},
  }) as unknown as Lease;
const instance = (version: string): Cached<Instance> =>
  ({
    metadata: { namespace: 'shop', name: 'web', uid: 'web', resourceVersion: version },
    spec: {},
    status: {},
  }) as unknown as Cached<Instance>;

/** Leases as a cache has them, and how often it was asked for those of an Instance. */
class Cache {
  readonly leases = new Map<string, Lease>();
  asked = 0;
  #handler: (change: object) => void = () => undefined;
  readonly asKind = {
    onChange: (handler: (change: object) => void) => (this.#handler = handler),
    referrers: () => {
      this.asked += 1;
      return [...this.leases.values()];
    },
  } as unknown as KindCache<InstanceLease>;

  put(object: Lease): void {
    const old = this.leases.get(object.metadata.name);
    this.leases.set(object.metadata.name, object);
    this.#handler(old === undefined ? { type: 'added', object } : { type: 'updated', object, old });
  }

  delete(name: string): void {
    const object = this.leases.get(name);
    this.leases.delete(name);
    this.#handler({ type: 'deleted', object });
  }
}

it('the lease of an Instance is looked for once, however many ask, and again when one of them changes', () => {
  const cache = new Cache();
  const choices = new LeaseChoices(cache.asKind, { onChange: () => () => undefined });
  const chosen = (version = '1'): unknown => {
    const choice = choices.of(instance(version));
    return choice.kind === 'source' ? choice.source.name : choice.kind;
  };
  expect(chosen()).toBe('none');
  for (let i = 10; i < 60; i += 1) cache.put(lease(`lease-${i}`, i));
  expect(chosen()).toBe('lease-10');
  const before = cache.asked;
  for (let i = 0; i < 1_000; i += 1) chosen();
  cache.put({ ...lease('lease-20', 20), status: { observedGeneration: 1 } });
  chosen();
  expect(cache.asked).toBe(before);
  cache.put(lease('lease-05', 5));
  expect(chosen()).toBe('lease-05');
  cache.delete('lease-05');
  expect(chosen()).toBe('lease-10');
  cache.put({ ...lease('lease-10', 10), problems: [{ path: 'spec', value: '', message: 'wrong' }] });
  expect(chosen()).toBe('lease-11');
  const asked = cache.asked;
  expect([chosen('2'), cache.asked]).toEqual(['lease-11', asked + 1]);
});
