import { afterEach, beforeEach, expect, it } from 'vitest';
import { answer, HOUR, instance, leaseOf, MINUTE, Shop } from './shop.ts';

const NIGHTS = leaseOf('nights', 'operation: Shutdown, after: 8h');

let shop: Shop;
beforeEach(async () => void (shop = await Shop.open()));
afterEach(() => shop.close());

const lease = (): unknown => shop.world.get('InstanceLease', 'nights');
const message = (): string => shop.message('nights', 'InstanceLease');
const leased = async (): Promise<void> => {
  await shop.world.apply(NIGHTS);
  await shop.world.apply(instance('  leaseRef: {name: nights}'));
  await shop.online();
  await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'True Settled');
};

// R13
it('a lease that leaseRef names is held while its instance lives, says by whom, and ends the instance in time', async () => {
  await leased();
  await shop.world.delete('InstanceLease', 'nights');
  await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'False InUse');
  expect(message()).toContain('Instance/web-eu');
  expect(message()).toContain('spec.leaseRef');
  await shop.world.advance(HOUR);
  expect(shop.ready()).toBe('True Settled');
  expect(shop.record().lease).toMatchObject({ operation: 'shutdown' });
  await shop.world.until(() => shop.pair().startsWith('done+shutdown'), 8 * HOUR);
});

it('a held lease goes, and is taken off, once its instance names it no longer', async () => {
  await leased();
  await shop.world.delete('InstanceLease', 'nights');
  await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'False InUse');
  await shop.world.edit('Instance', 'web-eu', { leaseRef: null });
  await shop.world.until(() => lease() === undefined, 5 * MINUTE);
  await shop.world.advance(HOUR);
  expect([undefined, 'alwayson']).toContain(shop.record().lease?.operation);
  expect(shop.ready()).toBe('True Settled');
});

it('a lease and its instance that are deleted together both go', async () => {
  await leased();
  await shop.world.delete('InstanceLease', 'nights');
  await shop.world.delete('Instance', 'web-eu');
  await shop.gone();
  await shop.world.advance(MINUTE);
  expect(lease()).toBeUndefined();
});

it('a lease that nothing was deployed with goes at once, though an instance waits for one of its name', async () => {
  await shop.world.apply(NIGHTS.replace('web-eu', 'another'));
  await shop.world.apply(instance('  leaseRef: {name: nights}'));
  await shop.world.until(() => shop.ready() === 'False WaitingForReference');
  await shop.world.delete('InstanceLease', 'nights');
  await shop.world.advance(MINUTE);
  expect(lease()).toBeUndefined();
  await shop.world.apply(NIGHTS);
  await shop.online();
});

it('a lease that no leaseRef names is not held', async () => {
  await shop.world.apply(NIGHTS);
  await shop.world.apply(instance());
  await shop.online();
  await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'True Settled');
  await shop.world.delete('InstanceLease', 'nights');
  expect(lease()).toBeUndefined();
});

// One that another version has let in: its deletion, and with it that of its namespace, came to an error for ever.
it('a lease that does not fit its schema says so, and goes with the instance that names it', async () => {
  await shop.world.apply(NIGHTS);
  shop.judge = ({ method, path }) =>
    method === 'POST' && path.startsWith('/services/instances') ? answer(503, {}) : undefined;
  await shop.world.apply(instance('  leaseRef: {name: nights}'));
  await shop.world.until(() => shop.world.get('Instance', 'web-eu')?.metadata.finalizers !== undefined);
  const stored = shop.world.get('InstanceLease', 'nights');
  if (stored === undefined) throw new Error('no lease');
  const { instanceRef: _lost, ...spec } = stored.spec as { instanceRef: unknown };
  shop.seed('InstanceLease', { ...stored, spec });
  await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'False NeedsUser', 5 * MINUTE);
  await shop.world.delete('InstanceLease', 'nights');
  await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'False InUse', 5 * MINUTE);
  await shop.world.delete('Instance', 'web-eu');
  await shop.gone();
  await shop.world.advance(MINUTE);
  expect(lease()).toBeUndefined();
});
