import { afterEach, beforeEach, expect, it } from 'vitest';
import { answer, HOUR, instance, MINUTE, Shop } from './shop.ts';

const PORT = '  variables: [{name: PORT, type: Port, value: "80"}]\n';

let shop: Shop;
beforeEach(async () => void (shop = await Shop.open()));
afterEach(() => shop.close());

const restart = (): void => {
  shop.world.kill();
  shop.world.start({ isElected: true });
};
const restarting = (): string | undefined => shop.world.condition('Connection', 'main', 'Restarting')?.status;

it('an operator that starts over and over says so on its connections, until it stays', async () => {
  for (let starts = 0; starts < 3; starts++) {
    restart();
    await shop.world.advance(MINUTE);
    expect(restarting()).toBeUndefined();
  }
  restart();
  await shop.world.until(() => restarting() === 'True');
  expect(shop.world.condition('Connection', 'main', 'Restarting')?.message).toContain('process ends');
  expect(shop.ready('main', 'Connection')).toBe('True Settled');
  await shop.world.until(() => restarting() === undefined, HOUR);
});

it('a crash loop sends a refused write no more often than an operator that stays', async () => {
  await shop.world.apply(instance(PORT));
  await shop.online();
  let puts = 0;
  shop.judge = ({ method, path }) => {
    if (method !== 'PUT' || !/^\/services\/instances\/[^/]+$/.test(path)) return undefined;
    puts += 1;
    return answer(422, { message: 'no' });
  };
  await shop.world.edit('Instance', 'web-eu', { variables: [{ name: 'PORT', type: 'Port', value: '81' }] });
  await shop.world.until(() => shop.ready() === 'False Refused');
  for (let starts = 0; starts < 60; starts++) {
    restart();
    await shop.world.advance(80_000);
  }
  expect(puts).toBeLessThanOrEqual(6);
  await shop.world.advance(3 * HOUR);
  const before = puts;
  await shop.world.advance(7 * HOUR);
  expect(puts).toBeGreaterThan(before);
});
