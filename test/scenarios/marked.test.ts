import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PortAnswer } from '../../src/service/index.ts';
import { changed, HOUR, instance, Shop } from './shop.ts';

let shop: Shop;
beforeEach(async () => void (shop = await Shop.open()));
afterEach(() => shop.close());

const finalizers = (): readonly string[] => shop.world.get('Instance', 'web-eu')?.metadata.finalizers ?? [];

/** Lets two records be there that carry the marker of `web-eu`, and no resource that has one of them. */
async function twoLeft(): Promise<string[]> {
  const first = await shop.leftBehind();
  const { admin } = shop.world.sandbox;
  const now = admin.snapshot();
  const rows = now.tables['instances'] ?? [];
  const twin = `${first.slice(0, -1)}z`;
  const doc = rows.find(({ id }) => id === first)?.doc.replaceAll(first, twin) ?? '';
  admin.restore({ ...now, tables: { ...now.tables, instances: [...rows, { id: twin, doc }] } });
  await shop.world.advance(2 * HOUR);
  return [first, twin];
}

it('a resource that several records may be of is not let go of before a person has decided', async () => {
  const [first = '', twin = ''] = await twoLeft();
  await shop.world.apply(instance());
  await shop.world.until(() => shop.ready() === 'False Ambiguous');
  expect(finalizers()).toEqual(['boxwright.dev/finalizer']);
  await shop.world.delete('Instance', 'web-eu');
  await shop.world.advance(HOUR);
  expect(shop.isGone()).toBe(false);
  expect(shop.message()).toContain(first);
  expect(shop.message()).toContain(twin);
  await shop.byHand('DELETE', `/services/instances/${twin}?operation=terminate`);
  await shop.gone();
  expect(shop.records().filter(({ operation }) => !operation.event.startsWith('terminate'))).toEqual([]);
});

it('a create that is answered with the record of another resource takes nothing over', async () => {
  await shop.world.apply(instance('', 'other'));
  await shop.online('other');
  const other = shop.record(shop.status('other').id);
  let answers = 0;
  shop.spoil = (request, given): PortAnswer => {
    if (request.method !== 'POST' || request.path !== '/services/instances' || answers > 0) return given;
    answers += 1;
    return changed(given, () => other);
  };
  await shop.world.apply(instance());
  await shop.online();
  expect(answers).toBe(1);
  expect(shop.status().id).not.toBe(other.id);
  expect(shop.records()).toHaveLength(2);
  expect(shop.record(other.id).tags).toEqual(other.tags);
  expect(shop.ready('other')).toBe('True Settled');
});
