import { afterEach, describe, expect, it } from 'vitest';
import { CONNECTION } from '../support/world.ts';
import { BOXES, changed, HOUR, instance, leaseOf, MINUTE, Shop } from './shop.ts';

/** An answer to a list. */
function isList(body: Uint8Array): boolean {
  return Buffer.from(body).toString().startsWith('[');
}

describe('what an older view lacks', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  /** From now on lists show nothing that is made later. */
  function trailing(table: 'instances' | 'boxes'): () => void {
    const known = new Set(shop.world.sandbox.admin.records(table).map(({ id }) => id));
    shop.spoil = (request, given) =>
      request.method === 'GET' && request.path.includes(`/${table}`) && isList(given.body)
        ? changed(given, (entries: { id: string }[]) => entries.filter(({ id }) => known.has(id)))
        : given;
    return () => {
      shop.spoil = (_request, given) => given;
    };
  }

  it('an instance that was let go and is declared again at once is the same one, though lists trail', async () => {
    shop = await Shop.open();
    const prompt = trailing('instances');
    await shop.world.apply(instance('  deletionPolicy: Orphan'));
    await shop.world.until(() => shop.status().id !== undefined);
    const { id } = shop.status();
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    await shop.world.apply(instance());
    await shop.online();
    expect(shop.status().id).toBe(id);
    prompt();
    await shop.world.advance(HOUR);
    expect(shop.records()).toHaveLength(1);
  });

  it('a box that was let go and is declared again at once is not made under another name', async () => {
    shop = await Shop.open();
    trailing('boxes');
    const other = BOXES.split('---')[0]?.replace('name: web', 'name: other') ?? '';
    await shop.world.apply(other.replace('spec:', 'spec:\n  deletionPolicy: Orphan'));
    await shop.world.until(() => shop.ready('other', 'Box') === 'True Settled');
    const count = shop.world.sandbox.admin.records('boxes').length;
    const id = shop.world.get('Box', 'other')?.status?.id;
    await shop.world.delete('Box', 'other');
    await shop.world.until(() => shop.world.get('Box', 'other') === undefined);
    await shop.world.apply(other);
    await shop.world.until(() => shop.ready('other', 'Box') === 'False NameTaken');
    expect(shop.message('other', 'Box')).toContain(id);
    expect(shop.world.sandbox.admin.records('boxes')).toHaveLength(count);
  });

  it('an instance that was deleted and is declared again at once is made without waiting', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    await shop.world.apply(instance());
    await shop.world.until(() => shop.records().length === 1, 5_000);
    expect(shop.writes(0).filter((call) => call === 'POST')).toHaveLength(2);
  });

  it('a record that lists do not show yet is adopted soon after they do', async () => {
    shop = await Shop.open();
    const id = await shop.leftBehind();
    await shop.world.advance(10 * MINUTE);
    let shows = false;
    shop.spoil = (request, given) =>
      !shows && request.path.includes('/instances') && isList(given.body) ? changed(given, () => []) : given;
    await shop.world.apply(instance('', 'other', `{boxwright.dev/adopt: ${id}}`));
    await shop.world.until(() => shop.ready('other') === 'False WaitingForReference');
    await shop.world.advance(8_000);
    shows = true;
    await shop.world.until(() => shop.status('other').id === id, 10_000);
    expect(shop.records()).toHaveLength(1);
  });

  it('a record that lists do not show for longer than they may trail is looked for less often', async () => {
    shop = await Shop.open();
    const before = shop.mark();
    await shop.world.apply(instance('', 'other', '{boxwright.dev/adopt: i-nobody}'));
    await shop.world.advance(MINUTE);
    const calls = (since: number): number =>
      shop.world.sandbox.admin.calls({ since }).filter(({ path }) => path.endsWith('/i-nobody')).length;
    expect(calls(before)).toBeLessThan(10);
    const later = shop.mark();
    await shop.world.advance(5 * MINUTE);
    expect(calls(later)).toBeLessThan(12);
    const atLast = shop.mark();
    await shop.world.advance(24 * HOUR);
    expect(calls(atLast)).toBeLessThan(160);
  });

  it('a record is adopted soon after a short lag has passed', async () => {
    shop = await Shop.open();
    await shop.world.edit('Connection', 'main', { poll: { lagWindow: '5s' } });
    const id = await shop.leftBehind();
    await shop.world.advance(10 * MINUTE);
    const from = shop.world.clock.monotonic();
    shop.spoil = (request, given) =>
      shop.world.clock.monotonic() - from < 5_000 && request.path.includes('/instances') && isList(given.body)
        ? changed(given, () => [])
        : given;
    await shop.world.apply(instance('', 'other', `{boxwright.dev/adopt: ${id}}`));
    await shop.world.until(() => shop.status('other').id === id, 10_000);
    expect(shop.records()).toHaveLength(1);
  });

  it('a provider that never becomes ready is asked about less and less often', async () => {
    shop = new Shop();
    shop.world.start();
    let asked = 0;
    shop.spoil = (request, given) => {
      if (!request.path.includes('/providers') || given.status !== 200) return given;
      asked += 1;
      return changed(given, (body: object) =>
        Array.isArray(body) ? body.map((entry: object) => ({ ...entry, state: 'unavailable' })) : body,
      );
    };
    await shop.world.apply(CONNECTION);
    await shop.world.apply(BOXES);
    await shop.world.until(() => shop.ready('small', 'PolicyBox') === 'False WaitingForReference');
    await shop.world.advance(6 * HOUR);
    asked = 0;
    await shop.world.advance(6 * HOUR);
    expect(asked).toBeLessThan(50);
  });

  it('a provider that has just become ready is not called unready because an older list says so', async () => {
    shop = new Shop();
    shop.world.start();
    let state = 'processing';
    shop.spoil = (request, given) =>
      request.path.includes('/providers') && given.status === 200
        ? changed(given, (body: object) =>
            Array.isArray(body) ? body.map((entry: object) => ({ ...entry, state })) : { ...body, state },
          )
        : given;
    await shop.world.apply(CONNECTION);
    await shop.world.apply(BOXES);
    await shop.world.until(() => shop.ready('small', 'PolicyBox') === 'False WaitingForReference');
    state = 'ready';
    await shop.world.until(() => shop.ready('small', 'PolicyBox') === 'True Settled', 10_000);
    state = 'processing';
    await shop.world.advance(2 * MINUTE);
    const [, small = ''] = BOXES.split('---');
    await shop.world.apply(small.replace('name: small', 'name: second'));
    await shop.world.until(() => shop.ready('second', 'PolicyBox') === 'False WaitingForReference');
    state = 'ready';
    await shop.world.apply(small.replace('name: small', 'name: third'));
    await shop.world.until(() => shop.ready('third', 'PolicyBox') === 'True Settled', 5_000);
    expect(shop.ready('small', 'PolicyBox')).toBe('True Settled');
  });
});

describe('what cannot be read here', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  /** A field that only a newer version knows the words of. */
  function unreadable(kind: 'Instance' | 'InstanceLease', name: string, spec: object): void {
    const { kube } = shop.world;
    const object = shop.world.get(kind, name);
    if (object === undefined) throw new Error(`no ${kind} ${name}`);
    shop.seed(kind, { ...object, spec: { ...object.spec, ...spec } });
    kube.endWatches();
  }

  it('is no lease that is gone: the one on the record stays', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 8h'));
    await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'True Settled');
    const { lease } = shop.record();
    const before = shop.mark();
    unreadable('InstanceLease', 'nights', { operation: 'Hibernate' });
    await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'False NeedsUser');
    await shop.world.edit('Instance', 'web-eu', { tags: ['other'] });
    await shop.world.advance(HOUR);
    expect(shop.record().lease).toEqual(lease);
    expect(shop.writes(before)).toEqual(['PUT']);
    await shop.world.edit('InstanceLease', 'nights', { operation: 'Shutdown' });
    await shop.world.until(() => shop.ready('nights', 'InstanceLease') === 'True Settled', HOUR);
    expect(shop.record().lease).toEqual(lease);
    unreadable('InstanceLease', 'nights', { operation: 'Hibernate' });
    await shop.world.delete('InstanceLease', 'nights');
    await shop.world.until(() => [undefined, 'alwayson'].includes(shop.record().lease?.operation), HOUR);
  });

  it('is still a user of its box, its policy box and its connection', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance());
    await shop.online();
    unreadable('Instance', 'web-eu', { applyChanges: 'Ask' });
    await shop.world.until(() => shop.ready() === 'False NeedsUser');
    for (const [kind, name] of [
      ['Box', 'web'],
      ['PolicyBox', 'small'],
      ['Connection', 'main'],
    ] as const) {
      await shop.world.delete(kind, name);
      await shop.world.until(() => shop.ready(name, kind) === 'False InUse');
      expect(shop.message(name, kind)).toContain('Instance/web-eu');
    }
    await shop.world.advance(HOUR);
    expect(shop.world.sandbox.admin.records('boxes').length).toBeGreaterThanOrEqual(2);
    expect(shop.records()).toHaveLength(1);
  });
});
