import { afterEach, describe, expect, it } from 'vitest';
import { KubeTransportError, type KubePort } from '../../src/kube/port.ts';
import { HOUR, instance, leaseOf, MINUTE, Shop, type StoredInstance } from './shop.ts';

const secret = (value: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: ${value}}`;
const PASSWORD =
  '  variables: [{name: ADMIN, type: Password, valueFrom: {secretKeyRef: {name: db, key: password}}}]\n';

const valueIn = (record: { variables: StoredInstance['variables'] } | undefined, name: string): unknown =>
  record?.variables.find((variable) => variable.name === name)?.value;
const portOf = (value: string): object => ({ variables: [{ name: 'PORT', type: 'Port', value }] });
const lease = (expireAt: string): string =>
  leaseOf('evening', `operation: Shutdown, expireAt: '${expireAt}'`);

describe('what is taken back before status could say that it was done', () => {
  let shop: Shop;
  /** No write of status gets through. */
  let isSilent = false;

  const kubePort = (port: KubePort): KubePort => ({
    watch: (request) => port.watch(request),
    request: (request) => {
      if (!isSilent || !request.path.endsWith('/status')) return port.request(request);
      return Promise.reject(new KubeTransportError('no answer', { maybeSent: false }));
    },
  });
  /** A service that shows no password. */
  const open = async (): Promise<void> => {
    isSilent = false;
    shop = await Shop.open({ kubePort, sandbox: { readings: { passwords: 'masked' } } });
  };
  afterEach(() => shop.close());

  const boxes = (): { id: string; variables: StoredInstance['variables']; description?: string }[] =>
    shop.world.sandbox.admin.records('boxes') as never;
  const web = (): ReturnType<typeof boxes>[number] | undefined =>
    boxes().find(({ id }) => id === shop.world.get('Box', 'web')?.status?.['id']);
  const puts = (since: number): string[] => shop.writes(since).filter((call) => call.startsWith('PUT'));
  /** Sees the next PUT of a path come and lets no status through from then on. */
  const silenceAtPut = (of: string): (() => boolean) => {
    let isSeen = false;
    shop.after = () => {
      isSeen ||= puts(since).some((call) => (of === 'boxes') === call.startsWith('PUT boxes'));
      if (isSeen) isSilent = true;
      return Promise.resolve();
    };
    const since = shop.mark();
    return () => isSeen;
  };
  const speakAgain = (): void => {
    shop.after = () => Promise.resolve();
    isSilent = false;
  };

  describe.each([
    ['by the process that did it', false],
    ['by one that starts', true],
  ])('is noticed %s:', (_who, restarts) => {
    const over = async (): Promise<void> => {
      if (restarts) shop.restart();
      await shop.world.advance(MINUTE);
      speakAgain();
      await shop.world.advance(2 * HOUR);
    };

    it('a secret of a box', async () => {
      await open();
      await shop.world.apply(secret('first'));
      await shop.world.edit('Box', 'web', {
        variables: [
          { name: 'ADMIN', type: 'Password', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
        ],
      });
      await shop.world.until(() => valueIn(web(), 'ADMIN') === 'first');
      await shop.world.advance(MINUTE);
      const seen = silenceAtPut('boxes');
      await shop.world.apply(secret('second'));
      await shop.world.until(seen, 2 * HOUR);
      expect(valueIn(web(), 'ADMIN')).toBe('second');
      await shop.world.apply(secret('first'));
      await over();
      expect(valueIn(web(), 'ADMIN')).toBe('first');
      expect(shop.ready('web', 'Box')).toBe('True Settled');
    });

    it('a secret of an instance', async () => {
      await open();
      await shop.world.apply(secret('first'));
      await shop.world.apply(instance(PASSWORD));
      await shop.online();
      const seen = silenceAtPut('instances');
      await shop.world.apply(secret('second'));
      await shop.world.until(seen, 2 * HOUR);
      expect(valueIn(shop.record(), 'ADMIN')).toBe('second');
      await shop.world.apply(secret('first'));
      await over();
      expect(valueIn(shop.record(), 'ADMIN')).toBe('first');
      expect(shop.ready()).toBe('True Settled');
    });

    it('a description of a box whose drift is left alone', async () => {
      await open();
      await shop.world.edit('Box', 'web', { driftPolicy: 'Ignore', description: 'first' });
      await shop.world.until(() => web()?.description === 'first');
      await shop.world.advance(MINUTE);
      const seen = silenceAtPut('boxes');
      await shop.world.edit('Box', 'web', { description: 'second' });
      await shop.world.until(seen, HOUR);
      await shop.world.edit('Box', 'web', { description: 'first' });
      await over();
      expect(web()?.description).toBe('first');
    });

    it('a value of an instance whose drift is left alone', async () => {
      await open();
      await shop.world.apply(
        instance('  driftPolicy: Report\n  variables: [{name: PORT, type: Port, value: "80"}]\n'),
      );
      await shop.online();
      const seen = silenceAtPut('instances');
      await shop.world.edit('Instance', 'web-eu', portOf('81'));
      await shop.world.until(seen, HOUR);
      await shop.world.edit('Instance', 'web-eu', portOf('80'));
      await over();
      expect(valueIn(shop.record(), 'PORT')).toBe('80');
      expect(shop.status().drift).toBeUndefined();
    });
  });

  it('a power state is carried out once more, though drift is left alone', async () => {
    await open();
    await shop.world.apply(instance('  driftPolicy: Report\n  powerState: Running\n'));
    await shop.online();
    await shop.world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await shop.world.until(() => shop.pair() === 'processing+shutdown');
    await shop.world.edit('Instance', 'web-eu', { powerState: 'Running' });
    await shop.world.advance(2 * HOUR);
    expect(shop.status()).toMatchObject({ phase: 'Online' });
    expect(shop.status().drift).toBeUndefined();
  });

  it('a lease is put back, though drift is left alone', async () => {
    const far = (days: number): string =>
      new Date(shop.world.clock.now() + days * 24 * HOUR).toISOString().slice(0, 19) + 'Z';
    await open();
    const [first, second] = [far(20), far(30)];
    await shop.world.apply(instance('  driftPolicy: Report\n'));
    await shop.world.apply(lease(first));
    await shop.online();
    await shop.world.until(() => shop.record().lease?.expire !== undefined, HOUR);
    await shop.world.advance(MINUTE);
    const shown = shop.record().lease?.expire;
    const seen = silenceAtPut('instances');
    await shop.world.apply(lease(second));
    await shop.world.until(seen, HOUR);
    expect(shop.record().lease?.expire).not.toBe(shown);
    await shop.world.apply(lease(first));
    await shop.world.advance(MINUTE);
    speakAgain();
    await shop.world.advance(2 * HOUR);
    expect(shop.record().lease?.expire).toBe(shown);
  });
});
