import { beforeEach, describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../../api/names.ts';
import { Claims } from './claims.ts';
import { claimAnnotations } from './identity/claim.ts';
import { Seals } from './identity/seal.ts';
import type { ManagedResource, ResourceCache } from './resource.ts';

const PLACE = { endpoint: 'https://service.test', owner: 'ops' };
const DISPUTED = { id: 'r1', endpoint: PLACE.endpoint };

/** Counts how many seals are read. */
class CountingSeals extends Seals {
  count = 0;
  override readClaim(...args: Parameters<Seals['readClaim']>): ReturnType<Seals['readClaim']> {
    this.count += 1;
    return super.readClaim(...args);
  }
}

let seals: CountingSeals;
let all: ManagedResource[];
let claims: Claims<ManagedResource>;

function resource(namespace: string, name: string, status: object = {}): ManagedResource {
  const metadata = { namespace, name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' };
  return { kind: 'Box', metadata, spec: {}, status } as unknown as ManagedResource;
}

/** With the annotations of a claim of its own, and this seal. */
function claiming(of: ManagedResource, seal?: string): ManagedResource {
  const annotations = claimAnnotations('r1', claims.claimant(of), seals, PLACE) as Record<string, string>;
  if (seal !== undefined) annotations[ANNOTATIONS.claimSeal] = seal;
  return { ...of, metadata: { ...of.metadata, annotations } };
}

beforeEach(() => {
  seals = new CountingSeals(Buffer.alloc(32, 1));
  all = [];
  const cache: Partial<ResourceCache<ManagedResource>> = {
    claimants: () => all,
    marked: () => [],
    isLiving: (uid) => all.some(({ metadata }) => metadata.uid === uid),
  };
  const installation = { id: 'inst', unconfirmed: undefined, restore: false, isBorrowed: false };
  claims = new Claims({ installation, seals }, 'Box', cache as ResourceCache<ManagedResource>);
});

describe('claims on one record', () => {
  it('that are forged, however many, have their seals read once each, and count for nothing', () => {
    const victim = claiming(resource('shop', 'web', { id: 'r1', home: PLACE }));
    const seal = victim.metadata.annotations?.[ANNOTATIONS.claimSeal];
    all = [victim, ...Array.from({ length: 2_000 }, (_, i) => claiming(resource('evil', `f-${i}`), seal))];
    for (const one of all) claims.read(one);
    const before = seals.count;
    expect(before).toBe(all.length);
    for (let pass = 0; pass < 10; pass++) expect(claims.rival(DISPUTED, victim)).toBeUndefined();
    expect(claims.holder(DISPUTED, resource('shop', 'other'))).toBe(victim);
    expect(seals.count).toBe(before);
  });

  it('that nobody has read yet count as well', () => {
    const victim = claiming(resource('shop', 'web', { id: 'r1', home: PLACE }));
    const sealed = claiming(resource('shop', 'restored'));
    all = [victim, sealed];
    expect(claims.rival(DISPUTED, sealed)?.name).toBe('Box "web"');
    all = [sealed];
    expect(claims.holder(DISPUTED, resource('shop', 'other'))).toBe(sealed);
  });
});
