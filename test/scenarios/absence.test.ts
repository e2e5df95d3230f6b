import { afterEach, describe, expect, it } from 'vitest';
import type { PortAnswer } from '../../src/service/index.ts';
import { answer, changed, HOUR, instance, MINUTE, Shop } from './shop.ts';

/** Answers 404 to reads of a record, and leaves it out of lists; writes see it. */
function blind(shop: Shop, id: string): void {
  shop.judge = (request) =>
    request.method === 'GET' && new RegExp(`^/services/(instances|boxes)/${id}$`).test(request.path)
      ? answer(404, { message: 'not found' })
      : undefined;
  shop.spoil = (request, given) =>
    /workspaces\/[^/]+\/(instances|boxes)/.test(request.path)
      ? changed(given, (list: { id: string }[]) => list.filter((entry) => entry.id !== id))
      : given;
}

function see(shop: Shop): void {
  shop.judge = () => undefined;
  shop.spoil = (_request, given) => given;
}

/** What a DELETE of a record was, in the order of the calls. */
function deletes(shop: Shop, since: number): string[] {
  return shop.writes(since).filter((call) => call.startsWith('DELETE'));
}

describe('a record that reads do not show', () => {
  let shop: Shop;
  const open = async (): Promise<void> => {
    shop = await Shop.open();
  };
  afterEach(() => shop.close());

  it('for 40 s is not made a second time (H2)', async () => {
    await open();
    await shop.world.apply(instance('  onMissing: Recreate'));
    await shop.online();
    await shop.world.advance(5 * MINUTE);
    const { id } = shop.record();
    blind(shop, id);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': '1' });
    await shop.world.advance(40_000);
    expect(shop.ready()).toBe('Unknown Unknown');
    expect(shop.status().phase).toBe('Unknown');
    see(shop);
    await shop.online();
    expect(shop.records().map((record) => record.id)).toEqual([id]);
  });

  it('once while all is well is no word in status', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.advance(5 * MINUTE);
    let times = 0;
    shop.judge = (request) => {
      const single = request.method === 'GET' && request.path === `/services/instances/${shop.record().id}`;
      if (!single || times > 0) return undefined;
      times += 1;
      return answer(404, { message: 'not found' });
    };
    const before = JSON.stringify(shop.status());
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': '1' });
    await shop.world.until(() => times === 1);
    await shop.world.advance(500);
    expect(JSON.stringify(shop.status())).toBe(before);
    await shop.world.advance(10_000);
    expect(shop.ready()).toBe('True Settled');
  });

  it('while it terminates keeps its resource, and no DELETE is repeated (H1)', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.advance(5 * MINUTE);
    const { id } = shop.record();
    const before = shop.mark();
    await shop.world.delete('Instance', 'web-eu');
    await shop.world.until(() => deletes(shop, before).length === 1);
    blind(shop, id);
    await shop.world.advance(4_000);
    expect(shop.isGone()).toBe(false);
    see(shop);
    await shop.gone();
    expect(shop.records()).toEqual([]);
    expect(deletes(shop, before)).toEqual(['DELETE ?operation=terminate', 'DELETE ?operation=delete']);
  });

  it('is asked for by a DELETE once no write can be on its way, and stays where that finds it', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.advance(5 * MINUTE);
    blind(shop, shop.record().id);
    const before = shop.mark();
    await shop.world.delete('Instance', 'web-eu');
    await shop.world.advance(50_000);
    expect(deletes(shop, before)).toEqual(['DELETE ?operation=terminate']);
    expect(shop.isGone()).toBe(false);
    see(shop);
    await shop.gone();
    expect(shop.records()).toEqual([]);
  });

  it('since somebody deleted it lets its resource go within 5 s (H11)', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.advance(5 * MINUTE);
    shop.world.sandbox.admin.removeRecord('instances', shop.record().id);
    await shop.world.delete('Instance', 'web-eu');
    await shop.world.advance(5_000);
    expect(shop.isGone()).toBe(true);
  });

  it('since our own delete was accepted needs no second one, however long reads trail (H3)', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    await shop.world.advance(5 * MINUTE);
    const id = shop.world.get('Box', 'web')?.status?.id ?? '';
    const before = shop.mark();
    let until = Infinity;
    const shown = new Map<string, PortAnswer>();
    shop.judge = ({ method, path }) => {
      if (method === 'DELETE' && path.endsWith(`/boxes/${id}`)) until = shop.world.clock.monotonic() + 20_000;
      const trails = Number.isFinite(until) && shop.world.clock.monotonic() < until;
      return method === 'GET' && trails ? shown.get(path) : undefined;
    };
    shop.spoil = ({ method, path }, given) => {
      if (method === 'GET' && given.status === 200) shown.set(path, given);
      return given;
    };
    await shop.world.annotate('Box', 'web', { 'boxwright.dev/requested-at': '1' });
    await shop.world.until(() => shown.has(`/services/boxes/${id}`));
    await shop.world.delete('Box', 'web');
    await shop.world.advance(25_000);
    expect(deletes(shop, before)).toHaveLength(1);
    expect(shop.world.get('Box', 'web')).toBeUndefined();
  });
});

describe('adoption', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  it('of a record of another box names both, and writes nothing (R12)', async () => {
    shop = await Shop.open();
    const id = await shop.leftBehind();
    await shop.world.apply(`
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: other}
spec: {connectionRef: {name: main}}
`);
    await shop.world.until(() => shop.world.ready('Box', 'other') === 'True');
    const before = shop.mark();
    const adopt = `{boxwright.dev/adopt: ${id}}`;
    await shop.world.apply(
      instance('', 'wrong', adopt).replace('boxRef: {name: web}', 'boxRef: {name: other}'),
    );
    await shop.world.until(() => shop.ready('wrong') === 'False Conflict', HOUR);
    for (const box of ['web', 'other']) {
      expect(shop.message('wrong')).toContain(shop.world.get('Box', box)?.status?.id);
    }
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual([]);
    expect(shop.status('wrong').id).toBeUndefined();
  });

  it.each(['', '../../boxes', 'x'.repeat(3_000)])(
    'of what is no id names the annotation (B11): %j',
    async (id) => {
      shop = await Shop.open();
      const before = shop.mark();
      await shop.world.apply(instance('', 'web-eu', `{boxwright.dev/adopt: "${id}"}`));
      await shop.world.until(() => shop.ready() === 'False NeedsUser', HOUR);
      expect(shop.message()).toContain('boxwright.dev/adopt');
      expect(shop.message()).not.toContain('BadId');
      await shop.world.advance(HOUR);
      expect(shop.writes(before)).toEqual([]);
    },
  );
});
