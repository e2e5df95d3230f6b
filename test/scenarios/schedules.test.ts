import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { changedInstances, HOUR, instance, leaseOf, MINUTE, Shop } from './shop.ts';

/** Monday 2026-06-01, 10:00 in Berlin. */
const MONDAY_TEN = Date.UTC(2026, 5, 1, 8);
const OFFICE =
  'schedule: {timeZone: Europe/Berlin, up: [{days: [Mon, Tue, Wed, Thu, Fri], from: "08:00", to: "19:00"}]}';

describe('a schedule', () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await Shop.open({ clock: new VirtualClock(MONDAY_TEN) });
  });
  afterEach(() => shop.close());

  const phase = (): string => `${shop.ready()} ${shop.status().phase}`;
  const UP = 'True Settled Online';
  const DOWN = 'True ShutDown ShutDown';
  const leaseReady = (): string => shop.ready('office', 'InstanceLease');
  const leaseStatus = (): Record<string, unknown> => shop.world.get('InstanceLease', 'office')?.status ?? {};
  const deployed = async (spec = ''): Promise<void> => {
    await shop.world.apply(leaseOf('office', OFFICE));
    await shop.world.apply(instance(spec));
    await shop.online();
    await shop.world.until(() => leaseReady() === 'True Settled');
  };
  const until = (text: string): Promise<void> =>
    shop.world.advance(Date.parse(text) - shop.world.clock.now());

  it('decides before powerState, says who carries it out and what comes next', async () => {
    await deployed('  powerState: Stopped');
    expect(phase()).toBe(UP);
    expect(leaseStatus()).toMatchObject({
      nextChange: '2026-06-01T17:00:00Z',
      instances: [{ name: 'web-eu', operation: 'Shutdown', released: false, by: 'Operator' }],
    });
    expect(shop.status().lease).toMatchObject({
      operation: 'AlwaysOn',
      by: 'Operator',
      source: { name: 'office', power: 'Running', since: '2026-06-01T06:00:00Z' },
    });
    await until('2026-06-01T17:00:10Z');
    await shop.world.until(() => phase() === DOWN, MINUTE);
    expect(shop.message()).toContain('until the schedule of InstanceLease "office" powers it on');
    expect(leaseStatus()).toMatchObject({ nextChange: '2026-06-02T06:00:00Z' });
    await until('2026-06-02T06:00:10Z');
    await shop.world.until(() => phase() === UP, MINUTE);
  });

  it('shuts down what is deployed outside its windows, and powers it on in the morning', async () => {
    await until('2026-06-01T20:00:00Z');
    await shop.world.apply(leaseOf('office', OFFICE));
    await shop.world.apply(instance('  leaseRef: {name: office}'));
    await shop.world.until(() => phase() === DOWN, 10 * MINUTE);
    const before = shop.mark();
    await until('2026-06-02T06:01:00Z');
    expect(phase()).toBe(UP);
    expect(shop.writes(before)).toEqual(['PUT poweron']);
  });

  it.each([
    ['Correct', ['PUT shutdown', 'PUT poweron', 'PUT shutdown']],
    ['Report', ['PUT shutdown']],
  ])('with driftPolicy %s: what is switched by hand inside a window', async (driftPolicy, calls) => {
    await deployed(`  driftPolicy: ${driftPolicy}`);
    const before = shop.mark();
    await shop.byHand('PUT', `/services/instances/${shop.record().id}/shutdown`);
    await shop.world.advance(HOUR);
    const drift = driftPolicy === 'Report' ? ['schedule'] : [];
    expect((shop.status().drift ?? []).map(({ field }) => field)).toEqual(drift);
    await until('2026-06-01T17:01:00Z');
    expect(phase()).toBe(DOWN);
    expect(shop.writes(before)).toEqual(calls);
    await until('2026-06-02T06:01:00Z');
    expect(phase()).toBe(UP);
  });

  it('switches after a restart what was due while the operator was away, once', async () => {
    await deployed();
    const before = shop.mark();
    shop.world.kill();
    await until('2026-06-02T19:00:00Z'); // a whole day was missed
    shop.world.start();
    await shop.world.until(() => phase() === DOWN, 10 * MINUTE);
    await until('2026-06-03T06:01:00Z');
    expect(phase()).toBe(UP);
    shop.restart();
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual(['PUT shutdown', 'PUT poweron']);
  });

  it('that is paused switches nothing; resumed, it switches to what is due by then', async () => {
    await deployed();
    await shop.world.edit('InstanceLease', 'office', { paused: true });
    await shop.world.until(() => shop.ready('office', 'InstanceLease') === 'True Paused');
    const before = shop.mark();
    await until('2026-06-01T21:00:00Z');
    expect(phase()).toBe(UP);
    shop.restart();
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual([]);
    await shop.world.edit('InstanceLease', 'office', { paused: false });
    await shop.world.until(() => phase() === DOWN, MINUTE);
    await shop.world.until(() => leaseReady() === 'True Settled');
    expect(shop.writes(before)).toEqual(['PUT shutdown']);
  });

  it('that goes leaves the power to powerState, and to nobody without one', async () => {
    await deployed();
    await until('2026-06-01T18:00:00Z');
    expect(phase()).toBe(DOWN);
    await shop.world.delete('InstanceLease', 'office');
    const before = shop.mark();
    await until('2026-06-02T10:00:00Z');
    expect([phase(), shop.writes(before)]).toEqual([DOWN, []]);
    expect(shop.status().lease?.source).toBeUndefined();
    await shop.world.edit('Instance', 'web-eu', { powerState: 'Running' });
    await shop.world.until(() => phase() === UP, HOUR);
  });

  it('takes the end of the lease before it off the record, and gives way to an end again', async () => {
    await shop.world.apply(leaseOf('office', 'operation: Shutdown, after: 2h'));
    await shop.world.apply(instance('  leaseRef: {name: office}'));
    await shop.online();
    expect(shop.record().lease).toMatchObject({ operation: 'shutdown' });
    await shop.world.edit('InstanceLease', 'office', {
      after: null,
      schedule: { timeZone: 'UTC', up: [{ days: ['Mon'], from: '00:00', to: '24:00' }] },
    });
    await shop.world.until(() => leaseReady() === 'True Settled' && leaseStatus()['expireAt'] === undefined);
    expect(shop.record().lease?.operation ?? 'alwayson').toBe('alwayson');
    await shop.world.advance(3 * HOUR);
    expect(phase()).toBe(UP);
    await shop.world.edit('InstanceLease', 'office', { after: '1h', schedule: null });
    await shop.world.until(() => leaseStatus()['expireAt'] !== undefined && leaseReady() === 'True Settled');
    expect(shop.status().lease?.source).not.toHaveProperty('power');
    await shop.world.until(() => shop.ready() === 'True LeaseReleased', 2 * HOUR);
  });

  it('powers on again what a lease before it had ended', async () => {
    await shop.world.apply(leaseOf('office', 'operation: Shutdown, after: 1h'));
    await shop.world.apply(instance('  leaseRef: {name: office}'));
    await shop.world.until(() => shop.ready() === 'True LeaseReleased', 2 * HOUR);
    await shop.world.edit('InstanceLease', 'office', {
      after: null,
      schedule: { timeZone: 'UTC', up: [{ days: ['Mon'], from: '00:00', to: '24:00' }] },
    });
    await shop.world.until(() => phase() === UP, HOUR);
    expect(shop.record().lease?.operation ?? 'alwayson').toBe('alwayson');
  });

  it('of a zone that nobody knows deploys nothing and names the one that is meant; mended, it is in force', async () => {
    const wrong = OFFICE.replace('Berlin', 'Berln');
    await shop.world.apply(leaseOf('office', wrong));
    await shop.world.apply(instance('  leaseRef: {name: office}'));
    await shop.world.until(() => shop.ready() === 'False NotSupported');
    await shop.world.until(
      () => leaseReady() === 'False WaitingForReference' || leaseReady() === 'False NotSupported',
    );
    expect(shop.message()).toContain(
      'spec.schedule.timeZone "Europe/Berln" is not known: write Europe/Berlin',
    );
    await shop.world.advance(HOUR);
    expect(shop.records()).toEqual([]);
    await shop.world.apply(leaseOf('office', OFFICE));
    await shop.online();
    await shop.world.until(() => leaseReady() === 'True Settled');
  });

  it('edited into such a zone leaves the power as it is, and nothing else', async () => {
    await deployed('  powerState: Stopped');
    await shop.world.apply(leaseOf('office', OFFICE.replace('Berlin', 'Berln')));
    await shop.world.until(() => shop.ready() === 'False NotSupported');
    await shop.world.until(() => leaseReady() === 'False NotSupported');
    const before = shop.mark();
    await shop.world.edit('Instance', 'web-eu', { tags: ['blue'] });
    await shop.world.until(() => shop.record().tags.includes('blue'));
    await until('2026-06-01T20:00:00Z');
    expect(shop.writes(before)).toEqual(['PUT']);
  });

  it('stands also where the service shows no lease at all for what is always on', async () => {
    shop.spoil = (request, given) =>
      changedInstances(request, given, ({ lease: _lease, ...rest }: { lease?: object }) => rest);
    await shop.world.apply(leaseOf('office', 'operation: Shutdown, after: 8h'));
    await shop.world.apply(instance('  leaseRef: {name: office}'));
    await shop.online();
    await shop.world.apply(leaseOf('office', OFFICE));
    await shop.world.edit('InstanceLease', 'office', { after: null });
    await shop.world.until(
      () => leaseReady() === 'True Settled' && leaseStatus()['nextChange'] === '2026-06-01T17:00:00Z',
    );
    expect(shop.status().lease).toMatchObject({ operation: 'AlwaysOn', by: 'Operator' });
  });

  it('is not held back by a switch that was refused the day before', async () => {
    await deployed();
    shop.judge = ({ path }) =>
      path.endsWith('/shutdown')
        ? { status: 400, headers: {}, body: Buffer.from('{"message":"not today"}') }
        : undefined;
    await until('2026-06-01T17:10:00Z');
    expect(shop.ready()).toBe('False Refused');
    await until('2026-06-02T12:00:00Z');
    expect(phase()).toBe(UP);
    shop.judge = () => undefined;
    await until('2026-06-02T17:01:00Z');
    expect(phase()).toBe(DOWN);
  });
});
