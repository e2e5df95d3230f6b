import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { KubePort } from '../../src/kube/port.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { CONNECTION, seeded } from '../support/world.ts';
import { answer, BOXES, changed, changedInstances, HOUR, instance, leaseOf, MINUTE, Shop } from './shop.ts';

const RECREATE = '  onMissing: Recreate';
const MOVED = 'https://moved.test';

/** Another service that knows the account. */
function service(clock: VirtualClock): Sandbox {
  return createSandbox({
    clock,
    random: seeded(7),
    data: ':memory:',
    account: { email: 'ops@example.com', password: 'secret-password', token: 'token-of-ops' },
    teams: ['shop'],
  });
}

/** A step that `updated` of a record takes each time it is asked for. */
function heart(): () => string {
  let beats = 0;
  return () => `2027-01-01 00:00:00.${String((beats += 1)).padStart(6, '0')}`;
}

/** What befalls users whose luck is bad, and services that stay odd for ever. */
describe('an unlucky user', () => {
  let shop: Shop;
  /** What the judges say of what the cluster itself has made of the operator's writes. */
  let excused: RegExp | undefined;
  afterEach(async () => {
    const excuse = excused;
    excused = undefined;
    await shop.close().catch((error: Error) => {
      const [, ...said] = error.message.split('\n');
      if (excuse === undefined || !said.every((line) => excuse.test(line))) throw error;
    });
  });

  async function online(spec = ''): Promise<string> {
    shop = await Shop.open();
    await shop.world.apply(instance(spec));
    await shop.online();
    return shop.record().id;
  }

  function terminate(id: string): Promise<number> {
    return shop.byHand('DELETE', `/services/instances/${id}?operation=terminate`);
  }

  // The finalizer goes with a refused create, and nobody looks after the earlier records when the resource is deleted.
  it('keeps no earlier record when a create was refused before the deletion', async () => {
    const first = await online(RECREATE);
    shop.judge = ({ method, path }) =>
      method === 'POST' && path === '/services/instances' ? answer(422, { message: 'no room' }) : undefined;
    await terminate(first);
    await shop.world.until(() => shop.ready() === 'False Refused', HOUR);
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    expect(shop.records()).toEqual([]);
  });

  // 3,276 DELETEs an hour: each 409 speaks of another `updated`, and counts as the first.
  it('does not hammer a service that refuses a terminate and moves `updated` each time', async () => {
    const id = await online();
    const beat = heart();
    let sent = 0;
    shop.judge = ({ method }) => {
      if (method !== 'DELETE') return undefined;
      sent += 1;
      shop.world.sandbox.admin.editRecord('instances', id, { updated: beat() });
      return answer(409, { message: 'not now' });
    };
    await shop.world.delete('Instance', 'web-eu');
    await shop.world.advance(HOUR);
    expect(sent).toBeLessThanOrEqual(20);
    shop.judge = () => undefined;
    await shop.gone();
  });

  // A request that the service refuses kept all later ones back for up to 6 h at a time.
  it('has a request carried out beside another one that the service refuses', async () => {
    await online();
    shop.judge = ({ path }) => (path.endsWith('/reinstall') ? answer(400, { message: 'no' }) : undefined);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': 'a' });
    await shop.world.until(() => shop.ready() === 'False Refused');
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reconfigure': 'b' });
    await shop.world.until(() => shop.status().handledRequests?.['reconfigure'] === 'b', 5 * MINUTE);
    expect(shop.status().handledRequests?.['reinstall']).toBeUndefined();
  });

  // currentOperation stayed for ever: `updated` never stood still for a lag window, and all else waited for it.
  it('is not stuck with an operation that had no effect, however often `updated` moves', async () => {
    const id = await online();
    const beat = heart();
    let sent = 0;
    shop.judge = ({ path }) => {
      if (!path.endsWith('/reinstall')) return undefined;
      sent += 1;
      return answer(202, shop.record());
    };
    shop.spoil = ({ method, path }, given) =>
      method === 'GET' && path === `/services/instances/${id}` && given.status === 200
        ? changed(given, (record: object) => ({ ...record, updated: beat() }))
        : given;
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': 'a' });
    await shop.world.advance(MINUTE);
    await shop.world.edit('Instance', 'web-eu', { tags: ['changed'] });
    await shop.world.until(() => shop.record(id).tags.includes('changed'), HOUR);
    expect(sent).toBeLessThanOrEqual(3);
  });

  // "The lease has ended and was carried out", True, while the machine runs on for good.
  it('has the end of a lease carried out though somebody else acted in the same moment', async () => {
    shop = await Shop.open();
    shop.spoil = (request, given) =>
      changedInstances(request, given, ({ lease: _lost, ...record }: { lease?: unknown }) => record);
    await shop.world.apply(instance('  lease: {operation: Shutdown, after: 1h}'));
    await shop.world.until(() => shop.status().lease?.by === 'Operator', 30 * MINUTE);
    const { id } = shop.record();
    shop.world.sandbox.admin.editRecord('instances', id, { lease: undefined });
    let sent = 0;
    shop.judge = ({ path }) => {
      if (!path.endsWith('/shutdown') || (sent += 1) > 1) return undefined;
      const acts = shop.byHand('PUT', `/services/instances/${id}/reconfigure`);
      return acts.then(() => answer(502, { message: 'bad gateway' }));
    };
    await shop.world.until(() => sent > 0, 2 * HOUR);
    await shop.world.until(() => shop.pair() === 'done+shutdown_service', HOUR);
    await shop.world.until(() => shop.ready() === 'True LeaseReleased', HOUR);
    expect(sent).toBe(2);
  });

  // 1,188 writes a minute to the resource, and no word: adopted, given up, adopted.
  it('may keep the annotation with which a record was adopted that has ended since', async () => {
    shop = await Shop.open();
    const id = await shop.leftBehind();
    await shop.world.apply(instance(RECREATE, 'web-eu', `{boxwright.dev/adopt: ${id}}`));
    await shop.online();
    await terminate(id);
    await shop.world.until(() => shop.status().id !== id && shop.ready() === 'True Settled', HOUR);
    expect(shop.records()).toHaveLength(2);
  });

  // The same without a record that was ever seen to be well.
  it('is told that an ended record is nothing to take over where another would be made', async () => {
    shop = await Shop.open();
    const id = await shop.leftBehind();
    await terminate(id);
    await shop.world.advance(MINUTE);
    await shop.world.apply(instance(RECREATE, 'web-eu', `{boxwright.dev/adopt: ${id}}`));
    const before = (): number => Number(shop.world.get('Instance', 'web-eu')?.metadata.resourceVersion);
    await shop.world.advance(MINUTE);
    const version = before();
    await shop.world.advance(HOUR);
    expect(before() - version).toBeLessThanOrEqual(5);
    expect(shop.ready()).toBe('False Conflict');
    expect(shop.message()).toMatch(/has ended|is terminated/);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/adopt': null });
    await shop.online();
    expect(shop.status().id).not.toBe(id);
  });

  // It waited for ever for what was adopted long ago, as if it had never been there.
  it('gets an adopted box made again that was deleted on the service', async () => {
    shop = await Shop.open();
    const id = shop.world.get('Box', 'web')?.status?.id ?? '';
    await shop.world.edit('Box', 'web', { deletionPolicy: 'Orphan' });
    await shop.world.delete('Box', 'web');
    await shop.world.until(() => shop.world.get('Box', 'web') === undefined);
    await shop.world.apply(
      BOXES.replace('{name: web}', `{name: web, annotations: {boxwright.dev/adopt: ${id}}}`),
    );
    await shop.world.until(() => shop.world.get('Box', 'web')?.status?.id === id);
    await shop.world.advance(5 * MINUTE);
    shop.world.sandbox.admin.removeRecord('boxes', id);
    await shop.world.until(() => (shop.world.get('Box', 'web')?.status?.id ?? id) !== id, HOUR);
    await shop.world.until(() => shop.ready('web', 'Box') === 'True Settled');
    expect(shop.world.sandbox.admin.records('boxes').some((box) => box.id === id)).toBe(false);
  });

  // The note of a create of unknown outcome was taken for "nothing was sent": a second machine.
  it('gets no second record when the annotations are wiped in the middle of a create', async () => {
    shop = await Shop.open();
    shop.world.sandbox.admin.setListLag({ polls: 5 });
    let sent = 0;
    shop.spoil = ({ method, path }, given) =>
      method === 'POST' && path === '/services/instances' && sent++ === 0
        ? answer(502, { message: 'bad gateway' })
        : given;
    await shop.world.apply(instance());
    await shop.world.until(() => sent > 0);
    await shop.world.advance(1_500);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/create-intent': null });
    await shop.online();
    expect(shop.records()).toHaveLength(1);
  });

  /** A cluster whose policy takes something out of whatever the operator writes to the metadata of instances. */
  async function stripping(take: (metadata: Metadata) => void): Promise<{ patches: number }> {
    excused = /no legal path/;
    const count = { patches: 0 };
    const between = (port: KubePort): KubePort => ({
      watch: (request) => port.watch(request),
      request: (request) => {
        const { method, path } = request;
        if (method !== 'PATCH' || !/\/instances\/[^/]+$/.test(path)) return port.request(request);
        count.patches += 1;
        // Enough is enough: what has no bound would go on for ever.
        if (count.patches > 1_000) return new Promise(() => undefined);
        const body = structuredClone(request.body) as { metadata: Metadata };
        take(body.metadata);
        return port.request({ ...request, body });
      },
    });
    shop = await Shop.open({ kubePort: between });
    await shop.world.apply(instance());
    await shop.world.advance(HOUR);
    return count;
  }

  // Thousands of PATCHes a second, a deployed machine that no finalizer guards, and "The operator reconciles".
  it('is told when the cluster does not keep the finalizer, and nothing is created', async () => {
    const count = await stripping((metadata) => delete metadata.finalizers);
    expect(count.patches).toBeLessThanOrEqual(20);
    expect(shop.ready()).toBe('False RefusedByCluster');
    expect(shop.message()).toContain('finalizer');
    expect(shop.records()).toEqual([]);
  });

  it.each(['create-intent', 'external-id'])(
    'is told when the cluster does not keep the annotation %s',
    async (name) => {
      const count = await stripping(({ annotations }) => delete annotations?.[`boxwright.dev/${name}`]);
      expect(count.patches).toBeLessThanOrEqual(20);
      expect(shop.ready()).toBe('False RefusedByCluster');
      expect(shop.message()).toContain(name);
      expect(shop.records().length).toBe(name === 'create-intent' ? 0 : 1);
    },
  );

  // 8,641 looks a day at a workspace that is only misspelt.
  it.each([
    ['names a workspace that is not there', { workspace: 'nowhere' }, undefined],
    ['names an endpoint that knows no workspaces', {}, 404],
    ['names an endpoint that answers no JSON', {}, 200],
  ] as const)('who %s is told so, and the service is asked ever less often', async (_what, spec, status) => {
    shop = await Shop.open();
    let asked = 0;
    shop.judge = () => {
      asked += 1;
      return status === undefined ? undefined : { status, headers: {}, body: Buffer.from('<html>') };
    };
    await shop.world.apply(CONNECTION);
    await shop.world.edit('Connection', 'main', { ...spec, release: '4.1' });
    await shop.world.advance(24 * HOUR);
    expect(asked).toBeLessThanOrEqual(24 * 20);
    expect(shop.ready('main', 'Connection')).toMatch(/^False NeedsUser|Unknown/);
  });

  // "Ambiguous: i-1, i-1": the same record twice in a list is one record.
  it('is not asked to choose between a record and itself, which a list shows twice', async () => {
    shop = await Shop.open();
    let sent = 0;
    shop.spoil = ({ method, path }, given) => {
      if (method === 'POST' && path === '/services/instances' && sent++ === 0) return answer(502, {});
      const isList = method === 'GET' && /\/instances\/?(\?.*)?$/.test(path) && given.status === 200;
      return isList ? changed(given, (records: object[]) => [...records, ...records]) : given;
    };
    await shop.world.apply(instance());
    await shop.online();
    expect(shop.records()).toHaveLength(1);
  });

  // The record that the create made was nobody's, and went on when the resource went.
  it('keeps hold of what a create makes though the resource is set to Observe meanwhile', async () => {
    shop = await Shop.open();
    shop.world.sandbox.admin.setListLag({ polls: 3 });
    let sent = 0;
    shop.spoil = ({ method, path }, given) =>
      method === 'POST' && path === '/services/instances' && sent++ === 0 ? answer(502, {}) : given;
    await shop.world.apply(instance());
    await shop.world.until(() => sent > 0);
    await shop.world.edit('Instance', 'web-eu', { managementPolicy: 'Observe' });
    await shop.world.until(() => shop.status().id !== undefined, 10 * MINUTE);
    await shop.world.until(() => shop.ready() === 'True Observed', 10 * MINUTE);
    expect(shop.status().id).toBe(shop.records()[0]?.id);
    expect(sent).toBe(1);
  });

  it('who sets a resource to Observe before its create was sent has nothing created', async () => {
    shop = await Shop.open();
    shop.judge = ({ method, path }) =>
      method === 'POST' && path === '/services/instances' ? answer(503, {}) : undefined;
    await shop.world.apply(instance());
    await shop.world.until(() => shop.ready() === 'False Creating');
    await shop.world.edit('Instance', 'web-eu', { managementPolicy: 'Observe' });
    shop.judge = () => undefined;
    await shop.world.advance(HOUR);
    expect(shop.records()).toEqual([]);
    expect(shop.world.get('Instance', 'web-eu')?.metadata.annotations).toBeUndefined();
    expect(shop.world.get('Instance', 'web-eu')?.metadata.finalizers).toBeUndefined();
    expect(shop.ready()).toBe('False WaitingForReference');
  });

  // "Nothing is created", while the machine runs whose create was answered a moment before.
  it('who pauses in the very moment of a create is shown what it has made', async () => {
    shop = await Shop.open();
    let paused: Promise<void> | undefined;
    shop.judge = ({ method, path }) => {
      if (method === 'POST' && path === '/services/instances') {
        paused ??= shop.world.edit('Instance', 'web-eu', { paused: true });
      }
      return undefined;
    };
    await shop.world.apply(instance());
    await shop.world.advance(HOUR);
    expect(shop.records()).toHaveLength(1);
    expect(
      shop.status().id ??
        shop.world.get('Instance', 'web-eu')?.metadata.annotations?.['boxwright.dev/external-id'],
    ).toBe(shop.record(shop.records()[0]?.id).id);
    expect(shop.message()).not.toContain('nothing is created');
    await shop.world.edit('Instance', 'web-eu', { paused: false });
    await shop.online();
    expect(shop.records()).toHaveLength(1);
  });

  // "Waits for the effect of terminate on the service", for ever, with two reads every ten seconds.
  it.each([
    ['Instance', 'web-eu'],
    ['Box', 'web'],
  ] as const)(
    'is told when the service accepts to end a record again and again, and does not (%s)',
    async (kind, name) => {
      shop = await Shop.open();
      if (kind === 'Instance') {
        await shop.world.apply(instance());
        await shop.online();
      }
      let sent = 0;
      shop.judge = ({ method }) => {
        if (method !== 'DELETE') return undefined;
        sent += 1;
        return { status: 202, headers: {}, body: Buffer.alloc(0) };
      };
      await shop.world.delete(kind, name);
      await shop.world.advance(2 * HOUR);
      expect(sent).toBeGreaterThan(2);
      const before = shop.mark();
      await shop.world.advance(HOUR);
      const looks = shop.world.sandbox.admin
        .calls({ since: before })
        .filter(({ method }) => method === 'GET');
      expect(looks.length).toBeLessThanOrEqual(120);
      expect(shop.message(name, kind)).toMatch(/accepted .* no effect.*deletionPolicy Orphan/);
      shop.judge = () => undefined;
      await shop.world.until(() => shop.world.get(kind, name) === undefined, 24 * HOUR);
    },
  );

  // "The instance was deleted on the service", which nobody had done, and nothing was sent any more.
  it.each(['Hold', 'Recreate'])(
    'hears that a create is accepted and makes nothing, and gets it slowly again (onMissing %s)',
    async (onMissing) => {
      shop = await Shop.open();
      const sent: string[] = [];
      shop.judge = ({ method, path, body }) => {
        if (method !== 'POST' || path !== '/services/instances') return undefined;
        sent.push(randomUUID());
        const record = JSON.parse(Buffer.from(body ?? '').toString()) as object;
        const operation = { event: 'deploy' };
        return answer(200, { ...record, id: sent.at(-1), state: 'processing', operation });
      };
      await shop.world.apply(instance(`  onMissing: ${onMissing}`));
      await shop.world.until(() => sent.length === 1);
      await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': 'now' });
      const said = new Set<string>();
      await shop.world.until(() => {
        said.add(shop.message());
        return shop.ready() === 'False NotApplied';
      }, HOUR);
      expect([...said].filter((words) => words.includes('deleted'))).toEqual([]);
      expect(shop.message()).toContain('no read shows it');
      expect(shop.status().id).toBeUndefined();
      await shop.world.advance(24 * HOUR);
      expect(sent.length).toBeGreaterThan(3);
      expect(sent.length).toBeLessThanOrEqual(12);
      shop.judge = () => undefined;
      await shop.world.until(() => shop.ready() === 'True Settled', 7 * HOUR);
      expect(shop.records()).toHaveLength(1);
    },
  );

  // A GET every five seconds for good, and not a word, after the resource was gone.
  it('hears when what is there again after its deletion cannot be ended, and it is looked at ever less often', async () => {
    const id = await online();
    await shop.world.advance(5 * MINUTE);
    const kept = shop.world.sandbox.admin.snapshot();
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    shop.world.sandbox.admin.restore(kept);
    shop.judge = ({ method }) => {
      if (method !== 'DELETE') return undefined;
      const operation = { ...shop.record(id).operation, event: 'terminate' };
      shop.world.sandbox.admin.editRecord('instances', id, { state: 'unavailable', operation });
      return answer(202, shop.record(id));
    };
    await shop.world.advance(30 * MINUTE);
    const before = shop.mark();
    await shop.world.advance(6 * HOUR);
    const looks = shop.world.sandbox.admin.calls({ since: before }).filter(({ path }) => path.includes(id));
    expect(looks.length).toBeLessThanOrEqual(6 * 12);
    const told = shop.world.events.filter(({ note }) => note.includes(id) && note.includes('does not end'));
    expect(told).toHaveLength(1);
  });

  // A second machine: the record of the first create was looked for in the new workspace alone.
  it.each([false, true])(
    'gets no second record when the workspace of the Connection changes in the middle of a create (restart: %s)',
    async (restarts) => {
      shop = await Shop.open();
      shop.world.sandbox.admin.setListLag({ polls: 2 });
      let sent = 0;
      shop.spoil = ({ method, path }, given) =>
        method === 'POST' && path === '/services/instances' && sent++ === 0 ? answer(502, {}) : given;
      await shop.world.apply(instance());
      await shop.world.until(() => sent > 0);
      await shop.world.edit('Connection', 'main', { workspace: 'shop' });
      if (restarts) shop.restart();
      await shop.online();
      expect(shop.records()).toMatchObject([{ owner: 'ops' }]);
      expect(shop.status()).toMatchObject({ home: { owner: 'ops' } });
    },
  );

  // status.home named a workspace that does not hold the record: its absence would have been proved there.
  it('is shown where the record is though the workspace changed just before it was claimed', async () => {
    shop = await Shop.open();
    let edits: Promise<unknown> | undefined;
    shop.judge = ({ method, path }) => {
      if (method === 'POST' && path === '/services/instances') {
        edits ??= Promise.all([
          shop.world.annotate('Instance', 'web-eu', { 'example.com/touched': 'yes' }),
          shop.world.edit('Connection', 'main', { workspace: 'shop' }),
        ]);
      }
      return undefined;
    };
    await shop.world.apply(instance());
    await shop.online();
    expect(shop.records()).toMatchObject([{ owner: 'ops' }]);
    expect(shop.status()).toMatchObject({ home: { owner: 'ops' } });
  });

  // A second machine at the other service, and the first one nobody's.
  it('gets no second record when the Connection moves in the middle of a create', async () => {
    const clock = new VirtualClock();
    const other = service(clock);
    shop = await Shop.open({ clock, others: { [MOVED]: other } });
    // What the instance needs is at both services, under the same ids.
    other.admin.restore(shop.world.sandbox.admin.snapshot());
    shop.world.sandbox.admin.setListLag({ polls: 5 });
    let sent = 0;
    shop.spoil = ({ method, path }, given) =>
      method === 'POST' && path === '/services/instances' && sent++ === 0 ? answer(502, {}) : given;
    await shop.world.apply(instance());
    await shop.world.until(() => sent > 0);
    await shop.world.edit('Connection', 'main', { endpoint: MOVED });
    await shop.world.advance(HOUR);
    expect(sent).toBe(1);
    expect(shop.ready()).toBe('False NeedsUser');
    expect(shop.message()).toContain('https://service.test');
    await shop.world.delete('Instance', 'web-eu');
    await shop.world.advance(HOUR);
    expect(shop.message()).toContain('deletionPolicy Orphan');
    shop.world.sandbox.admin.setListLag({});
    await shop.world.edit('Connection', 'main', { endpoint: 'https://service.test' });
    await shop.gone();
    expect(shop.records()).toEqual([]);
    await other.stop();
  });

  // The change went to the service that has no such record, made from what the other one had shown.
  it('sends nothing to a service that the Connection has just been moved to for what the other one has', async () => {
    const clock = new VirtualClock();
    const other = service(clock);
    shop = await Shop.open({ clock, others: { [MOVED]: other } });
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.advance(5_000);
    await shop.world.edit('Connection', 'main', { endpoint: MOVED });
    await shop.world.edit('Instance', 'web-eu', { tags: ['blue'] });
    await shop.world.until(() => shop.ready() === 'False NeedsUser');
    expect(shop.message()).toContain('last found at https://service.test');
    expect(
      other.admin.calls({}).filter(({ path, method }) => method !== 'GET' && /instances/.test(path)),
    ).toEqual([]);
    await shop.world.edit('Connection', 'main', { endpoint: 'https://service.test' });
    await shop.world.until(() => shop.record().tags.includes('blue'));
    await other.stop();
  });

  it('has its record where it was created, though the Connection moves before the answer comes', async () => {
    const clock = new VirtualClock();
    const other = service(clock);
    shop = await Shop.open({ clock, others: { [MOVED]: other } });
    other.admin.restore(shop.world.sandbox.admin.snapshot());
    let isSent = false;
    shop.after = () =>
      shop.records().length > 0 && !isSent ? ((isSent = true), clock.sleep(5_000)) : Promise.resolve();
    await shop.world.apply(instance());
    await shop.world.until(() => isSent);
    await shop.world.edit('Connection', 'main', { endpoint: MOVED });
    await shop.world.advance(HOUR);
    expect(other.admin.records('instances')).toEqual([]);
    expect(shop.message()).toContain('https://service.test');
    await shop.world.edit('Connection', 'main', { endpoint: 'https://service.test' });
    await shop.online();
    expect(shop.records()).toHaveLength(1);
    await other.stop();
  });

  // A day's work went with it: it was up, and only a tag was not as declared.
  it('keeps a machine that has come up when an earlier one is there again, though it never was Ready', async () => {
    shop = await Shop.open();
    shop.spoil = (request, given) =>
      changedInstances(request, given, ({ tags, ...record }: { tags?: string[] }) => ({
        ...record,
        tags: tags?.map((tag) => tag.toLowerCase()),
      }));
    await shop.world.apply(instance(`${RECREATE}\n  tags: [Web]`));
    await shop.world.until(() => shop.ready() === 'False NotApplied', HOUR);
    await shop.world.advance(5 * MINUTE);
    const first = shop.record().id;
    const { admin } = shop.world.sandbox;
    const kept = admin.snapshot();
    admin.removeRecord('instances', first);
    await shop.world.until(() => shop.status().id !== first && shop.ready() === 'False NotApplied', HOUR);
    const second = shop.status().id ?? '';
    const now = admin.snapshot();
    const rows = [...(now.tables['instances'] ?? []), ...(kept.tables['instances'] ?? [])];
    admin.restore({ ...now, tables: { ...now.tables, instances: rows } });
    await shop.world.advance(2 * HOUR);
    expect(new Set(shop.records().map(({ id }) => id))).toEqual(new Set([first, second]));
    expect(shop.status().id).toBe(second);
  });

  describe('whose Secret is gone', () => {
    const WITH_SECRET =
      '  variables: [{name: ADMIN, type: Password, valueFrom: {secretKeyRef: {name: admin, key: password}}}]';
    const SECRET =
      'apiVersion: v1\nkind: Secret\nmetadata: {name: admin}\nstringData: {password: first-password}\n';

    async function without(spec = ''): Promise<void> {
      shop = await Shop.open();
      await shop.world.apply(SECRET);
      await shop.world.apply(instance(`${WITH_SECRET}\n${spec}`));
      await shop.online();
      await shop.world.delete('Secret', 'admin');
      await shop.world.edit('Instance', 'web-eu', { members: [] }).catch(() => undefined);
      await shop.world.until(() => shop.ready() === 'False WaitingForReference', HOUR);
    }

    // Content that waits kept power, requests and the end of a lease back for good (R4).
    it('has power switched, requests carried out, and content applied once it is back', async () => {
      await without();
      const before = shop.mark();
      await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': 'a' });
      await shop.world.until(() => shop.status().handledRequests?.['reinstall'] === 'a', 5 * MINUTE);
      await shop.world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
      await shop.world.until(() => shop.pair() === 'done+shutdown_service', 5 * MINUTE);
      await shop.world.until(() => shop.ready() === 'False WaitingForReference', 5 * MINUTE);
      expect(shop.message()).toContain('admin');
      expect(shop.writes(before)).toEqual(['PUT reinstall', 'PUT shutdown']);
      await shop.world.apply(SECRET);
      await shop.world.until(() => shop.ready() === 'True ShutDown', HOUR);
      expect(shop.writes(before)).toEqual(['PUT reinstall', 'PUT shutdown']);
      await shop.world.apply(SECRET.replace('first', 'second'));
      await shop.world.edit('Instance', 'web-eu', { powerState: 'Running' });
      await shop.online();
      await shop.world.advance(HOUR);
      expect(shop.writes(before).slice(2)).toEqual(['PUT', 'PUT poweron']);
    });

    it('has its lease put back on the record, and its end carried out', async () => {
      await without('  lease: {operation: Shutdown, after: 1h}');
      shop.world.sandbox.admin.editRecord('instances', shop.record().id, { lease: undefined });
      await shop.world.until(() => shop.pair() === 'done+shutdown_service', 3 * HOUR);
      await shop.world.until(() => shop.status().phase === 'ShutDown', MINUTE);
      expect(shop.status().lease?.released).toBe(true);
    });
  });

  // A list and a GET every five seconds for good, and nobody was told which entry, or how to get past it.
  it('is told which entry of a list cannot be read, how to let go, and it is read ever less often', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance('  deletionPolicy: Orphan', 'other'));
    await shop.online('other');
    const strange = shop.status('other').id ?? '';
    await shop.world.delete('Instance', 'other');
    await shop.gone('other');
    let sent = 0;
    shop.judge = ({ method, path }) =>
      method === 'GET' && sent > 0 && path.startsWith(`/services/instances/${strange}`)
        ? answer(200, { id: strange, tags: 5 })
        : undefined;
    shop.spoil = ({ method, path }, given) => {
      if (method === 'POST' && path === '/services/instances' && sent++ === 0) return answer(502, {});
      const isList = method === 'GET' && /\/instances\/?(\?.*)?$/.test(path) && given.status === 200;
      if (!isList) return given;
      // Its entries lack what would tell whose they are (service-behaviour.md 2.4).
      return changed(given, (records: { tags?: unknown }[]) =>
        records.map(({ tags: _tags, ...record }) => record),
      );
    };
    await shop.world.apply(instance());
    await shop.world.advance(10 * MINUTE);
    const before = shop.world.sandbox.admin.calls().length;
    await shop.world.advance(HOUR);
    expect(shop.world.sandbox.admin.calls().length - before).toBeLessThanOrEqual(60);
    expect(shop.ready()).toBe('False Unknown');
    expect(shop.message()).toContain(strange);
    await shop.world.delete('Instance', 'web-eu');
    await shop.world.advance(MINUTE);
    expect(shop.message()).toContain(strange);
    expect(shop.message()).toContain('deletionPolicy Orphan');
    shop.judge = () => undefined;
    await shop.gone();
    expect(shop.records().map(({ id }) => id)).toEqual([strange]);
  });

  // A machine for another hour, whenever somebody cleaned up what had ended.
  it.each(['Terminate', 'Shutdown'])(
    'gets nothing deployed again whose lease (%s) has ended, though the record is deleted and onMissing is Recreate',
    async (operation) => {
      shop = await Shop.open();
      await shop.world.apply(instance(`${RECREATE}\n  lease: {operation: ${operation}, after: 1h}`));
      await shop.online();
      await shop.world.until(() => shop.ready() === 'True LeaseReleased', 3 * HOUR);
      await shop.world.advance(5 * MINUTE);
      const before = shop.mark();
      shop.world.sandbox.admin.removeRecord('instances', shop.record().id);
      await shop.world.until(() => shop.ready() === 'False RecordMissing', HOUR);
      await shop.world.advance(3 * HOUR);
      shop.restart();
      await shop.world.advance(3 * HOUR);
      expect(shop.writes(before)).toEqual([]);
      expect(shop.message()).toContain('its lease had ended');
      await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/renew': 'anew' });
      await shop.online();
      expect(shop.records()).toHaveLength(1);
    },
  );

  it('has a lease taken off with the reference to it', async () => {
    shop = await Shop.open();
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 2h'));
    await shop.world.apply(instance('  leaseRef: {name: nights}'));
    await shop.online();
    await shop.world.delete('InstanceLease', 'nights');
    await shop.world.edit('Instance', 'web-eu', { leaseRef: null });
    await shop.world.until(() => shop.record().lease?.operation !== 'shutdown', 20 * MINUTE);
    await shop.world.until(() => shop.ready() === 'True Settled');
    expect(shop.status().lease?.source).toBeUndefined();
  });

  // "Waits until the Instance has taken the lease", for ever.
  it.each([
    ['only observed', { managementPolicy: 'Observe' }, 'Observe'],
    ['paused', { paused: true }, 'paused'],
  ])('is told that an instance that is %s takes no lease', async (_what, spec, word) => {
    await online();
    await shop.world.edit('Instance', 'web-eu', spec);
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 2h'));
    await shop.world.advance(MINUTE);
    expect(shop.message('nights', 'InstanceLease')).toContain(word);
  });
});

interface Metadata {
  finalizers?: string[];
  annotations?: Record<string, string | null>;
}
