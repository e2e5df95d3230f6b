import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { instance, MINUTE, Shop } from './shop.ts';

const CREATIONS = 150;

// R3
describe('while hundreds of new instances wait for the request budget', () => {
  let shop: Shop;
  let since: number;
  beforeEach(async () => {
    shop = await Shop.open();
    const { world } = shop;
    await world.edit('Connection', 'main', { pace: { requestsPerSecond: 2, burst: 2, inFlight: 2 } });
    await world.until(() => shop.ready('main', 'Connection') === 'True Settled', MINUTE);
    await world.apply(instance());
    await shop.online();
    await world.apply(Array.from({ length: CREATIONS }, (_, i) => instance('', `new-${i}`)).join('---'));
    await world.until(() => shop.records().length > 3, MINUTE);
    since = shop.mark();
  });
  afterEach(() => shop.close());

  /** How long until the service gets a call, seconds. */
  const secondsUntil = async (method: string, id: string | undefined): Promise<number> => {
    const { world } = shop;
    const begun = world.clock.now();
    await world.until(
      () =>
        shop.world.sandbox.admin
          .calls({ since })
          .some((call) => call.method === method && call.path.includes(id ?? '-')),
      5 * MINUTE,
    );
    expect(shop.records().length).toBeLessThan(CREATIONS / 2);
    return (world.clock.now() - begun) / 1_000;
  };

  it('an edit reaches the service within seconds', async () => {
    await shop.world.edit('Instance', 'web-eu', { tags: ['edited'] });
    expect(await secondsUntil('PUT', shop.status().id)).toBeLessThan(5);
  });

  it('a deletion does not wait for those that nobody has begun', async () => {
    const { id } = shop.status();
    await shop.world.delete('Instance', 'web-eu');
    expect(await secondsUntil('DELETE', id)).toBeLessThan(20);
  });

  it('one that is begun ends', async () => {
    const { world } = shop;
    await world.until(() => shop.ready('new-0') === 'True Settled', MINUTE);
    expect(shop.records().length).toBeLessThan(CREATIONS / 2);
  });
});
