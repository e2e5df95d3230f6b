import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changed, HOUR, instance, MINUTE, Shop } from './shop.ts';

const LEASE_ENDED = 'True LeaseReleased';
const BY_SERVICE = 'carried out by the service';
const NOT_KEPT = 'not kept by the service';
const NOT_CARRIED_OUT = 'kept, but not carried out by the service';

/** Takes the lease out of whatever is sent, so that the service never knows of it. */
function withoutLease(shop: Shop): void {
  shop.alter = (request) => {
    const about = /^\/services\/instances(\/[^/]+)?$/.test(request.path);
    if (!about || request.body === undefined || (request.method !== 'POST' && request.method !== 'PUT')) {
      return request;
    }
    const body = JSON.parse(Buffer.from(request.body).toString()) as {
      lease?: object;
    };
    const { lease, ...rest } = body;
    lastLease.set(shop, lease);
    return { ...request, body: Buffer.from(JSON.stringify(rest)) };
  };
}

const lastLease = new WeakMap<Shop, object | undefined>();

/** Shows the lease that was sent last, which nobody carries out. */
function pretendLease(shop: Shop): void {
  // The record itself has no lease: only the answers do.
  shop.world.judges.excuse('ready truth');
  withoutLease(shop);
  shop.spoil = (request, given) => {
    const single = /^\/services\/instances(\/[^/]+)?$/.test(request.path);
    const lease = lastLease.get(shop);
    if (!single || request.method === 'DELETE' || given.status >= 300 || lease === undefined) return given;
    if (given.body.byteLength === 0) return given;
    const shown = { ...lease, released: false };
    return changed(given, (body: object) =>
      Array.isArray(body)
        ? body.map((entry: object) => ({ ...entry, lease: shown }))
        : { ...body, lease: shown },
    );
  };
}

/** What the operator has to do at the end of a lease that nobody else carries out. */
function callsOf(operation: 'Shutdown' | 'Terminate', shutDown: boolean): string[] {
  if (operation === 'Shutdown') return shutDown ? [] : ['PUT shutdown'];
  // What is shut down is not terminated otherwise: no script can run there.
  return ['DELETE ?operation=terminate', ...(shutDown ? ['DELETE ?operation=force_terminate'] : [])];
}

describe('power and a lease that ends', () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await Shop.open();
  });
  afterEach(() => shop.close());

  const phase = (): string => `${shop.ready()} ${shop.status().phase}`;

  for (const powerState of ['absent', 'Running', 'Stopped'] as const) {
    for (const operation of ['Shutdown', 'Terminate'] as const) {
      for (const how of [BY_SERVICE, NOT_KEPT, NOT_CARRIED_OUT] as const) {
        it(`powerState ${powerState}, lease ${operation}, ${how}: stays as the lease left it`, async () => {
          if (how === NOT_KEPT) withoutLease(shop);
          if (how === NOT_CARRIED_OUT) pretendLease(shop);
          const power = powerState === 'absent' ? '' : `  powerState: ${powerState}\n`;
          const born = shop.world.clock.now();
          await shop.world.apply(instance(`${power}  lease: {operation: ${operation}, after: 1h}`));
          const settled = powerState === 'Stopped' ? 'True ShutDown ShutDown' : 'True Settled Online';
          await shop.world.until(() => phase() === settled);
          await shop.world.advance(55 * MINUTE);
          expect(phase()).toBe(settled);
          const before = shop.mark();
          const end = operation === 'Terminate' ? 'Terminated' : 'ShutDown';
          await shop.world.until(() => phase() === `${LEASE_ENDED} ${end}`, HOUR);
          expect(shop.world.clock.now() - born).toBeGreaterThanOrEqual(HOUR);
          expect(shop.status().lease?.released).toBe(true);
          const expected = how === BY_SERVICE ? [] : callsOf(operation, powerState === 'Stopped');
          await shop.world.advance(2 * HOUR);
          await shop.world.edit('Instance', 'web-eu', { operationTimeout: '20m' });
          await shop.world.advance(MINUTE);
          shop.restart();
          await shop.world.advance(2 * HOUR);
          expect(phase()).toBe(`${LEASE_ENDED} ${end}`);
          expect(shop.writes(before)).toEqual(expected);
        });
      }
    }
  }

  it('that was away when the lease ended is not powered on again', async () => {
    await shop.world.apply(instance('  powerState: Running\n  lease: {operation: Shutdown, after: 1h}'));
    await shop.online();
    const before = shop.mark();
    shop.world.kill();
    await shop.world.advance(2 * HOUR);
    shop.world.start();
    await shop.world.until(() => phase() === `${LEASE_ENDED} ShutDown`);
    await shop.world.advance(2 * HOUR);
    expect(shop.writes(before)).toEqual([]);
  });

  it('comes back with a change of powerState, lease or renewal, and with nothing else', async () => {
    await shop.world.apply(instance('  powerState: Running\n  lease: {operation: Shutdown, after: 1h}'));
    const ended = (): Promise<void> =>
      shop.world.until(() => phase() === `${LEASE_ENDED} ShutDown`, 3 * HOUR);
    await ended();
    await shop.world.edit('Instance', 'web-eu', {
      tags: ['other'],
      variables: [{ name: 'PORT', type: 'Port', value: '81' }],
    });
    await shop.world.advance(HOUR);
    expect(phase()).toBe(`${LEASE_ENDED} ShutDown`);
    expect(shop.record().tags).toContain('other');
    await shop.world.edit('Instance', 'web-eu', { lease: { operation: 'Shutdown', after: '2h' } });
    await shop.online();
    await ended();
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/renew': '1' });
    await shop.online();
    await ended();
    await shop.world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await shop.world.until(() => phase() === 'True ShutDown ShutDown');
    await shop.world.edit('Instance', 'web-eu', { powerState: 'Running' });
    await shop.online();
    // The end that was carried out blocks nothing any more.
    await shop.world.advance(3 * HOUR);
    expect(phase()).toBe('True Settled Online');
  });

  it('is left online when somebody powers it on after the lease has ended', async () => {
    await shop.world.apply(instance('  powerState: Running\n  lease: {operation: Shutdown, after: 1h}'));
    await shop.world.until(() => phase() === `${LEASE_ENDED} ShutDown`, 3 * HOUR);
    const before = shop.mark();
    await shop.byHand('PUT', `/services/instances/${shop.record().id}/poweron`);
    await shop.world.until(() => shop.status().phase === 'Online', HOUR);
    await shop.world.advance(3 * HOUR);
    expect(shop.pair()).toBe('done+poweron');
    expect(shop.writes(before)).toEqual(['PUT poweron']);
  });

  it('while an operation runs is carried out at its end', async () => {
    await shop.world.apply(instance('  powerState: Running\n  lease: {operation: Shutdown, after: 1h}'));
    await shop.online();
    shop.world.sandbox.admin.setDurations({ reinstall: 40 * MINUTE });
    await shop.world.advance(40 * MINUTE);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(() => phase() === `${LEASE_ENDED} ShutDown`, 3 * HOUR);
    expect(shop.status().handledRequests?.['reinstall']).toBe('1');
  });

  it('ends what has failed to deploy, where the service does not', async () => {
    withoutLease(shop);
    shop.world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'fail', times: 1 });
    await shop.world.apply(instance('  lease: {operation: Terminate, after: 1h}'));
    await shop.world.until(() => phase() === 'False OperationFailed Failed');
    await shop.world.until(() => phase() === `${LEASE_ENDED} Terminated`, 3 * HOUR);
    expect(shop.record().operation.event).toMatch(/^terminate/);
  });

  it('lists a lease that somebody has changed with Report', async () => {
    await shop.world.apply(instance('  driftPolicy: Report\n  lease: {operation: Shutdown, after: 8h}'));
    await shop.online();
    const { id, lease } = shop.record();
    shop.world.sandbox.admin.editRecord('instances', id, { lease: { ...lease, operation: 'terminate' } });
    await shop.world.until(() => shop.status().drift !== undefined, HOUR);
    expect(shop.status().drift).toMatchObject([{ field: 'lease' }]);
    expect(shop.status().drift?.[0]?.want).toMatch(/^Shutdown /);
    expect(shop.status().drift?.[0]?.have).toMatch(/^Terminate /);
    expect(phase()).toBe('True Settled Online');
  });

  it('that is AlwaysOn never ends', async () => {
    await shop.world.apply(instance('  powerState: Running\n  lease: {operation: AlwaysOn}'));
    await shop.online();
    await shop.world.advance(6 * HOUR);
    expect(phase()).toBe('True Settled Online');
  });

  it.each(['Running', 'Stopped'])(
    'powerState %s is put right when somebody has changed the power',
    async (powerState) => {
      await shop.world.apply(instance(`  powerState: ${powerState}`));
      const settled = powerState === 'Stopped' ? 'True ShutDown ShutDown' : 'True Settled Online';
      await shop.world.until(() => phase() === settled);
      const { id } = shop.record();
      await shop.byHand(
        'PUT',
        `/services/instances/${id}/${powerState === 'Running' ? 'shutdown' : 'poweron'}`,
      );
      const event = powerState === 'Running' ? 'poweron' : 'shutdown';
      await shop.world.until(() => shop.status().lastOperation?.event === event && phase() === settled, HOUR);
      expect(shop.records()).toHaveLength(1);
    },
  );

  it('powerState that differs is listed with Report and left with Ignore', async () => {
    await shop.world.apply(instance('  powerState: Running\n  driftPolicy: Report'));
    await shop.online();
    const { id } = shop.record();
    await shop.byHand('PUT', `/services/instances/${id}/shutdown`);
    await shop.world.until(
      () => shop.world.condition('Instance', 'web-eu', 'Drifted')?.status === 'True',
      HOUR,
    );
    expect(shop.world.condition('Instance', 'web-eu', 'Drifted')?.message).toContain('powerState');
    expect(shop.status().drift).toEqual([{ field: 'powerState', want: 'Running', have: 'Stopped' }]);
    await shop.world.edit('Instance', 'web-eu', { driftPolicy: 'Ignore' });
    await shop.world.until(() => shop.world.condition('Instance', 'web-eu', 'Drifted') === undefined, HOUR);
    await shop.world.advance(2 * HOUR);
    expect(phase()).toBe('True ShutDown ShutDown');
  });

  it('absent powerState leaves the power alone', async () => {
    await shop.world.apply(instance());
    await shop.online();
    const { id } = shop.record();
    const before = shop.mark();
    await shop.byHand('PUT', `/services/instances/${id}/shutdown`);
    await shop.world.until(() => phase() === 'True ShutDown ShutDown', HOUR);
    await shop.world.advance(2 * HOUR);
    await shop.byHand('PUT', `/services/instances/${id}/poweron`);
    await shop.online();
    expect(shop.writes(before)).toEqual(['PUT shutdown', 'PUT poweron']);
  });

  it('that an end by the service terminates is not deployed again, whatever onMissing says', async () => {
    await shop.world.apply(instance('  onMissing: Recreate\n  lease: {operation: Terminate, after: 1h}'));
    await shop.online();
    await shop.world.until(() => phase() === `${LEASE_ENDED} Terminated`, 3 * HOUR);
    await shop.world.advance(3 * HOUR);
    expect(shop.records()).toHaveLength(1);
  });
});
