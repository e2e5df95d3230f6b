import { afterEach, describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/sandbox/admin/snapshot.ts';
import { CONNECTION, ENDPOINT, NAMESPACE, typeOfKind } from '../support/world.ts';
import { answer, HOUR, instance, MINUTE, Shop } from './shop.ts';

const RECREATE = '  onMissing: Recreate';
const DAY = 24 * HOUR;

interface Former {
  id: string;
  why: 'Gone' | 'Ended' | 'Surplus';
  replacedAt?: string;
}

/** Writes an earlier record into the status of `web-eu`, as whoever may write there can. */
async function forge(shop: Shop, id: string, why: Former['why']): Promise<void> {
  const entry = {
    id,
    why,
    endpoint: ENDPOINT,
    owner: 'ops',
    since: '2026-01-01T00:00:00Z',
  };
  await shop.world.user.mergePatch(
    typeOfKind('Instance'),
    { namespace: NAMESPACE, name: 'web-eu' },
    { status: { former: [entry] } },
    { subresource: 'status' },
  );
}

describe('an earlier record', () => {
  let shop: Shop;
  let kept: Snapshot;
  afterEach(() => shop.close());

  function former(kind: 'Instance' | 'Box' = 'Instance', name = 'web-eu'): Former[] {
    return (shop.world.get(kind, name)?.status as { former?: Former[] } | undefined)?.former ?? [];
  }

  function ids(): string[] {
    return shop.records().map(({ id }) => id);
  }

  async function online(spec = ''): Promise<string> {
    shop = await Shop.open();
    await shop.world.apply(instance(`${RECREATE}\n${spec}`));
    await shop.online();
    await shop.world.advance(5 * MINUTE);
    return shop.record().id;
  }

  /** Takes a record away, as a restore from a backup that is older than the record does. */
  function takeAway(table: 'instances' | 'boxes', id: string): void {
    const { admin } = shop.world.sandbox;
    kept = admin.snapshot();
    admin.removeRecord(table, id);
  }

  /** Brings it back as it was, beside all that was made since. */
  function bringBack(table: 'instances' | 'boxes', id: string): void {
    const { admin } = shop.world.sandbox;
    const now = admin.snapshot();
    const row = kept.tables[table]?.find((one) => one.id === id);
    if (row === undefined) throw new Error(`no ${id} to bring back`);
    admin.restore({ ...now, tables: { ...now.tables, [table]: [...(now.tables[table] ?? []), row] } });
  }

  /** The first one is gone, another is made in its place, and does not come up. */
  async function replacedByHalf(): Promise<[string, string]> {
    const first = await online();
    takeAway('instances', first);
    shop.world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'stuck' });
    await shop.world.until(() => shop.status().id !== first && shop.status().id !== undefined, HOUR);
    return [first, shop.status().id ?? ''];
  }

  /** The first one is gone, and another is Ready in its place. */
  async function replaced(spec = ''): Promise<[string, string]> {
    const first = await online(spec);
    takeAway('instances', first);
    await shop.world.until(() => shop.status().id !== first && shop.ready() === 'True Settled', HOUR);
    return [first, shop.record().id];
  }

  it('that was terminated goes with its resource (H12)', async () => {
    const first = await online();
    await shop.byHand('DELETE', `/services/instances/${first}?operation=terminate`);
    await shop.world.until(() => shop.status().id !== first && shop.ready() === 'True Settled', HOUR);
    expect(ids()).toHaveLength(2);
    expect(former()).toMatchObject([{ id: first, why: 'Ended' }]);
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    expect(ids()).toEqual([]);
  });

  it.each(['Terminate', 'Orphan'])('that was terminated stays where the policy is %s', async (policy) => {
    const first = await online(`  deletionPolicy: ${policy}`);
    await shop.byHand('DELETE', `/services/instances/${first}?operation=terminate`);
    await shop.world.until(() => shop.status().id !== first && shop.ready() === 'True Settled', HOUR);
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    expect(ids()).toHaveLength(2);
  });

  it('that somebody ends again and again is made again slowly, and its resource says so', async () => {
    let terminated = 0;
    await online();
    const end = async (): Promise<void> => {
      for (const { id, state, operation } of shop.records()) {
        if (state !== 'done' || operation.event === 'terminate_service') continue;
        terminated += 1;
        await shop.byHand('DELETE', `/services/instances/${id}?operation=terminate`);
      }
    };
    for (let minutes = 0; minutes < 24 * 60; minutes++) {
      await end();
      await shop.world.advance(MINUTE);
      if (shop.ready() === 'False NotConverging') break;
    }
    expect(shop.ready()).toBe('False NotConverging');
    expect(shop.message()).toContain('onMissing');
    terminated = 0;
    for (let minutes = 0; minutes < 24 * 60; minutes++) {
      await end();
      await shop.world.advance(MINUTE);
    }
    expect(terminated).toBeGreaterThan(1);
    expect(terminated).toBeLessThanOrEqual(9);
    // What is left alone is Ready, and a person who asks gets the next one at once.
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': 'now' });
    await shop.world.until(() => shop.ready() === 'True Settled', HOUR);
  });

  it('that comes back before another is made is taken back', async () => {
    const first = await online();
    takeAway('instances', first);
    shop.judge = (request) =>
      request.method === 'POST' && request.path.startsWith('/services/instances')
        ? answer(422, { message: 'no room' })
        : undefined;
    await shop.world.until(() => shop.ready() === 'False Refused', HOUR);
    expect(former()).toMatchObject([{ id: first, why: 'Gone' }]);
    bringBack('instances', first);
    shop.judge = () => undefined;
    await shop.world.until(() => shop.ready() === 'True Settled', HOUR);
    expect(shop.status().id).toBe(first);
    expect(ids()).toEqual([first]);
    expect(former()).toEqual([]);
  });

  it('that comes back while the new one was never Ready is taken back, and the new one goes', async () => {
    const [first, second] = await replacedByHalf();
    expect(former()).toMatchObject([{ id: first, why: 'Gone' }]);
    bringBack('instances', first);
    await shop.world.until(() => shop.status().id === first, 10 * MINUTE);
    expect(former()).toMatchObject([{ id: second, why: 'Surplus' }]);
    await shop.online();
    expect(shop.message()).toContain(second);
    shop.world.sandbox.admin.removeOperationFault();
    shop.world.sandbox.admin.editRecord('instances', second, { state: 'unavailable' });
    await shop.world.until(() => former().length === 0, HOUR);
    expect(ids()).toEqual([first]);
    expect(shop.world.get('Instance', 'web-eu')?.metadata.annotations?.['boxwright.dev/external-id']).toBe(
      first,
    );
    expect(shop.ready()).toBe('True Settled');
  });

  it('is taken back though the end of the new one fails, which is told and keeps nothing back', async () => {
    const [first, second] = await replacedByHalf();
    shop.world.sandbox.admin.removeOperationFault();
    const failed = {
      state: 'unavailable',
      operation: { ...shop.record(second).operation, event: 'terminate' },
    };
    shop.world.sandbox.admin.editRecord('instances', second, failed);
    let sent = 0;
    shop.judge = (request) => {
      if (request.method !== 'DELETE' || request.path.includes('force')) return undefined;
      sent += 1;
      return answer(200, shop.record(second));
    };
    bringBack('instances', first);
    await shop.world.until(() => shop.status().id === first, 10 * MINUTE);
    await shop.world.until(() => shop.message().includes('Terminate failed 3 times'), HOUR);
    expect(shop.ready()).toBe('True Settled');
    expect(shop.message()).toContain(second);
    await shop.world.advance(6 * HOUR);
    expect(sent).toBe(3);
    await shop.world.edit('Instance', 'web-eu', { tags: ['changed'] });
    await shop.world.until(() => shop.record(first).tags.includes('changed'), MINUTE);
    shop.judge = () => undefined;
    await shop.world.edit('Instance', 'web-eu', { forceTerminateAfter: '1m' });
    await shop.world.until(() => former().length === 0 && shop.ready() === 'True Settled', 2 * HOUR);
    expect(ids()).toEqual([first]);
  });

  it('goes with its resource, though the process ends in between', async () => {
    const [first] = await replaced();
    bringBack('instances', first);
    await shop.world.delete('Instance', 'web-eu');
    for (let at = 0; at < 30; at += 1) {
      shop.restart();
      await shop.world.advance(1_500 + 211 * at);
    }
    await shop.gone();
    expect(ids()).toEqual([]);
  });

  it('that cannot be told to be gone holds its resource, which says so, until deletionPolicy Orphan', async () => {
    const first = await online();
    await shop.byHand('DELETE', `/services/instances/${first}?operation=terminate`);
    await shop.world.until(() => shop.status().id !== first && shop.ready() === 'True Settled', HOUR);
    shop.judge = (request) =>
      request.path.startsWith(`/services/instances/${first}`)
        ? answer(403, { message: 'not yours' })
        : undefined;
    await shop.world.delete('Instance', 'web-eu');
    await shop.world.advance(HOUR);
    expect(shop.ready()).toBe('False Deleting');
    expect(shop.message()).toContain(first);
    expect(ids()).toEqual([first]);
    await shop.world.edit('Instance', 'web-eu', { deletionPolicy: 'Orphan' });
    await shop.gone();
  });

  it('is taken back by a process that starts in between, too', async () => {
    const [first, second] = await replacedByHalf();
    shop.world.sandbox.admin.removeOperationFault();
    shop.world.sandbox.admin.editRecord('instances', second, { state: 'unavailable' });
    bringBack('instances', first);
    for (let at = 0; at < 40; at += 1) {
      shop.restart();
      await shop.world.advance(1_500 + 97 * at);
    }
    await shop.world.until(() => former().length === 0 && shop.ready() === 'True Settled', HOUR);
    expect(ids()).toEqual([first]);
    expect(shop.status().id).not.toBe(second);
  });

  it('of a box that comes back while the new one has no name yet is taken back', async () => {
    shop = await Shop.open();
    const first = shop.world.get('Box', 'web')?.status?.id ?? '';
    await shop.world.advance(5 * MINUTE);
    takeAway('boxes', first);
    shop.judge = (request) =>
      request.method === 'PUT' && request.path.startsWith('/services/boxes/')
        ? answer(409, { message: 'There is a box with that name' })
        : undefined;
    const idNow = (): string | undefined => shop.world.get('Box', 'web')?.status?.id;
    await shop.world.until(() => idNow() !== undefined && idNow() !== first, HOUR);
    const second = idNow();
    bringBack('boxes', first);
    shop.judge = (request) =>
      request.method === 'PUT' && request.path === `/services/boxes/${second}`
        ? answer(409, { message: 'There is a box with that name' })
        : undefined;
    await shop.world.until(
      () =>
        idNow() === first && shop.ready('web', 'Box') === 'True Settled' && former('Box', 'web').length === 0,
      HOUR,
    );
    const boxes = shop.world.sandbox.admin.records('boxes') as { id: string }[];
    expect(boxes.some(({ id }) => id === second)).toBe(false);
  });

  it('of a box goes with its resource, though the box was renamed before another was made', async () => {
    shop = await Shop.open();
    await shop.world.advance(5 * MINUTE);
    const first = shop.world.get('Box', 'web')?.status?.id ?? '';
    takeAway('boxes', first);
    await shop.world.edit('Box', 'web', { name: 'renamed' });
    const idNow = (): string | undefined => shop.world.get('Box', 'web')?.status?.id;
    await shop.world.until(() => idNow() !== first && shop.ready('web', 'Box') === 'True Settled', HOUR);
    bringBack('boxes', first);
    await shop.world.until(() => shop.ready('web', 'Box') === 'False Ambiguous', HOUR);
    await shop.world.delete('Box', 'web');
    await shop.world.until(() => shop.world.get('Box', 'web') === undefined, HOUR);
    const boxes = shop.world.sandbox.admin.records('boxes') as { id: string }[];
    expect(boxes.some(({ id }) => id === first)).toBe(false);
  });

  it('of a box leaves instances that were deployed from it, which say so', async () => {
    await online();
    const first = shop.world.get('Box', 'web')?.status?.id ?? '';
    shop.world.sandbox.admin.removeRecord('boxes', first);
    await shop.world.until(
      () => shop.world.condition('Instance', 'web-eu', 'UpdateAvailable') !== undefined,
      HOUR,
    );
    const { reason, message = '' } = shop.world.condition('Instance', 'web-eu', 'UpdateAvailable') ?? {};
    expect(reason).toBe('BoxReplaced');
    expect(message).toContain(first);
    expect(message).not.toContain('request-reinstall');
    expect(shop.ready()).toBe('True Settled');
  });

  it('that comes back later is said, and nothing is removed', async () => {
    const [first, second] = await replaced();
    bringBack('instances', first);
    const before = shop.mark();
    await shop.world.until(() => shop.ready() === 'False Ambiguous', HOUR);
    expect(shop.message()).toContain(first);
    expect(shop.message()).toContain(second);
    await shop.world.advance(2 * HOUR);
    expect(shop.writes(before)).toEqual([]);
    expect(shop.status().id).toBe(second);
  });

  it('that comes back later holds no change back, and no end of a lease', async () => {
    const [first, second] = await replaced();
    bringBack('instances', first);
    await shop.world.until(() => shop.ready() === 'False Ambiguous', HOUR);
    await shop.world.edit('Instance', 'web-eu', { tags: ['changed'] });
    await shop.world.until(() => shop.record(second).tags.includes('changed'), MINUTE);
    expect(shop.record(first).tags).not.toContain('changed');
  });

  it('that comes back later is kept by a word, and the new one goes', async () => {
    const [first, second] = await replaced();
    bringBack('instances', first);
    await shop.world.until(() => shop.ready() === 'False Ambiguous', HOUR);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/adopt': first });
    await shop.world.until(() => shop.ready() === 'True Settled' && former().length === 0, HOUR);
    expect(shop.status().id).toBe(first);
    expect(ids()).toEqual([first]);
    expect(ids()).not.toContain(second);
  });

  it('that comes back later goes by a word', async () => {
    const [first, second] = await replaced();
    bringBack('instances', first);
    await shop.world.until(() => shop.ready() === 'False Ambiguous', HOUR);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/adopt': second });
    await shop.world.until(() => shop.ready() === 'True Settled' && former().length === 0, HOUR);
    expect(shop.status().id).toBe(second);
    expect(ids()).toEqual([second]);
  });

  it('that comes back later stays with deletionPolicy Orphan, whichever is chosen', async () => {
    const [first, second] = await replaced('  deletionPolicy: Orphan');
    bringBack('instances', first);
    await shop.world.until(() => shop.ready() === 'False Ambiguous', HOUR);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/adopt': first });
    await shop.world.until(() => shop.ready() === 'True Settled' && former().length === 0, HOUR);
    expect(shop.status().id).toBe(first);
    expect(ids().toSorted()).toEqual([first, second].toSorted());
  });

  it('is not chosen by a word that was there before it came back', async () => {
    const [first, second] = await replaced();
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/adopt': second });
    await shop.world.advance(MINUTE);
    bringBack('instances', first);
    await shop.world.until(() => shop.ready() === 'False Ambiguous', HOUR);
    await shop.world.advance(2 * HOUR);
    expect(ids().toSorted()).toEqual([first, second].toSorted());
  });

  it('that is there again goes with its resource', async () => {
    const [first] = await replaced();
    bringBack('instances', first);
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    expect(ids()).toEqual([]);
  });

  it('that is not there holds a deletion no longer than a look takes', async () => {
    await replaced();
    await shop.world.delete('Instance', 'web-eu');
    await shop.world.until(() => shop.isGone(), MINUTE);
    expect(ids()).toEqual([]);
  });

  it('that does not come back for a day is forgotten once it is proved gone again', async () => {
    const [first] = await replaced();
    await shop.world.advance(20 * HOUR);
    expect(former()).toMatchObject([{ id: first, why: 'Gone' }]);
    await shop.world.advance(DAY);
    expect(former()).toEqual([]);
  });

  it('makes room for a sixth', async () => {
    await online();
    const seen = new Set<string>();
    for (let at = 0; at < 7; at += 1) {
      const { id } = shop.record();
      seen.add(id);
      await shop.world.advance(MINUTE);
      shop.world.sandbox.admin.removeRecord('instances', id);
      await shop.world.until(() => shop.status().id !== id && shop.ready() === 'True Settled', 2 * HOUR);
      expect(former().length).toBeLessThanOrEqual(5);
    }
    expect(seen.size).toBe(7);
  });

  describe('that somebody else wrote into status', () => {
    it.each(['Gone', 'Ended', 'Surplus'] as const)(
      'is no reason to touch a record of another (%s)',
      async (why) => {
        shop = await Shop.open();
        await shop.world.apply(instance(RECREATE));
        await shop.online();
        await shop.world.apply(instance('  deletionPolicy: Orphan', 'other'));
        await shop.online('other');
        const { id } = shop.record(shop.status('other').id);
        const before = shop.mark();
        await forge(shop, id, why);
        await shop.world.advance(HOUR);
        expect(shop.writes(before)).toEqual([]);
        expect(shop.ready()).toBe('True Settled');
        // Nobody holds it any more, and it still carries another marker.
        await shop.world.delete('Instance', 'other');
        await shop.gone('other');
        await forge(shop, id, why);
        await shop.world.advance(HOUR);
        expect(shop.writes(before)).toEqual([]);
        await forge(shop, id, why);
        await shop.world.delete('Instance', 'web-eu');
        await shop.gone();
        expect(ids()).toEqual([id]);
      },
    );

    it('holds nothing back, whatever it is', async () => {
      shop = await Shop.open();
      await shop.world.apply(instance(RECREATE));
      await shop.online();
      await forge(shop, '../../boxes/x', 'Surplus');
      await shop.world.advance(HOUR);
      expect(shop.ready()).toBe('True Settled');
      await shop.world.delete('Instance', 'web-eu');
      await shop.gone();
      expect(ids()).toEqual([]);
    });
  });
});

describe('a record that is there again after its deletion', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  async function deleted(): Promise<[string, Snapshot]> {
    shop = await Shop.open();
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.advance(5 * MINUTE);
    const { id } = shop.record();
    const kept = shop.world.sandbox.admin.snapshot();
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    return [id, kept];
  }

  /** Takes away all that the instance referred to, its Connection last. */
  async function withoutConnection(): Promise<void> {
    for (const [kind, name] of [
      ['Box', 'web'],
      ['PolicyBox', 'small'],
      ['Connection', 'main'],
    ] as const) {
      await shop.world.delete(kind, name);
    }
    await shop.world.until(() => shop.world.get('Connection', 'main') === undefined, MINUTE);
  }

  it('within a lag window is deleted once more, and an Event says so', async () => {
    const [id, kept] = await deleted();
    shop.world.sandbox.admin.restore(kept);
    await shop.world.until(() => shop.records().length === 0, 5 * MINUTE);
    const events = shop.world.events.filter(({ note }) => note.includes(id) && note.includes('once more'));
    expect(events).toHaveLength(1);
  });

  it('is found though its connection was away when it was time to look', async () => {
    const [, kept] = await deleted();
    await withoutConnection();
    await shop.world.advance(2 * MINUTE);
    shop.world.sandbox.admin.restore(kept);
    await shop.world.apply(CONNECTION);
    await shop.world.until(() => shop.records().length === 0, 5 * MINUTE);
    expect(shop.world.events.some(({ note }) => note.includes('once more'))).toBe(true);
  });

  it('is not looked for for ever where the service will not delete it', async () => {
    const [id, kept] = await deleted();
    let asked = 0;
    shop.judge = ({ method, path }) => {
      if (path.includes(id)) asked += 1;
      return method === 'DELETE' ? answer(403, { message: 'no' }) : undefined;
    };
    shop.world.sandbox.admin.restore(kept);
    await shop.world.advance(25 * HOUR);
    asked = 0;
    await shop.world.advance(24 * HOUR);
    expect(asked).toBe(0);
  });

  it('is looked for over another connection to the same account where its own is gone', async () => {
    const [, kept] = await deleted();
    await shop.world.apply(CONNECTION.replace('{name: main}', '{name: other}'));
    await withoutConnection();
    shop.world.sandbox.admin.restore(kept);
    await shop.world.advance(5 * MINUTE);
    expect(shop.records()).toEqual([]);
  });

  it('is told of as not looked for where no connection is left', async () => {
    const [id] = await deleted();
    await withoutConnection();
    await shop.world.advance(HOUR);
    const events = shop.world.events.filter(
      ({ note }) => note.includes(id) && note.includes('no connection'),
    );
    expect(events).toHaveLength(1);
  });

  it('is left to whoever has adopted it meanwhile', async () => {
    const [id, kept] = await deleted();
    shop.world.sandbox.admin.restore(kept);
    await shop.world.apply(instance('', 'other', `{boxwright.dev/adopt: ${id}}`));
    await shop.online('other');
    await shop.world.advance(HOUR);
    expect(shop.records().map((record) => record.id)).toEqual([id]);
  });

  it('is left to a resource of the same name', async () => {
    const [id, kept] = await deleted();
    shop.world.sandbox.admin.restore(kept);
    await shop.world.advance(1_000);
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.advance(HOUR);
    expect(shop.records().map((record) => record.id)).toEqual([id]);
    expect(shop.status().id).toBe(id);
  });

  it('is not looked for for ever', async () => {
    await deleted();
    await shop.world.advance(5 * MINUTE);
    const before = shop.world.sandbox.admin.calls().filter(({ path }) => path.includes('/instances/')).length;
    await shop.world.advance(2 * HOUR);
    const after = shop.world.sandbox.admin.calls().filter(({ path }) => path.includes('/instances/')).length;
    expect(after).toBe(before);
  });
});
