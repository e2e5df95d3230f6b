import { afterEach, describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/sandbox/admin/snapshot.ts';
import { ServiceTransportError } from '../../src/service/index.ts';
import { answer, changed, changedRequest, HOUR, instance, MINUTE, Shop } from './shop.ts';

const ORPHAN = '  deletionPolicy: Orphan';

describe('a creation', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  function ids(): string[] {
    return shop.records().map(({ id }) => id);
  }

  /** Puts a record back that a snapshot holds, beside all that is there. */
  function bringBack(kept: Snapshot, id: string): void {
    const { admin } = shop.world.sandbox;
    const now = admin.snapshot();
    const row = kept.tables['instances']?.find((one) => one.id === id);
    if (row === undefined) throw new Error(`no ${id} to bring back`);
    admin.restore({
      ...now,
      tables: { ...now.tables, instances: [...(now.tables['instances'] ?? []), row] },
    });
  }

  it('looks for its record in a list that began after it was asked for', async () => {
    shop = await Shop.open();
    const id = await shop.leftBehind();
    const kept = shop.world.sandbox.admin.snapshot();
    shop.world.sandbox.admin.removeRecord('instances', id);
    await shop.world.advance(10 * MINUTE);
    await shop.world.apply(instance('', 'other'));
    await shop.world.until(() => shop.status('other').id !== undefined, MINUTE);
    bringBack(kept, id);
    await shop.world.advance(2_000);
    await shop.world.apply(instance(ORPHAN));
    await shop.online();
    expect(shop.status().id).toBe(id);
    expect(ids()).toHaveLength(2);
  });

  it('finds the record that the same resource has adopted and let go of a moment ago, though lists trail', async () => {
    shop = await Shop.open();
    const id = await shop.leftBehind();
    shop.world.sandbox.admin.editRecord('instances', id, { tags: [] });
    await shop.world.advance(10 * MINUTE);
    shop.world.sandbox.admin.setListLag({ ms: 50_000 });
    await shop.world.apply(instance(ORPHAN, 'second', `{boxwright.dev/adopt: ${id}}`));
    await shop.online('second');
    await shop.world.delete('Instance', 'second');
    await shop.gone('second');
    await shop.world.apply(instance(ORPHAN, 'second'));
    await shop.online('second');
    expect(shop.status('second').id).toBe(id);
    await shop.world.advance(HOUR);
    expect(ids()).toEqual([id]);
  });
});

it('a creation waits ever longer for an earlier record that hangs on its way out, and then goes on', async () => {
  const shop = await Shop.open();
  const id = await shop.leftBehind();
  const { admin } = shop.world.sandbox;
  admin.editRecord('instances', id, { state: 'processing', operation: { event: 'terminate' } });
  await shop.world.advance(5 * MINUTE);
  await shop.world.apply(instance());
  await shop.world.until(() => shop.ready() === 'False Creating');
  const before = shop.mark();
  await shop.world.advance(HOUR);
  expect(admin.calls({ since: before }).length).toBeLessThan(100);
  admin.editRecord('instances', id, { state: 'done' });
  await shop.online();
  expect(shop.status().id).not.toBe(id);
  await shop.close();
});

describe('a workspace in which others have instances', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  /** Leaves the tags of instances out, where `where` says so. */
  function withoutTags(where: (body: { tags?: string[] }, isList: boolean) => boolean): void {
    const spoiled = (entry: { tags?: string[] }, isList: boolean): object =>
      where(entry, isList) ? { ...entry, tags: undefined } : entry;
    shop.spoil = (request, given) =>
      request.method === 'GET' && /\/instances(\/[^/]+)?$/.test(request.path) && given.status === 200
        ? changed(given, (body: object) =>
            Array.isArray(body) ? body.map((entry: object) => spoiled(entry, true)) : spoiled(body, false),
          )
        : given;
  }

  it('takes new ones where the service leaves out tags that are empty', async () => {
    shop = await Shop.open();
    const id = await shop.leftBehind();
    shop.world.sandbox.admin.editRecord('instances', id, { tags: [] });
    withoutTags(({ tags }) => tags?.length === 0);
    await shop.world.advance(10 * MINUTE);
    await shop.world.apply(instance('', 'second'));
    await shop.online('second');
    expect(shop.status('second').id).not.toBe(id);
  });

  it('names the one that may not be read though its tags would tell, and asks for it ever less often', async () => {
    shop = await Shop.open();
    const id = await shop.leftBehind();
    withoutTags((_entry, isList) => isList);
    let reads = 0;
    shop.judge = ({ path }) => {
      if (path !== `/services/instances/${id}`) return undefined;
      reads += 1;
      return answer(403, { message: 'not yours' });
    };
    await shop.world.advance(10 * MINUTE);
    await shop.world.apply(instance('', 'second'));
    await shop.world.advance(MINUTE);
    expect(shop.ready('second')).toBe('False Unknown');
    expect(shop.message('second')).toContain(id);
    expect(shop.message('second')).toContain('403');
    await shop.world.advance(HOUR);
    expect(reads).toBeLessThanOrEqual(25);
    shop.judge = () => undefined;
    await shop.online('second');
  });
});

function isCreate({ method, path }: { method: string; path: string }): boolean {
  return method === 'POST' && /^\/services\/instances(\?|$)/.test(path);
}

describe('a create of unknown outcome', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  /** A service that takes no tags with a deploy, and none later. */
  function keepsNoMarkers(): void {
    shop.alter = (request) => {
      if (isCreate(request)) return changedRequest(request, { instance_tags: [] });
      const isPut = request.method === 'PUT' && /^\/services\/instances\/[^/]+$/.test(request.path);
      return isPut ? changedRequest(request, { tags: [] }) : request;
    };
  }

  /** The answers to creates are lost on their way. */
  function loseCreates(): { sent: number } {
    const count = { sent: 0 };
    shop.spoil = (request, given) => {
      if (!isCreate(request)) return given;
      count.sent += 1;
      throw new ServiceTransportError('Broken', 'the connection was reset', { maybeSent: true });
    };
    return count;
  }

  it('is not sent again where the service keeps no markers: what was made since is named', async () => {
    shop = await Shop.open();
    keepsNoMarkers();
    await shop.world.apply(instance('', 'first'));
    await shop.world.until(() => shop.status('first').phase === 'Online', HOUR);
    const count = loseCreates();
    await shop.world.apply(instance('', 'second'));
    await shop.world.advance(2 * MINUTE);
    shop.restart();
    await shop.world.until(() => shop.ready('second') === 'False Ambiguous', HOUR);
    const made = shop.records().find(({ id }) => id !== shop.status('first').id);
    expect(shop.message('second')).toContain(made?.id);
    expect(shop.message('second')).not.toContain(shop.status('first').id);
    await shop.world.advance(2 * HOUR);
    expect(count.sent).toBe(1);
    await shop.world.annotate('Instance', 'second', { 'boxwright.dev/adopt': made?.id ?? '' });
    await shop.world.until(() => shop.status('second').id === made?.id, HOUR);
    expect(shop.records()).toHaveLength(2);
  });

  it('is sent again where nothing was made and markers are kept', async () => {
    shop = await Shop.open();
    await shop.world.apply(instance('', 'first'));
    await shop.online('first');
    let sent = 0;
    shop.judge = (request) => {
      if (!isCreate(request)) return undefined;
      sent += 1;
      if (sent > 1) return undefined;
      throw new ServiceTransportError('Broken', 'the connection was reset', { maybeSent: true });
    };
    await shop.world.apply(instance('', 'second'));
    await shop.world.advance(MINUTE);
    expect(sent).toBe(1);
    await shop.online('second');
    expect(sent).toBe(2);
  });
});
