import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DOMAIN_METRICS } from '../../src/controllers/metrics/index.ts';
import { metricOf, seriesOf } from '../support/metric.ts';
import { CONNECTION, World } from '../support/world.ts';
import { answer, BOXES, HOUR, instance, leaseOf, MINUTE, Shop } from './shop.ts';

let shop: Shop;
const value = (name: string, labels: Record<string, string> = {}): Promise<number | undefined> =>
  metricOf(shop.world.metrics, name, labels);
/** Now, in seconds of Unix time. */
const now = (): number => shop.world.clock.now() / 1_000;

const boxRecord = (id: string): Record<string, unknown> =>
  (shop.world.sandbox.admin.records('boxes') as readonly Record<string, unknown>[]).find(
    (record) => record['id'] === id,
  ) ?? {};
/** A timestamp of the service, newer than what is there. */
const later = (): string =>
  new Date(shop.world.clock.now() + 1_000).toISOString().replace('T', ' ').replace('Z', '000');
const breaker = (state: string): Promise<number | undefined> =>
  value('boxwright_service_breaker_state', { connection: 'shop/main', state });

beforeEach(async () => {
  shop = await Shop.open();
});
afterEach(() => shop.close());

describe('the metrics of resources', () => {
  it('count them by kind and standing, and how long they were not Ready', async () => {
    const { world } = shop;
    expect(
      await value('boxwright_resources', { kind: 'Box', ready: 'True', state: 'Ready', reason: 'Settled' }),
    ).toBe(1);
    expect(await value('boxwright_resource_not_ready_oldest_timestamp_seconds')).toBeUndefined();
    await world.apply(instance().replace('{name: web}', '{name: later}'));
    await world.until(() => shop.ready() === 'False WaitingForReference');
    const waiting = { kind: 'Instance', state: 'Reconciling', reason: 'WaitingForReference' };
    expect(await value('boxwright_resources', waiting)).toBe(1);
    const since = await value('boxwright_resource_not_ready_oldest_timestamp_seconds', { kind: 'Instance' });
    expect(now() - (since ?? 0)).toBeLessThan(60);
    await world.advance(HOUR);
    expect(await value('boxwright_resource_not_ready_oldest_timestamp_seconds', { kind: 'Instance' })).toBe(
      since,
    );
    await world.apply(BOXES.split('---')[0]?.replace('{name: web}', '{name: later}') ?? '');
    await shop.online();
    expect(await value('boxwright_resources', waiting)).toBeUndefined();
    expect(await value('boxwright_resource_not_ready_oldest_timestamp_seconds')).toBeUndefined();
    const took = await value('boxwright_resource_not_ready_duration_seconds_sum', { kind: 'Instance' });
    expect(took).toBeGreaterThanOrEqual(3_600);
  });

  it('count what is stalled by its reason', async () => {
    const { world } = shop;
    shop.judge = ({ method, path }) =>
      method === 'PUT' && path.startsWith('/services/boxes/')
        ? answer(400, { message: 'bad name' })
        : undefined;
    await world.edit('Box', 'web', { description: 'other' });
    await world.until(() => shop.ready('web', 'Box') === 'False Refused');
    expect(await value('boxwright_resources', { kind: 'Box', state: 'Stalled', reason: 'Refused' })).toBe(1);
  });

  it('count deletions under way, since when, and how long they took', async () => {
    const { world } = shop;
    await world.apply(instance());
    await shop.online();
    expect(await value('boxwright_resources_deleting', { kind: 'Instance' })).toBe(0);
    await world.delete('Instance', 'web-eu');
    const asked = now();
    await world.until(() => shop.ready() === 'False Deleting');
    expect(await value('boxwright_resources_deleting', { kind: 'Instance' })).toBe(1);
    const oldest = await value('boxwright_resource_deletion_oldest_timestamp_seconds', { kind: 'Instance' });
    expect(Math.abs((oldest ?? 0) - asked)).toBeLessThanOrEqual(1);
    await shop.gone();
    expect(await value('boxwright_resource_deletion_oldest_timestamp_seconds')).toBeUndefined();
    expect(await value('boxwright_resource_deletion_duration_seconds_count', { kind: 'Instance' })).toBe(1);
  });

  // S9
  it('go with their Connection', async () => {
    const { world } = shop;
    const text = await world.metrics.render();
    for (let i = 0; i < 20; i++) {
      await world.apply(CONNECTION.split('---')[1]?.replace('{name: main}', `{name: passing-${i}}`) ?? '');
    }
    await world.until(() => world.ready('Connection', 'passing-19') === 'True');
    expect(await world.metrics.render()).toContain('connection="shop/passing-19"');
    for (let i = 0; i < 20; i++) await world.delete('Connection', `passing-${i}`);
    await world.until(() => world.get('Connection', 'passing-19') === undefined);
    await world.advance(MINUTE);
    const after = await world.metrics.render();
    expect(after).not.toContain('shop/passing-');
    expect(after.split('\n').length).toBeLessThan(text.split('\n').length + 40);
  });

  it('do not move while nothing changes, but for the looks', async () => {
    const { world } = shop;
    await world.advance(MINUTE);
    const [writes, steps] = [
      await value('boxwright_status_writes_total'),
      await value('boxwright_steps_total'),
    ];
    expect(writes).toBeGreaterThan(0);
    await world.advance(2 * HOUR);
    expect(await value('boxwright_status_writes_total')).toBe(writes);
    expect(await value('boxwright_steps_total')).toBeGreaterThan(steps ?? 0);
    expect(await value('boxwright_steps_total', { kind: 'Box', step: 'create' })).toBe(1);
  });

  it('never name a resource other than a connection', async () => {
    await shop.world.apply(instance());
    await shop.online();
    for (const { name } of Object.values(DOMAIN_METRICS)) {
      for (const { labels } of await seriesOf(shop.world.metrics, name)) {
        const { connection, ...others } = labels;
        expect(connection ?? 'shop/main').toBe('shop/main');
        expect(Object.values(others).join(' ')).not.toMatch(/web|small|shop|main/);
      }
    }
  });
});

describe('the metrics of operations', () => {
  it('count each that ended, once, with how long it took', async () => {
    const { world } = shop;
    await world.apply(
      instance('  powerState: Running\n  variables: [{name: PORT, type: Port, value: "80"}]'),
    );
    await world.until(() => shop.ready() === 'False Deploying');
    expect(await value('boxwright_operations_running', { operation: 'deploy' })).toBe(1);
    await shop.online();
    expect(await value('boxwright_operations_running')).toBe(0);
    await world.edit('Instance', 'web-eu', { variables: [{ name: 'PORT', type: 'Port', value: '81' }] });
    await world.until(() => shop.status().lastOperation?.event === 'reconfigure');
    await shop.online();
    await world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await world.until(() => shop.ready() === 'True ShutDown');
    await world.edit('Instance', 'web-eu', { powerState: 'Running' });
    await shop.online();
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await world.until(() => shop.status().lastOperation?.event === 'reinstall');
    await world.advance(HOUR);
    for (const operation of ['deploy', 'reconfigure', 'shutdown', 'poweron', 'reinstall']) {
      const labels = { operation, outcome: 'Succeeded' };
      expect(await value('boxwright_operations_total', labels)).toBe(1);
      expect(await value('boxwright_operation_duration_seconds_count', labels)).toBe(1);
      const took = await value('boxwright_operation_duration_seconds_sum', labels);
      expect(took).toBeGreaterThanOrEqual(2);
      expect(took).toBeLessThan(120);
    }
    expect(await value('boxwright_operations_total')).toBe(5);
  });

  it('tell failed and refused ones apart', async () => {
    const { world } = shop;
    await world.apply(instance());
    await shop.online();
    world.sandbox.admin.addOperationFault({ operation: 'reinstall', effect: 'fail', times: 1 } as never);
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await world.until(() => shop.ready() === 'False OperationFailed');
    expect(await value('boxwright_operations_total', { operation: 'reinstall', outcome: 'Failed' })).toBe(1);
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-redeploy': '1' });
    await world.until(() => shop.status().handledRequests?.['redeploy'] === '1');
    expect(await value('boxwright_operations_total', { operation: 'deploy', outcome: 'Refused' })).toBe(1);
    shop.judge = ({ path }) =>
      path.endsWith('/reinstall') ? answer(400, { message: 'not today' }) : undefined;
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '2' });
    await world.until(() => shop.ready() === 'False Refused');
    expect(await value('boxwright_operations_total', { operation: 'reinstall', outcome: 'Refused' })).toBe(1);
  });
});

describe('the metrics of drift', () => {
  it('count what was put right, and not what a user has changed', async () => {
    const { world } = shop;
    await world.apply(instance('  powerState: Running\n  tags: [eu]'));
    await shop.online();
    await world.edit('Instance', 'web-eu', { tags: ['eu', 'shop'] });
    await world.until(() => shop.record().tags.includes('shop'));
    await shop.online();
    await world.edit('Box', 'web', { description: 'of the user' });
    await world.advance(HOUR);
    expect(await value('boxwright_drift_total')).toBeUndefined();
    const box = world.get('Box', 'web')?.status?.id ?? '';
    world.sandbox.admin.editRecord('boxes', box, { description: 'of somebody else', updated: later() });
    await world.until(() => boxRecord(box)['description'] === 'of the user', HOUR);
    const { id, tags } = shop.record();
    world.sandbox.admin.editRecord('instances', id, {
      tags: tags.filter((tag) => tag !== 'shop'),
      updated: later(),
    });
    await world.until(() => shop.record().tags.includes('shop'), HOUR);
    expect(await value('boxwright_drift_total', { kind: 'Box', action: 'Corrected' })).toBe(1);
    expect(await value('boxwright_drift_total', { kind: 'Instance', action: 'Corrected' })).toBe(1);
    await shop.byHand('PUT', `/services/instances/${id}/shutdown`);
    await world.until(() => shop.pair() === 'done+poweron', HOUR);
    await shop.online();
    expect(await value('boxwright_drift_total', { kind: 'Instance', action: 'Corrected' })).toBe(2);
  });

  it('count what is only reported, and show it for as long as it lasts', async () => {
    const { world } = shop;
    await world.edit('Box', 'web', { driftPolicy: 'Report' });
    await world.advance(MINUTE);
    const box = world.get('Box', 'web')?.status?.id ?? '';
    expect(await value('boxwright_resources_drifted', { kind: 'Box' })).toBe(0);
    world.sandbox.admin.editRecord('boxes', box, { description: 'of somebody else', updated: later() });
    await world.until(() => world.condition('Box', 'web', 'Drifted') !== undefined, HOUR);
    await world.advance(HOUR);
    expect(await value('boxwright_resources_drifted', { kind: 'Box' })).toBe(1);
    expect(await value('boxwright_drift_total', { kind: 'Box', action: 'Reported' })).toBe(1);
    expect(await value('boxwright_drift_total', { action: 'Corrected' })).toBeUndefined();
  });
});

describe('the metrics of leases', () => {
  it('tell how many there are, the next end, the warning, and who carried it out', async () => {
    const { world } = shop;
    await world.apply(instance());
    await shop.online();
    expect(await value('boxwright_leases', { operation: 'Shutdown' })).toBe(0);
    await world.apply(leaseOf('evening', 'operation: Shutdown, after: 3h'));
    await world.until(() => world.ready('InstanceLease', 'evening') === 'True');
    expect(await value('boxwright_leases', { operation: 'Shutdown' })).toBe(1);
    expect(await value('boxwright_leases_expiring')).toBe(0);
    const end = await value('boxwright_lease_next_expiry_timestamp_seconds', { operation: 'Shutdown' });
    expect((end ?? 0) - now()).toBeGreaterThan(10_000);
    await world.until(() => world.condition('Instance', 'web-eu', 'LeaseExpiring') !== undefined, 3 * HOUR);
    expect(await value('boxwright_leases_expiring', { operation: 'Shutdown' })).toBe(1);
    await world.until(() => shop.ready() === 'True LeaseReleased', 2 * HOUR);
    expect(await value('boxwright_leases', { operation: 'Shutdown' })).toBe(0);
    expect(await value('boxwright_lease_next_expiry_timestamp_seconds')).toBeUndefined();
    expect(await value('boxwright_lease_ends_total', { operation: 'Shutdown', by: 'Service' })).toBe(1);
  });
});

describe('the metrics of a connection', () => {
  it('tell since when its credentials fail', async () => {
    const { world } = shop;
    const failing = 'boxwright_connection_credentials_failing_since_timestamp_seconds';
    expect(await value(failing)).toBeUndefined();
    await world.apply(CONNECTION.replace('token-of-ops', 'revoked'));
    await world.until(() => shop.ready('main', 'Connection') === 'False CredentialsRejected');
    const since = await value(failing, { connection: 'shop/main' });
    expect(now() - (since ?? 0)).toBeLessThan(60);
    await world.advance(HOUR);
    expect(await value(failing, { connection: 'shop/main' })).toBe(since);
    await world.delete('Secret', 'deploy-login');
    await world.until(() => shop.ready('main', 'Connection') === 'False WaitingForSecret');
    expect(await value(failing, { connection: 'shop/main' })).toBeDefined();
    await world.apply(CONNECTION);
    await world.until(() => shop.ready('main', 'Connection') === 'True Settled');
    expect(await value(failing)).toBeUndefined();
  });

  it('tell the state of its breaker', async () => {
    const { world } = shop;
    expect([await breaker('closed'), await breaker('open')]).toEqual([1, 0]);
    shop.judge = () => answer(502, {});
    await world.apply(instance());
    await world.advance(20 * MINUTE);
    expect(await breaker('closed')).toBe(0);
    shop.judge = () => undefined;
    await shop.online();
    expect([await breaker('closed'), await breaker('open'), await breaker('halfOpen')]).toEqual([1, 0, 0]);
  });

  it('tell the pause that the service asks for, and how long calls wait for the budget', async () => {
    const { world } = shop;
    expect(await value('boxwright_service_pause_seconds', { connection: 'shop/main' })).toBe(0);
    const waits = 'boxwright_service_budget_wait_seconds_count';
    const before = (await value(waits, { connection: 'shop/main', priority: 'new' })) ?? 0;
    shop.judge = () => answer(429, {}, { 'retry-after': '120' });
    await world.apply(instance());
    await world.advance(1_000);
    const pause = await value('boxwright_service_pause_seconds', { connection: 'shop/main' });
    expect(pause).toBeGreaterThan(60);
    shop.judge = () => undefined;
    await shop.online();
    expect(await value(waits, { connection: 'shop/main', priority: 'new' })).toBeGreaterThan(before);
  });

  it('tell which calls are under way and which wait', async () => {
    const { world } = shop;
    await world.edit('Connection', 'main', { pace: { requestsPerSecond: 10, burst: 20, inFlight: 1 } });
    await world.until(() => shop.ready('main', 'Connection') === 'True Settled');
    await world.advance(MINUTE);
    world.sandbox.admin.setLatency(5_000);
    const ids = ['a', 'b', 'c'];
    for (const name of ids) await world.apply(instance('', name));
    await world.until(() => world.list('Instance').length === 3);
    await world.advance(2_000);
    expect(await value('boxwright_service_calls_in_flight', { connection: 'shop/main' })).toBe(1);
    await world.advance(10_000);
    expect(await value('boxwright_service_calls_waiting', { connection: 'shop/main' })).toBeGreaterThan(0);
  });
});

describe('an operator that does not lead', () => {
  it('counts no resources, so that sums over replicas are right', async () => {
    await shop.world.stop();
    expect(await value('boxwright_resources')).toBeUndefined();
    expect(await value('boxwright_service_breaker_state')).toBeUndefined();
    expect(await value('boxwright_leases')).toBeUndefined();
    const idle = new World();
    expect(await metricOf(idle.metrics, 'boxwright_resources')).toBeUndefined();
  });
});
