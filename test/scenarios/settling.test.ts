import { describe, expect, it } from 'vitest';
import { answer, instance, MINUTE, Shop } from './shop.ts';

/** How long from apply to Ready where the first `lost` reads of the record say that it is not there, seconds. */
async function secondsToReady(lost: number): Promise<number> {
  const shop = await Shop.open();
  const { world } = shop;
  let left = lost;
  shop.judge = ({ method, path }) =>
    method === 'GET' && /\/instances\/i-[^/?]*$/.test(path) && left-- > 0
      ? answer(404, { message: 'not found' })
      : undefined;
  const begun = world.clock.now();
  await world.apply(instance());
  await world.until(() => shop.ready() === 'True Settled', 10 * MINUTE);
  const ms = world.clock.now() - begun;
  await shop.close();
  return ms / 1_000;
}

// H13
describe('a creation', () => {
  it.each([
    [1, 2],
    [2, 4],
    [3, 8],
    [8, 90],
  ])('whose record is not shown to %i reads is Ready no more than %i s later', async (lost, seconds) => {
    const undisturbed = await secondsToReady(0);
    expect((await secondsToReady(lost)) - undisturbed).toBeLessThanOrEqual(seconds);
  });
});
