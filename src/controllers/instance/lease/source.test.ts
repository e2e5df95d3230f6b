import { describe, expect, it } from 'vitest';
import type { InstanceLease } from '../../../api/instance-lease.ts';
import type { Instance } from '../../../api/instance.ts';
import type { Cached, KindCache } from '../../cache.ts';
import { awaitedLease, leasesOf, leaseSourceOf } from './source.ts';

interface LeaseParts {
  created?: string;
  instance?: string;
  deleting?: boolean;
  deletionPolicy?: 'Delete' | 'Orphan';
}

function lease(name: string, parts: LeaseParts = {}): Cached<InstanceLease> {
  return {
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-${name}`,
      creationTimestamp: parts.created ?? '2026-01-01T00:00:00Z',
      ...(parts.deleting === true ? { deletionTimestamp: '2026-01-02T00:00:00Z' } : {}),
    },
    spec: {
      instanceRef: { name: parts.instance ?? 'web' },
      operation: 'Shutdown',
      after: '8h',
      warnBefore: '1h',
      paused: false,
      ...(parts.deletionPolicy === undefined ? {} : { deletionPolicy: parts.deletionPolicy }),
    },
    status: { observedGeneration: -1 },
  } as Cached<InstanceLease>;
}

function instance(spec: object = {}, holder?: string): Instance {
  const source = holder === undefined ? {} : { lease: { source: { uid: holder } } };
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'i' },
    spec,
    status: source,
  } as unknown as Instance;
}

function cacheOf(...leases: Cached<InstanceLease>[]): KindCache<InstanceLease> {
  return {
    get: (key: string) => leases.find(({ metadata }) => `shop/${metadata.name}` === key),
    referrers: (_kind: string, _namespace: string, name: string) =>
      leases.filter(({ spec }) => spec.instanceRef.name === name),
  } as unknown as KindCache<InstanceLease>;
}

const names = (leases: readonly InstanceLease[]): string[] => leases.map(({ metadata }) => metadata.name);

describe('the lease of an instance', () => {
  it('is the oldest, of those made in the same second the one that it has, and none that is on its way out', () => {
    const young = lease('a', { created: '2026-01-01T00:00:01Z' });
    const leases = cacheOf(young, lease('c'), lease('b'), lease('gone', { deleting: true }));
    expect(names(leasesOf(instance(), leases))).toEqual(['b', 'c', 'a']);
    expect(names(leasesOf(instance({}, 'uid-c'), leases))).toEqual(['c', 'b', 'a']);
    expect(names(leasesOf(instance({}, 'uid-a'), leases))).toEqual(['b', 'c', 'a']);
  });

  it('is none of another instance, nor one that does not fit its schema', () => {
    const broken = { ...lease('broken'), problems: [] } as Cached<InstanceLease>;
    expect(leasesOf(instance(), cacheOf(lease('other', { instance: 'db' }), broken))).toEqual([]);
  });

  it('is its own before any other', () => {
    const own = { lease: { operation: 'Terminate', after: '1h' } };
    expect(leaseSourceOf(instance(own), cacheOf(lease('nights')), 'Orphan')).toMatchObject({
      kind: 'source',
      source: { kind: 'Instance', name: 'web', uid: 'i', deletionPolicy: 'Delete', terms: own.lease },
    });
  });

  it('goes by its own deletionPolicy, then by the one of the connection', () => {
    const policy = (parts: LeaseParts, connection: string | undefined): unknown => {
      const choice = leaseSourceOf(instance(), cacheOf(lease('nights', parts)), connection);
      return choice.kind === 'source' ? choice.source.deletionPolicy : choice.kind;
    };
    expect(policy({}, undefined)).toBe('Delete');
    expect(policy({}, 'Orphan')).toBe('Orphan');
    expect(policy({ deletionPolicy: 'Delete' }, 'Orphan')).toBe('Delete');
    expect(leaseSourceOf(instance(), cacheOf(), undefined)).toEqual({ kind: 'none' });
  });

  it('that leaseRef names is waited for, in words that say what is missing', () => {
    const named = instance({ leaseRef: { name: 'nights' } });
    expect(awaitedLease(named, cacheOf(lease('nights')))).toBeUndefined();
    expect(awaitedLease(instance(), cacheOf())).toBeUndefined();
    expect(awaitedLease(named, cacheOf(lease('other')))).toContain('does not exist');
    expect(awaitedLease(named, cacheOf(lease('nights', { deleting: true })))).toContain('is being deleted');
    expect(awaitedLease(named, cacheOf(lease('nights', { instance: 'db' })))).toContain(
      'is for Instance "db"',
    );
    expect(leaseSourceOf(named, cacheOf(), undefined)).toMatchObject({ kind: 'waiting' });
  });
});
