import { afterEach, describe, expect, it } from 'vitest';
import { HOUR, instance, MINUTE, Shop } from './shop.ts';

const secret = (password: string): string => `
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {password: ${password}}
`;
const SECRET =
  '  variables: [{name: DB_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: db, key: password}}}]\n';
const STOPPED = '  powerState: Stopped\n';

/** The cluster's side is brought back older than the service. */
describe('a restored cluster', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  const password = (): string | undefined =>
    shop.record().variables.find(({ name }) => name === 'DB_PASSWORD')?.value;

  async function putWhileDown(): Promise<void> {
    shop = await Shop.open({ sandbox: { readings: { passwords: 'masked' } } });
    await shop.world.apply(secret('first'));
    await shop.world.apply(instance(`${SECRET}${STOPPED}`));
    await shop.world.until(() => shop.ready() === 'True ShutDown');
    await shop.world.apply(secret('second'));
    await shop.world.until(() => password() === 'second' && shop.ready() === 'True ShutDown', HOUR);
    await shop.world.advance(MINUTE);
  }

  it.each(['the operator', 'hand'])(
    'puts a secret back that was put on a stopped instance meanwhile, and a power-on by %s applies it',
    async (who) => {
      await putWhileDown();
      const restore = shop.backup();
      await shop.world.apply(secret('third'));
      await shop.world.until(() => password() === 'third' && shop.ready() === 'True ShutDown', HOUR);
      await shop.world.advance(MINUTE);
      shop.world.kill();
      restore();
      shop.world.start();
      await shop.world.until(() => password() === 'second', HOUR);
      await shop.world.until(() => shop.ready() === 'True ShutDown');
      const before = shop.mark();
      if (who === 'hand') {
        await shop.world.edit('Instance', 'web-eu', { powerState: null });
        await shop.byHand('PUT', `/services/instances/${shop.record().id}/poweron`);
      } else await shop.world.edit('Instance', 'web-eu', { powerState: 'Running' });
      await shop.online();
      await shop.world.advance(HOUR);
      expect(shop.writes(before)).toEqual(['PUT poweron']);
      expect(password()).toBe('second');
    },
  );

  it('brings the restored secret to an instance that was powered on meanwhile', async () => {
    await putWhileDown();
    await shop.world.edit('Instance', 'web-eu', { powerState: null });
    await shop.world.until(() => shop.ready() === 'True ShutDown');
    const restore = shop.backup();
    await shop.world.apply(secret('third'));
    await shop.world.until(() => password() === 'third' && shop.ready() === 'True ShutDown', HOUR);
    await shop.world.edit('Instance', 'web-eu', { powerState: 'Running' });
    await shop.online();
    shop.world.kill();
    restore();
    const before = shop.mark();
    shop.world.start();
    await shop.world.until(() => password() === 'second', HOUR);
    await shop.online();
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual(['PUT', 'PUT reconfigure']);
  });

  it('that is not older sends nothing, a second time neither', async () => {
    await putWhileDown();
    const restore = shop.backup();
    const before = shop.mark();
    for (let times = 0; times < 2; times++) {
      shop.world.kill();
      restore();
      shop.world.start();
      await shop.world.advance(HOUR);
    }
    expect(shop.writes(before)).toEqual([]);
    expect(shop.ready()).toBe('True ShutDown');
  });

  it('with an operation that has ended since takes its end over, and runs it no second time', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(
      () => shop.status().currentOperation !== undefined && shop.pair() === 'processing+reinstall',
    );
    const restore = shop.backup();
    await shop.online();
    await shop.world.advance(HOUR);
    shop.world.kill();
    restore();
    const before = shop.mark();
    shop.world.start();
    await shop.world.until(() => shop.status().handledRequests?.['reinstall'] === '1', HOUR);
    await shop.online();
    expect(shop.writes(before)).toEqual([]);
  });

  it('with an instance that was made after the backup leaves its record alone, and takes it up when it is declared again', async () => {
    shop = await Shop.open();
    const restore = shop.backup();
    await shop.world.apply(instance());
    await shop.online();
    const { id } = shop.record();
    shop.world.kill();
    restore();
    const before = shop.mark();
    shop.world.start();
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual([]);
    await shop.world.apply(instance());
    await shop.online();
    expect(shop.status().id).toBe(id);
    expect(shop.records()).toHaveLength(1);
    expect(shop.writes(before)).toEqual([]);
  });

  it('with an instance that was deleted after the backup says that its record is missing', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance());
    await shop.online();
    const restore = shop.backup();
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    shop.world.kill();
    restore();
    shop.world.start();
    await shop.world.until(() => shop.ready() === 'False RecordMissing', HOUR);
    expect(shop.records()).toHaveLength(0);
  });
});
