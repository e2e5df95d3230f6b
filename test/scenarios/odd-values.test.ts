import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FINALIZER } from '../../src/api/names.ts';
import type { PortAnswer } from '../../src/service/index.ts';
import { changedInstances, HOUR, instance, leaseOf, MINUTE, Shop } from './shop.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

function nested(name: string): object {
  return { name, type: 'Box', boxRef: { name: 'inner' } };
}

function variables(prefix: string): object[] {
  return Array.from({ length: 100 }, (_, at) => ({ name: `${prefix}${at}`, type: 'Text', value: 'x' }));
}

function json(body: unknown): PortAnswer {
  return { status: 200, headers: JSON_TYPE, body: Buffer.from(JSON.stringify(body)) };
}

/** Values that status does not take as they come: whoever they are from, nothing freezes (B1, R6). */
describe('values that do not fit into status', () => {
  let shop: Shop;
  /** Writes of the operator that the API server refused. */
  let refused: string[];

  beforeEach(async () => {
    refused = [];
    shop = await Shop.open({
      kubePort: (port) => ({
        watch: (request) => port.watch(request),
        request: async (request) => {
          const answer = await port.request(request);
          if (answer.status === 422) refused.push(`${request.path}: ${JSON.stringify(answer.body)}`);
          return answer;
        },
      }),
    });
  });
  afterEach(() => shop.close());

  const boxReady = (): string => shop.ready('web', 'Box');

  it.each(['', 'x'.repeat(5_000), '😀'.repeat(300)])(
    'as a request to look leave changes and deletion possible (%#)',
    async (token) => {
      await shop.world.annotate('Box', 'web', { 'boxwright.dev/requested-at': token });
      await shop.world.edit('Box', 'web', { description: 'changed' });
      await shop.world.until(() => {
        const boxes = shop.world.sandbox.admin.records('boxes') as unknown as {
          id: string;
          description: string;
        }[];
        const box = boxes.find(({ id }) => id === shop.world.get('Box', 'web')?.status?.id);
        return box?.description === 'changed' && boxReady() === 'True Settled';
      });
      const puts = shop.writes(0).length;
      await shop.world.advance(HOUR);
      expect(shop.writes(0)).toHaveLength(puts);
      expect(shop.world.get('Box', 'web')?.status).toMatchObject({
        observedGeneration: shop.world.get('Box', 'web')?.metadata.generation,
      });
      await shop.world.delete('Box', 'web');
      await shop.world.until(() => shop.world.get('Box', 'web') === undefined);
      expect(refused).toEqual([]);
    },
  );

  it.each(['', 'x'.repeat(5_000)])('as a renewal leave the lease in force (%#)', async (token) => {
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 8h'));
    await shop.world.apply(instance('  leaseRef: {name: nights}'));
    await shop.online();
    await shop.world.annotate('InstanceLease', 'nights', { 'boxwright.dev/renew': token });
    await shop.world.advance(10 * MINUTE);
    await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'True Settled');
    expect(shop.ready()).toBe('True Settled');
    expect(refused).toEqual([]);
  });

  it.each(['x'.repeat(250), 'x'.repeat(5_000)])('as a request run once (%#)', async (token) => {
    await shop.world.apply(instance());
    await shop.online();
    const reinstalls = (): number =>
      shop.world.sandbox.admin.calls({}).filter(({ path }) => path.endsWith('/reinstall')).length;
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': token });
    await shop.world.advance(2 * HOUR);
    expect(reinstalls()).toBe(1);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': `${token}y` });
    await shop.world.advance(HOUR);
    expect(reinstalls()).toBe(2);
    expect(refused).toEqual([]);
  });

  it('as boxes that are nested twice let the box settle', async () => {
    const inner = { spec: { connectionRef: { name: 'main' } }, metadata: { name: 'inner' } };
    await shop.world.apply(JSON.stringify({ apiVersion: 'boxwright.dev/v1alpha1', kind: 'Box', ...inner }));
    await shop.world.until(() => shop.ready('inner', 'Box') === 'True Settled');
    await shop.world.edit('Box', 'web', { variables: [nested('one'), nested('two')] });
    await shop.world.until(() => {
      const { status } = shop.world.get('Box', 'web') ?? {};
      return boxReady() === 'True Settled' && (status as { stack?: string[] }).stack?.length === 2;
    });
    expect(refused).toEqual([]);
  });

  it('as a hundred variables that get other names at once are put there, and the old ones go', async () => {
    await shop.world.apply(instance());
    await shop.online();
    const names = (): string[] => shop.record().variables.map(({ name }) => name);
    const declare = async (of: string): Promise<void> => {
      await shop.world.edit('Box', 'web', { variables: variables(of) });
      await shop.world.until(() => boxReady() === 'True Settled');
    };
    await declare('A');
    await shop.world.edit('Instance', 'web-eu', { variables: variables('A'), applyChanges: 'None' });
    await shop.world.until(() => names().includes('A99') && shop.ready() === 'True Settled', HOUR);
    await declare('B');
    await shop.world.edit('Instance', 'web-eu', { variables: variables('B') });
    await shop.world.until(() => names().includes('B99') && shop.ready() === 'True Settled', HOUR);
    expect(names().filter((name) => name.startsWith('A'))).toEqual([]);
    expect(refused).toEqual([]);
  });

  it('as machines of one name are both shown', async () => {
    const machines = ['10.0.0.1', '10.0.0.2'].map((own) => ({ name: 'm', address: { public: own } }));
    shop.spoil = (request, given) =>
      changedInstances(request, given, (record: { service?: object }) => ({
        ...record,
        service: { ...record.service, machines },
      }));
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.until(() => shop.ready() === 'True Settled');
    await shop.world.advance(HOUR);
    const status = shop.status() as { machines?: { name: string }[] };
    expect(status.machines?.map(({ name }) => name)).toEqual(['m', 'm~2']);
    expect(refused).toEqual([]);
  });

  it('as an id of the service that is too long send nothing, say so, and let go with Orphan', async () => {
    const long = 'i'.repeat(100);
    const record = { id: long, schema: 'https://x/boxes/script', name: 'theirs', owner: 'ops' };
    let sent = 0;
    shop.judge = (request) => {
      if (!request.path.startsWith(`/services/boxes/${long}`)) return undefined;
      if (request.method !== 'GET') sent += 1;
      return json(record);
    };
    shop.spoil = (request, given) => {
      if (!/^\/services\/workspaces\/[^/]+\/boxes/.test(request.path)) return given;
      return json([...(JSON.parse(Buffer.from(given.body).toString()) as object[]), record]);
    };
    await shop.world.apply(`
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: adopted, annotations: {boxwright.dev/adopt: ${long}}}
spec: {connectionRef: {name: main}}
`);
    await shop.world.until(() => shop.ready('adopted', 'Box') === 'False NotSupported');
    expect(shop.message('adopted', 'Box')).toContain('status.id has 100 characters, and 64 fit');
    await shop.world.advance(HOUR);
    expect(sent).toBe(0);
    await shop.world.edit('Box', 'adopted', { deletionPolicy: 'Orphan' });
    await shop.world.delete('Box', 'adopted');
    await shop.world.until(() => shop.world.get('Box', 'adopted') === undefined);
    expect(refused).toEqual([]);
    expect(shop.world.get('Box', 'web')?.metadata.finalizers).toEqual([FINALIZER]);
  });
});
