import { afterEach, describe, expect, it } from 'vitest';
import type { KubeRequest } from '../../src/kube/index.ts';
import { NAMESPACE, typeOfKind } from '../support/world.ts';
import { changed, changedRequest, HOUR, instance, leaseOf, MINUTE, Shop } from './shop.ts';

function nothing(): undefined {
  return undefined;
}

describe('a lease', () => {
  let shop: Shop;
  let kubeWrites: KubeRequest[] = [];
  /** Is told of each write of the operator to an Instance before it is sent, and may keep it from being sent. */
  let onWrite: (request: KubeRequest) => 'lost' | undefined = nothing;

  const open = async (options: Parameters<typeof Shop.open>[0] = {}): Promise<void> => {
    kubeWrites = [];
    onWrite = nothing;
    shop = await Shop.open({
      ...options,
      kubePort: (port) => ({
        watch: (request) => port.watch(request),
        request: (request) => {
          if (request.method !== 'GET' && request.path.includes('/instances/')) {
            kubeWrites.push(request);
            if (onWrite(request) === 'lost') return new Promise(() => undefined);
          }
          return port.request(request);
        },
      }),
    });
  };
  afterEach(() => shop.close());

  const leaseReady = (name = 'nights'): string => shop.ready(name, 'InstanceLease');
  const leaseStatus = (name = 'nights'): Record<string, unknown> =>
    shop.world.get('InstanceLease', name)?.status ?? {};
  const endsIn = (): number => Date.parse(shop.status().lease?.expire ?? '') - shop.world.clock.now();
  const noLease = (): boolean => [undefined, 'alwayson'].includes(shop.record().lease?.operation);

  it('travels with the deploy: four writes to the cluster, and the service never has the instance without it', async () => {
    await open();
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 8h'));
    await shop.world.apply(instance('  leaseRef: {name: nights}'));
    await shop.online();
    expect(kubeWrites).toHaveLength(4);
    expect(shop.writes(0).filter((call) => call === 'PUT')).toEqual([]);
    await shop.world.until(() => leaseReady() === 'True Settled');
    expect(shop.status().lease?.source?.name).toBe('nights');
  });

  // B2
  it('that ends at the last second which can be written is held at the last minute', async () => {
    await open();
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, expireAt: "9999-12-31T23:59:59Z"'));
    await shop.world.apply(instance('  leaseRef: {name: nights}'));
    await shop.online();
    expect(shop.status().lease?.expire).toBe('9999-12-31T23:59:00Z');
    await shop.world.until(() => leaseReady() === 'True Settled');
    expect(leaseStatus()).toMatchObject({ expireAt: '9999-12-31T23:59:00Z' });
    await shop.world.edit('InstanceLease', 'nights', { expireAt: '0000-01-01T00:00:00+14:00' });
    await shop.world.until(() => leaseReady() === 'False Refused');
    await shop.world.until(() => shop.ready() === 'False Refused');
    expect(shop.status().lease?.expire).toBe('9999-12-31T23:59:00Z');
  });

  it.each([
    ['Delete', 'is taken off'],
    ['Orphan', 'is left'],
  ])('that is gone (deletionPolicy %s) before status could name it %s', async (deletionPolicy) => {
    await open();
    await shop.world.apply(
      leaseOf('nights', `operation: Shutdown, after: 8h, deletionPolicy: ${deletionPolicy}`),
    );
    let killed = false;
    onWrite = (request) => {
      if (killed || !request.path.endsWith('/status') || shop.records().length === 0) return undefined;
      killed = true;
      shop.world.kill();
      return 'lost';
    };
    await shop.world.apply(instance('  leaseRef: {name: nights}'));
    await shop.world.until(() => killed);
    expect(shop.status().lease).toBeUndefined();
    expect(shop.records()).toMatchObject([{ lease: { operation: 'shutdown' } }]);
    await shop.world.delete('InstanceLease', 'nights');
    await shop.world.edit('Instance', 'web-eu', { leaseRef: null });
    shop.world.start();
    await shop.online();
    await shop.world.advance(20 * MINUTE);
    expect(noLease()).toBe(deletionPolicy === 'Delete');
  });

  // R13; held-leases.test.ts has what comes before
  it('that is gone though leaseRef names it leaves its end, which the instance says, and which comes', async () => {
    await open();
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 8h'));
    await shop.world.apply(instance('  leaseRef: {name: nights}'));
    await shop.online();
    await shop.world.until(() => shop.status().lease?.source?.name === 'nights');
    const { expire } = shop.status().lease ?? {};
    await shop.world.delete('InstanceLease', 'nights');
    const ref = { namespace: NAMESPACE, name: 'nights' };
    await shop.world.user.mergePatch(typeOfKind('InstanceLease'), ref, { metadata: { finalizers: null } });
    await shop.world.until(() => shop.ready() === 'False WaitingForReference', MINUTE);
    expect(shop.message()).toContain('InstanceLease "nights" does not exist');
    await shop.world.edit('Instance', 'web-eu', { tags: ['blue'] });
    await shop.world.until(() => shop.record().tags.includes('blue'), MINUTE);
    shop.restart();
    await shop.world.advance(HOUR);
    expect(shop.status().lease?.expire).toBe(expire);
    await shop.world.until(() => shop.pair().startsWith('done+shutdown'), 8 * HOUR);
    await shop.world.edit('Instance', 'web-eu', { leaseRef: null });
    await shop.world.until(() => shop.ready() === 'True ShutDown', HOUR);
  });

  /** Deploys with a lease; the operator ends between claim and status: the note that it has left. */
  const noteOfKilled = async (operation: string): Promise<Record<string, string>> => {
    await open();
    let killed = false;
    onWrite = (request) => {
      if (killed || !request.path.endsWith('/status') || shop.records().length === 0) return undefined;
      killed = true;
      shop.world.kill();
      return 'lost';
    };
    await shop.world.apply(instance(`  lease: {operation: ${operation}, after: 8h}`));
    await shop.world.until(() => killed);
    const { annotations } = shop.world.get('Instance', 'web-eu')?.metadata ?? {};
    return JSON.parse(annotations?.['boxwright.dev/deployed-lease'] ?? '') as Record<string, string>;
  };

  it.each<[string, (note: Record<string, string>) => string]>([
    ['names no time', (note) => JSON.stringify({ ...note, expire: 'soon' })],
    ['names another time', (note) => JSON.stringify({ ...note, expire: '2099-01-01T00:00:00Z' })],
    ['names another source', (note) => JSON.stringify({ ...note, uid: 'other', kind: 'InstanceLease' })],
    ['is no note', () => 'mine'],
  ])('stays as it was deployed where its note was edited by hand and %s', async (_what, edit) => {
    const note = await noteOfKilled('Shutdown');
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/deployed-lease': edit(note) });
    const deployed = shop.records().map(({ lease }) => lease);
    const before = shop.mark();
    shop.world.start();
    await shop.online();
    await shop.world.advance(HOUR);
    expect(shop.records().map(({ lease }) => lease)).toEqual(deployed);
    expect(shop.writes(before)).toEqual([]);
  });

  it.each<[string, (note: Record<string, string>) => Record<string, string>, boolean]>([
    ['is taken off by a note of an earlier version, which has no seal', (note) => note, true],
    [
      'stays where such a note names another end',
      (note) => ({ ...note, expire: '2099-01-01T00:00:00Z' }),
      false,
    ],
    ['stays where such a note names a source that is not seen', (note) => ({ ...note, uid: 'other' }), false],
  ])('that is declared no more after the operator was exchanged %s', async (_what, edit, isTakenOff) => {
    const { seal, ...note } = await noteOfKilled('Terminate');
    expect(seal).toBeDefined();
    await shop.world.annotate('Instance', 'web-eu', {
      'boxwright.dev/deployed-lease': JSON.stringify(edit(note)),
    });
    await shop.world.edit('Instance', 'web-eu', { lease: null });
    shop.world.start();
    await shop.online();
    await shop.world.advance(20 * MINUTE);
    expect(noLease()).toBe(isTakenOff);
  });

  it('is not taken off by a note that was copied from another instance', async () => {
    await open();
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, expireAt: "2099-01-01T00:00:00Z"'));
    let note: string | undefined;
    onWrite = (request) => {
      const { annotations } = shop.world.get('Instance', 'web-eu')?.metadata ?? {};
      note ??= annotations?.['boxwright.dev/deployed-lease'];
      if (!request.path.includes('/other/status') || note === undefined) return undefined;
      if (shop.world.get('Instance', 'other')?.metadata.annotations?.['boxwright.dev/claim'] === undefined) {
        return undefined;
      }
      shop.world.kill();
      return 'lost';
    };
    await shop.world.apply(instance('  leaseRef: {name: nights}'));
    await shop.online();
    // The same end, put there by somebody else.
    shop.alter = (request) =>
      request.method === 'POST' && request.path === '/services/instances'
        ? changedRequest(request, {
            lease: { operation: 'shutdown', expire: '2099-01-01 00:00:00.000000' },
          })
        : request;
    await shop.world.apply(instance('', 'other'));
    await shop.world.until(() => !shop.world.isRunning);
    onWrite = nothing;
    await shop.world.annotate('Instance', 'other', { 'boxwright.dev/deployed-lease': note ?? 'none' });
    const before = shop.mark();
    shop.world.start();
    await shop.online('other');
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual([]);
    expect(shop.record(shop.status('other').id).lease).toMatchObject({ operation: 'shutdown' });
  });

  it('that changes after the intent and before the deploy is deployed as it is then', async () => {
    await open();
    let refused = 0;
    shop.judge = (request) =>
      request.method === 'POST' && request.path === '/services/instances' && refused++ < 3
        ? { status: 429, headers: { 'retry-after': '60' }, body: new Uint8Array() }
        : undefined;
    await shop.world.apply(instance('  lease: {operation: Shutdown, after: 8h}'));
    await shop.world.until(() => refused > 0);
    await shop.world.edit('Instance', 'web-eu', { lease: { operation: 'Terminate', after: '2h' } });
    await shop.online();
    expect(shop.record().lease).toMatchObject({ operation: 'terminate' });
    expect(shop.records()).toHaveLength(1);
    expect(shop.writes(0).filter((call) => call === 'PUT')).toEqual([]);
  });

  it('that is the younger of two is a conflict, and takes over when the older is gone', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.apply(leaseOf('first', 'operation: Shutdown, after: 8h'));
    await shop.world.until(() => leaseReady('first') === 'True Settled');
    await shop.world.advance(2_000);
    await shop.world.apply(leaseOf('second', 'operation: Terminate, after: 4h'));
    await shop.world.until(() => leaseReady('second') === 'False Conflict');
    expect(shop.message('second', 'InstanceLease')).toContain('"first"');
    await shop.world.advance(HOUR);
    expect(shop.record().lease).toMatchObject({ operation: 'shutdown' });
    expect(leaseReady('first')).toBe('True Settled');
    await shop.world.delete('InstanceLease', 'first');
    await shop.world.until(() => leaseReady('second') === 'True Settled', 10 * MINUTE);
    expect(shop.record().lease).toMatchObject({ operation: 'terminate' });
  });

  it('counts anew from an edit and from a renewal, and from nothing else', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 8h'));
    await shop.world.until(() => leaseReady() === 'True Settled');
    await shop.world.advance(2 * HOUR);
    await shop.world.edit('Instance', 'web-eu', { tags: ['other'] });
    await shop.world.annotate('InstanceLease', 'nights', { 'boxwright.dev/renew': '' });
    shop.restart();
    await shop.world.advance(MINUTE);
    expect(endsIn()).toBeLessThan(6 * HOUR + MINUTE);
    await shop.world.annotate('InstanceLease', 'nights', { 'boxwright.dev/renew': '1' });
    await shop.world.until(() => leaseStatus()['handledRenew'] === '1' && leaseReady() === 'True Settled');
    expect(endsIn()).toBeGreaterThan(8 * HOUR - 2 * MINUTE);
    await shop.world.edit('InstanceLease', 'nights', { after: '3h' });
    await shop.world.until(() => endsIn() < 3 * HOUR + MINUTE && leaseReady() === 'True Settled');
    expect(shop.record().lease?.operation).toBe('shutdown');
  });

  it('is left as it is while it is paused, by field and by annotation', async () => {
    await open();
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 2h'));
    await shop.world.apply(instance('  leaseRef: {name: nights}'));
    await shop.online();
    const before = shop.record().lease;
    await shop.world.annotate('InstanceLease', 'nights', { 'boxwright.dev/paused': 'True' });
    await shop.world.edit('InstanceLease', 'nights', { after: '5h' });
    await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'False Paused');
    await shop.world.advance(HOUR);
    expect(shop.record().lease).toEqual(before);
    await shop.world.annotate('InstanceLease', 'nights', { 'boxwright.dev/paused': null });
    await shop.world.until(() => shop.record().lease?.expire !== before?.expire);
  });

  it('warns as long before its end as it says, on the lease and on the instance, until it is renewed', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 3h, warnBefore: 30m'));
    await shop.world.until(() => leaseReady() === 'True Settled');
    const warned = (): string =>
      (['InstanceLease', 'Instance'] as const)
        .map(
          (kind) =>
            shop.world.condition(kind, kind === 'Instance' ? 'web-eu' : 'nights', 'LeaseExpiring')?.status,
        )
        .join(' ');
    await shop.world.advance(2 * HOUR + 25 * MINUTE);
    expect(warned()).toBe(' ');
    await shop.world.until(() => warned() === 'True True', 10 * MINUTE);
    await shop.world.annotate('InstanceLease', 'nights', { 'boxwright.dev/renew': '1' });
    await shop.world.until(() => warned() === ' ', 10 * MINUTE);
  });

  it('that is read back another one is carried out by the operator, which says so and puts it no second time', async () => {
    await open();
    shop.spoil = (request, given) =>
      /^\/services\/instances\/[^/?]+$/.test(request.path) &&
      given.status === 200 &&
      given.body.byteLength > 0
        ? changed(given, (body: object) => ({
            ...body,
            lease: { operation: 'shutdown', expire: '2099-01-01 00:00:00.000000', released: false },
          }))
        : given;
    await shop.world.apply(instance());
    await shop.online();
    const before = shop.mark();
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 1h'));
    await shop.world.until(() => shop.status().lease?.by === 'Operator', 10 * MINUTE);
    await shop.world.advance(30 * MINUTE);
    expect(shop.writes(before)).toEqual(['PUT']);
    shop.world.sandbox.admin.editRecord('instances', shop.record().id, { lease: undefined });
    await shop.world.until(() => shop.ready() === 'True LeaseReleased', 2 * HOUR);
    expect(shop.writes(before)).toEqual(['PUT', 'PUT shutdown']);
  });

  it('that is cut to the minute by the service is no difference', async () => {
    await open({ sandbox: { readings: { leasePrecision: 'minute' } } });
    await shop.world.apply(instance('  lease: {operation: Shutdown, after: 8h}'));
    await shop.online();
    const before = shop.mark();
    await shop.world.advance(2 * HOUR);
    expect(shop.writes(before)).toEqual([]);
    expect(shop.status().lease?.by).toBe('Service');
  });

  it.each([
    ['removes', 'removes'],
    ['keeps', 'removes'],
    ['removes', 'ignored'],
  ] as const)(
    'is taken off whichever way the service takes (%s, %s)',
    async (leaseDropped, leaseAlwaysOn) => {
      await open({ sandbox: { readings: { leaseDropped, leaseAlwaysOn, noLease: 'absent' } } });
      await shop.world.apply(instance('  lease: {operation: Shutdown, after: 8h}'));
      await shop.online();
      await shop.world.edit('Instance', 'web-eu', { lease: null });
      await shop.world.until(() => noLease(), 10 * MINUTE);
      await shop.online();
      expect(shop.status().lease).toBeUndefined();
    },
  );

  it('that the service will not take off is said', async () => {
    await open({ sandbox: { readings: { leaseDropped: 'keeps', leaseAlwaysOn: 'ignored' } } });
    await shop.world.apply(instance('  lease: {operation: Shutdown, after: 8h}'));
    await shop.online();
    const before = shop.mark();
    await shop.world.edit('Instance', 'web-eu', { lease: null });
    await shop.world.until(() => shop.ready() === 'False NotApplied', HOUR);
    await shop.world.advance(24 * HOUR);
    expect(shop.ready()).toBe('False NotApplied');
    expect(shop.message()).toContain('lease');
    expect(shop.writes(before).length).toBeLessThanOrEqual(12);
  });

  it('that nobody here declared is shown, and neither touched nor waited for', async () => {
    await open();
    await shop.world.apply(instance('  tags: [a]'));
    await shop.online();
    const expire = '2099-01-01 00:00:00.000000';
    shop.world.sandbox.admin.editRecord('instances', shop.record().id, {
      lease: { operation: 'terminate', expire, released: false },
    });
    await shop.world.until(() => shop.status().lease?.operation === 'Terminate', HOUR);
    await shop.world.edit('Instance', 'web-eu', { tags: ['b'] });
    await shop.world.until(() => shop.record().tags.includes('b'));
    await shop.online();
    expect(shop.record().lease).toMatchObject({ operation: 'terminate', expire });
    expect(shop.status().lease?.source).toBeUndefined();
  });

  it('stands, with all else, where lists show less of an instance than single reads', async () => {
    await open({ sandbox: { readings: { listEntries: 'lean' } } });
    await shop.world.apply(instance('  tags: [a]\n  lease: {operation: Shutdown, after: 9h}'));
    await shop.online();
    const before = shop.mark();
    const version = shop.world.get('Instance', 'web-eu')?.metadata.resourceVersion;
    await shop.world.advance(3 * HOUR);
    expect(shop.writes(before)).toEqual([]);
    expect(shop.world.get('Instance', 'web-eu')?.metadata.resourceVersion).toBe(version);
    expect(shop.world.get('Instance', 'web-eu')?.status?.['machines']).toHaveLength(1);
  });
});
