import { afterEach, describe, expect, it } from 'vitest';
import { answer, changed, HOUR, instance, MINUTE, Shop } from './shop.ts';

const TAGGED = '  tags: [shop]\n';

function boxNamed(name: string, annotations = '{}'): string {
  return `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: ${name}, annotations: ${annotations}}
spec: {connectionRef: {name: main}}
`;
}

describe('a record of the service', () => {
  let shop: Shop;
  const open = async (...options: Parameters<typeof Shop.open>): Promise<void> => {
    shop = await Shop.open(...options);
  };
  afterEach(() => shop.close());

  it('that answers 403 is neither gone nor made again, whatever onMissing says', async () => {
    await open();
    await shop.world.apply(instance('  onMissing: Recreate'));
    await shop.online();
    const { id } = shop.record();
    shop.world.sandbox.admin.removeRecord('instances', id);
    shop.judge = (request) =>
      request.path === `/services/instances/${id}` ? answer(403, { message: 'not yours' }) : undefined;
    await shop.world.advance(HOUR);
    expect(shop.records()).toEqual([]);
    expect(shop.status().id).toBe(id);
    expect(shop.message()).toMatch(/403|Settled|online/);
    shop.judge = () => undefined;
    await shop.world.until(() => shop.status().id !== id && shop.ready() === 'True Settled', HOUR);
    expect(shop.records()).toHaveLength(1);
  });

  it('that only a list lacks is there', async () => {
    await open();
    await shop.world.apply(instance('  onMissing: Recreate'));
    await shop.online();
    const { id } = shop.record();
    shop.spoil = (request, given) =>
      request.path.includes('/instances') && Buffer.from(given.body).toString().startsWith('[')
        ? changed(given, () => [])
        : given;
    await shop.world.advance(HOUR);
    shop.restart();
    await shop.world.advance(HOUR);
    expect(shop.records().map((record) => record.id)).toEqual([id]);
    expect(shop.ready()).toBe('True Settled');
  });

  it('that is behind in lists and singly is created once', async () => {
    await open();
    shop.world.sandbox.admin.setListLag({ polls: 8 });
    shop.world.sandbox.admin.hideCreated({ reads: 4 });
    await shop.world.apply(instance(TAGGED));
    await shop.online();
    await shop.world.advance(HOUR);
    expect(shop.records()).toHaveLength(1);
    expect(shop.record().tags).toContain('shop');
  });

  it('that an old backup of the service does not hold is missing: said with Hold, made again with Recreate', async () => {
    await open();
    const backup = shop.world.sandbox.admin.snapshot();
    await shop.world.apply(instance(TAGGED));
    await shop.online();
    const first = shop.status().id;
    shop.world.sandbox.admin.restore(backup);
    await shop.world.until(() => shop.ready() === 'False RecordMissing', HOUR);
    // R17
    expect(shop.status().phase).toBe('Terminated');
    for (const field of ['address', 'machines', 'service', 'state'])
      expect(shop.status()).not.toHaveProperty(field);
    expect(shop.message()).toContain('onMissing');
    expect(shop.status().id).toBe(first);
    await shop.world.edit('Instance', 'web-eu', { onMissing: 'Recreate' });
    await shop.world.until(() => shop.status().id !== first && shop.ready() === 'True Settled', HOUR);
    expect(shop.records()).toHaveLength(1);
  });

  it('that a backup brings back older than it was is put right', async () => {
    await open();
    await shop.world.apply(instance(TAGGED));
    await shop.online();
    const backup = shop.world.sandbox.admin.snapshot();
    await shop.world.edit('Instance', 'web-eu', { tags: ['newer'] });
    await shop.world.until(() => shop.record().tags.includes('newer'));
    await shop.online();
    await shop.world.advance(2 * MINUTE);
    shop.world.sandbox.admin.restore(backup);
    await shop.world.until(() => shop.record().tags.includes('newer'), 3 * HOUR);
    expect(shop.records()).toHaveLength(1);
  });

  it('is adopted, nothing runs, and requests that are there already count as carried out', async () => {
    await open();
    const id = await shop.leftBehind('  variables: [{name: PORT, type: Port, value: "80"}]');
    const before = shop.mark();
    await shop.world.apply(
      instance(
        '  tags: [new]\n  variables: [{name: PORT, type: Port, value: "80"}]',
        'other',
        `{boxwright.dev/adopt: ${id}, boxwright.dev/request-reinstall: old}`,
      ),
    );
    await shop.online('other');
    await shop.world.advance(HOUR);
    expect(shop.status('other').id).toBe(id);
    expect(shop.writes(before)).toEqual(['PUT']);
    expect(shop.record(id).tags).toContain('new');
  });

  it('that is to be adopted and is not there is waited for, and nothing is made instead', async () => {
    await open();
    const before = shop.mark();
    await shop.world.apply(instance('', 'web-eu', '{boxwright.dev/adopt: i-nobody}'));
    await shop.world.advance(HOUR);
    expect(shop.ready()).toBe('False WaitingForReference');
    expect(shop.message()).toContain('i-nobody');
    expect(shop.writes(before)).toEqual([]);
  });

  it('that was made a moment ago is adopted at once, though an older list lacks it', async () => {
    await open();
    await shop.world.apply(boxNamed('older'));
    await shop.world.until(() => shop.ready('older', 'Box') === 'True Settled');
    const answered = await shop.byHand('POST', '/services/boxes', {
      schema: `${shop.world.sandbox.schemaBase}/boxes/script`,
      name: 'made-by-hand',
      owner: 'ops',
      requirements: [],
    });
    expect(answered).toBe(200);
    const boxes = shop.world.sandbox.admin.records('boxes') as { id: string; name: string }[];
    const { id } = boxes.find(({ name }) => name === 'made-by-hand') ?? { id: 'none' };
    await shop.world.apply(boxNamed('made-by-hand', `{boxwright.dev/adopt: ${id}}`));
    await shop.world.until(() => shop.ready('made-by-hand', 'Box') === 'True Settled', 10_000);
    expect(shop.world.get('Box', 'made-by-hand')?.status?.id).toBe(id);
  });

  it('that is only observed is shown as it changes, and never written', async () => {
    await open();
    const id = await shop.leftBehind(TAGGED);
    const before = shop.mark();
    await shop.world.apply(
      instance(
        '  managementPolicy: Observe\n  powerState: Stopped\n  tags: [never]\n  lease: {operation: Shutdown, after: 1h}',
        'seen',
        `{boxwright.dev/adopt: ${id}}`,
      ),
    );
    await shop.world.until(() => shop.ready('seen') === 'True Observed');
    await shop.byHand('PUT', `/services/instances/${id}/shutdown`);
    await shop.world.until(() => shop.status('seen').phase === 'ShutDown', HOUR);
    await shop.world.advance(2 * HOUR);
    expect(shop.writes(before)).toEqual(['PUT shutdown']);
    await shop.world.delete('Instance', 'seen');
    await shop.gone('seen');
    expect(shop.writes(before)).toEqual(['PUT shutdown']);
    expect(shop.records()).toHaveLength(1);
  });
});

function single(path: string): boolean {
  return /^\/services\/instances\/[^/?]+$/.test(path);
}

describe('an answer of the service', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  async function settled(spec = TAGGED): Promise<void> {
    shop = await Shop.open();
    await shop.world.apply(instance(spec));
    await shop.online();
  }

  it.each([
    ['state', { state: 7 }],
    ['operation', { operation: 'deploy' }],
    ['tags', { tags: 'shop' }],
    ['variables', { variables: [{ name: 5 }] }],
    ['lease', { lease: { operation: false } }],
    ['id', { id: 'i-others' }],
  ])('with a wrong %s is not acted upon, named, and got over', async (field, wrong) => {
    await settled();
    const before = shop.mark();
    shop.spoil = (request, given) =>
      single(request.path) && given.status === 200
        ? changed(given, (body: object) => ({ ...body, ...wrong }))
        : given;
    await shop.world.edit('Instance', 'web-eu', { tags: ['changed'] });
    await shop.world.until(() => shop.ready() === 'False Unknown', HOUR);
    expect(shop.message()).toContain(field === 'id' ? 'another id' : field);
    await shop.world.advance(10 * MINUTE);
    expect(shop.writes(before)).toEqual([]);
    shop.spoil = (_request, given) => given;
    await shop.online();
    expect(shop.record().tags).toContain('changed');
  });

  it('with fields that nobody here knows is put back with them', async () => {
    await settled();
    const bodies: Record<string, unknown>[] = [];
    shop.spoil = (request, given) =>
      single(request.path) && given.status === 200
        ? changed(given, (body: object) => ({
            ...body,
            friendly_id: 'web-42',
            icon_metadata: { fill: '#fff' },
          }))
        : given;
    shop.judge = (request) => {
      if (request.method === 'PUT' && single(request.path)) {
        bodies.push(JSON.parse(Buffer.from(request.body ?? '').toString()) as Record<string, unknown>);
      }
      return undefined;
    };
    await shop.world.edit('Instance', 'web-eu', { tags: ['changed'] });
    await shop.world.until(() => bodies.length > 0);
    expect(bodies).toMatchObject([{ friendly_id: 'web-42', icon_metadata: { fill: '#fff' } }]);
    await shop.online();
  });

  it.each(['frozen+deploy', 'done+audit', 'processing+audit', 'unavailable+audit', 'done+', '+'])(
    'with the pair %s is shown, said and left alone',
    async (pair) => {
      await settled('  powerState: Running');
      const [state = '', event = ''] = pair.split('+');
      const { admin } = shop.world.sandbox;
      const before = shop.mark();
      admin.editRecord('instances', shop.record().id, {
        state,
        operation: { ...shop.record().operation, event },
      });
      await shop.world.until(() => shop.ready() === 'Unknown UnknownState', HOUR);
      await shop.world.edit('Instance', 'web-eu', { powerState: 'Stopped', tags: ['not yet'] });
      await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
      await shop.world.advance(20 * MINUTE);
      expect(shop.writes(before)).toEqual([]);
      expect(shop.status().phase).toBe('Unknown');
      expect(shop.status().state ?? '').toBe(state);
      admin.editRecord('instances', shop.record().id, {
        state: 'done',
        operation: { ...shop.record().operation, event: 'deploy' },
      });
      await shop.world.until(() => shop.status().phase === 'ShutDown', HOUR);
    },
  );
});

describe('an operation', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  it('that is stuck is said after operationTimeout, sent no second time, and got over when it ends', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance('  operationTimeout: 10m'));
    await shop.online();
    const fault = shop.world.sandbox.admin.addOperationFault({ operation: 'reinstall', effect: 'stuck' });
    const before = shop.mark();
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await shop.world.advance(9 * MINUTE);
    expect(shop.ready()).toBe('False Reinstalling');
    await shop.world.until(() => shop.ready() === 'False OperationFailed', 10 * MINUTE);
    expect(shop.message()).toContain('operationTimeout');
    shop.restart();
    await shop.world.advance(HOUR);
    expect(shop.ready()).toBe('False OperationFailed');
    expect(shop.writes(before)).toEqual(['PUT reinstall']);
    shop.world.sandbox.admin.removeOperationFault(fault);
    const { id } = shop.record();
    const operations = shop.world.sandbox.admin.records('operations') as unknown as {
      id: string;
      instance: string;
      state: string;
    }[];
    const running = operations.find(
      (operation) => operation.instance === id && operation.state === 'processing',
    );
    shop.world.sandbox.admin.editRecord('operations', running?.id ?? '', { state: 'done' });
    shop.world.sandbox.admin.editRecord('instances', id, { state: 'done' });
    await shop.online();
    expect(shop.status().handledRequests?.['reinstall']).toBe('1');
    expect(shop.status().lastOperation).toMatchObject({ event: 'reinstall', outcome: 'Succeeded' });
  });

  it('is not over because a list trails, shows the one before it, and does not say when it is of', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance());
    await shop.online();
    shop.judge = ({ path }) => (path.endsWith('/operations') ? answer(403, { message: 'no' }) : undefined);
    const request = (token: string): Promise<void> =>
      shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reconfigure': token });
    const handled = (token: string): Promise<void> =>
      shop.world.until(() => shop.status().handledRequests?.['reconfigure'] === token, HOUR);
    await request('1');
    await handled('1');
    await shop.online();
    let before: object[] | undefined;
    shop.spoil = ({ path }, given) =>
      /^\/services\/workspaces\/[^/]+\/instances/.test(path) && given.status === 200
        ? changed(
            given,
            (entries: { updated: string }[]) =>
              (before ??= entries.map(({ updated: _untold, ...entry }) => entry)),
          )
        : given;
    await shop.world.until(() => before !== undefined, HOUR);
    shop.world.sandbox.admin.addOperationFault({ operation: 'reconfigure', effect: 'stuck' });
    await request('2');
    await shop.world.until(() => shop.pair() === 'processing+reconfigure');
    await shop.world.advance(5 * MINUTE);
    expect(shop.status().handledRequests?.['reconfigure']).toBe('1');
    expect(shop.ready()).toBe('False Reconfiguring');
  });

  it('that fails late is said with its log, and not run again', async () => {
    shop = await Shop.open({ sandbox: { durations: { deploy: 4_000, reinstall: 20 * MINUTE } } });
    await shop.world.apply(instance());
    await shop.online();
    shop.world.sandbox.admin.addOperationFault({ operation: 'reinstall', effect: 'fail', times: 1 });
    const before = shop.mark();
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(() => shop.ready() === 'False OperationFailed', HOUR);
    expect(shop.message()).toContain('reinstall failed');
    expect(shop.status().lastOperation).toMatchObject({ event: 'reinstall', outcome: 'Failed' });
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual(['PUT reinstall']);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '2' });
    await shop.online();
    expect(shop.writes(before)).toEqual(['PUT reinstall', 'PUT reinstall']);
  });

  it('that fails from where nothing but its end is taken says so', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance());
    await shop.online();
    shop.world.sandbox.admin.addOperationFault({ operation: 'shutdown', effect: 'fail', times: 1 });
    const before = shop.mark();
    await shop.world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await shop.world.until(() => shop.ready() === 'False OperationFailed', HOUR);
    await shop.world.advance(10 * MINUTE);
    expect(shop.message()).toContain('delete this resource');
    expect(shop.message()).not.toContain('request-');
    expect(shop.writes(before)).toEqual(['PUT shutdown']);
  });

  it('that the service refuses three times in the same state is tried slowly from then on', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance());
    await shop.online();
    shop.judge = (request) =>
      request.path.endsWith('/reinstall') ? answer(409, { message: 'not now' }) : undefined;
    let tried = 0;
    const counting = shop.judge;
    shop.judge = (request) => {
      if (request.path.endsWith('/reinstall')) tried += 1;
      return counting(request);
    };
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(() => shop.ready() === 'False Refused', 10 * MINUTE);
    expect(tried).toBe(3);
    await shop.world.advance(8 * MINUTE);
    expect(tried).toBe(3);
    shop.judge = () => undefined;
    await shop.world.until(() => shop.status().handledRequests?.['reinstall'] === '1', HOUR);
    await shop.online();
  });
});
