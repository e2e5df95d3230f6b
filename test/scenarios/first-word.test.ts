import { afterEach, describe, expect, it } from 'vitest';
import type { KubePort } from '../../src/kube/index.ts';
import { instance, MINUTE, Shop } from './shop.ts';

describe('a service that is slow to answer', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  it('is told of in status within seconds, and that holds up nothing: no write of the pass is refused', async () => {
    const refused: string[] = [];
    const counting = (port: KubePort): KubePort => ({
      watch: (request) => port.watch(request),
      request: async (request) => {
        const answer = await port.request(request);
        if (answer.status === 409) refused.push(`${request.method} ${request.path}`);
        return answer;
      },
    });
    shop = await Shop.open({ kubePort: counting });
    const { world } = shop;
    shop.judge = async (request) => {
      if (request.method === 'GET' && /\/instances(\?|$)/.test(request.path)) {
        await world.clock.sleep(8_000);
      }
      return undefined;
    };
    await world.apply(instance());
    await world.until(() => shop.message() === 'Waits for the answer of the service', MINUTE);
    await shop.online();
    expect(refused).toEqual([]);
    expect(shop.records()).toHaveLength(1);
  });
});
