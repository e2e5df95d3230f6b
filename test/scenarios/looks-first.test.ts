import { afterEach, describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/sandbox/admin/snapshot.ts';
import { HOUR, instance, MINUTE, Shop } from './shop.ts';

const ORPHAN = '  deletionPolicy: Orphan';

/** protocols.md 3.1 */
describe('a creation', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  function ids(): string[] {
    return shop.records().map(({ id }) => id);
  }

  /** Puts a record back that a snapshot holds, beside all that is there. */
  function bringBack(kept: Snapshot, id: string): void {
    const { admin } = shop.world.sandbox;
    const now = admin.snapshot();
    const row = kept.tables['instances']?.find((one) => one.id === id);
    if (row === undefined) throw new Error(`no ${id} to bring back`);
    admin.restore({
      ...now,
      tables: { ...now.tables, instances: [...(now.tables['instances'] ?? []), row] },
    });
  }

  it('looks for its record in a list that began after it was asked for', async () => {
    shop = await Shop.open();
    const id = await shop.leftBehind();
    const kept = shop.world.sandbox.admin.snapshot();
    shop.world.sandbox.admin.removeRecord('instances', id);
    await shop.world.advance(10 * MINUTE);
    await shop.world.apply(instance('', 'other'));
    await shop.world.until(() => shop.status('other').id !== undefined, MINUTE);
    bringBack(kept, id);
    await shop.world.advance(2_000);
    await shop.world.apply(instance(ORPHAN));
    await shop.online();
    expect(shop.status().id).toBe(id);
    expect(ids()).toHaveLength(2);
  });

  it('finds the record that the same resource has adopted and let go of a moment ago, though lists trail', async () => {
    shop = await Shop.open();
    const id = await shop.leftBehind();
    shop.world.sandbox.admin.editRecord('instances', id, { tags: [] });
    await shop.world.advance(10 * MINUTE);
    shop.world.sandbox.admin.setListLag({ ms: 50_000 });
    await shop.world.apply(instance(ORPHAN, 'second', `{boxwright.dev/adopt: ${id}}`));
    await shop.online('second');
    await shop.world.delete('Instance', 'second');
    await shop.gone('second');
    await shop.world.apply(instance(ORPHAN, 'second'));
    await shop.online('second');
    expect(shop.status('second').id).toBe(id);
    await shop.world.advance(HOUR);
    expect(ids()).toEqual([id]);
  });
});
