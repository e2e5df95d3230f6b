import { afterEach, describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../../base/virtual-clock.ts';
import { listAnswer, refusal, ScriptedPort, ScriptedWatch } from '../../../test/support/scripted-port.ts';
import { widget, WIDGETS, type Widget } from '../../../test/support/widgets.ts';
import type { Turns } from '../../base/turns.ts';
import { Informer, type InformerOptions } from './informer.ts';
import { InvalidPathError } from '../object.ts';
import { METADATA_ONLY } from '../port.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function make(options: Partial<InformerOptions<Widget>> = {}) {
  const clock = new VirtualClock();
  const port = new ScriptedPort();
  port.onRequest = () => listAnswer('10', [widget('a', '5'), widget('b', '7')]);
  const informer = new Informer<Widget>({ port, type: WIDGETS, clock, random: () => 0.5, ...options });
  const seen: string[] = [];
  informer.onChange((change) => {
    const old = change.type === 'updated' ? `${change.old.metadata.resourceVersion}->` : '';
    seen.push(
      `${change.type} ${change.object.metadata.name} ${old}${change.object.metadata.resourceVersion}`,
    );
  });
  const start = async (): Promise<void> => {
    const controller = new AbortController();
    const running = informer.start(controller.signal);
    stops.push(async () => {
      controller.abort(new Error('test over'));
      await running;
    });
    await settle();
  };
  return { clock, port, informer, seen, start };
}

const versionOf = (informer: Informer<Widget>, name: string): string | undefined =>
  informer.get(`shop/${name}`)?.metadata.resourceVersion;

describe('Informer', () => {
  it('is synced after the first list and follows the watch', async () => {
    const { informer, port, seen, start } = make();
    expect(informer.hasSynced).toBe(false);
    await start();
    await informer.synced;
    expect(informer.hasSynced).toBe(true);
    port.current.push('MODIFIED', widget('a', '11'));
    port.current.push('DELETED', widget('b', '12'));
    port.current.push('ADDED', widget('c', '13'));
    await settle();
    expect(seen).toEqual(['added a 5', 'added b 7', 'updated a 5->11', 'deleted b 12', 'added c 13']);
    expect(informer.list().map((o) => o.metadata.name)).toEqual(['a', 'c']);
  });

  it('keeps an own write that is answered while a long list is gone through', async () => {
    const names = Array.from({ length: 120 }, (_, i) => `w${i}`);
    const gates: (() => void)[] = [];
    const turns: Turns = {
      take: () => new Promise<void>((resolve) => void gates.push(resolve)),
      of: () => turns,
    };
    const { informer, port, start } = make({ turns });
    port.onRequest = () =>
      listAnswer(
        '10',
        names.map((name) => widget(name, '5')),
      );
    await start();
    // The list is there, and half of it is told of.
    while (gates.length > 0 && informer.list().length < 60) {
      gates.shift()?.();
      await settle();
    }
    expect(informer.hasSynced).toBe(false);
    informer.remember(widget('w119', '12'));
    informer.remember(widget('w0', '13'));
    while (!informer.hasSynced) {
      gates.shift()?.();
      await settle();
    }
    expect(informer.list()).toHaveLength(120);
    expect([versionOf(informer, 'w119'), versionOf(informer, 'w0'), versionOf(informer, 'w1')]).toEqual([
      '12',
      '13',
      '5',
    ]);
  });

  it('tells a late handler of what is there already, and none that went away', async () => {
    const { informer, port, start } = make();
    await start();
    const heard: string[] = [];
    const off = informer.onChange((change) => heard.push(`${change.type} ${change.object.metadata.name}`));
    off();
    port.current.push('DELETED', widget('a', '11'));
    await settle();
    expect(heard).toEqual(['added a', 'added b']);
  });

  it('tells of a deletion that happened while no watch was open', async () => {
    const { clock, informer, port, seen, start } = make();
    await start();
    port.onRequest = () => listAnswer('20', [widget('a', '5')]);
    port.current.push('ERROR', refusal(410, 'Expired').body);
    await clock.advance(1_000);
    expect(seen.slice(2)).toEqual(['deleted b 7']);
    expect(informer.get('shop/b')).toBeUndefined();
  });

  it('shows deleted and made again under one name as two things, in a list and in a watch', async () => {
    const { clock, port, seen, start } = make();
    await start();
    port.onRequest = () => listAnswer('20', [widget('a', '15', { uid: 'second' }), widget('b', '7')]);
    port.current.push('ERROR', refusal(410, 'Expired').body);
    await clock.advance(1_000);
    port.current.push('ADDED', widget('b', '21', { uid: 'other' }));
    await settle();
    expect(seen.slice(2)).toEqual(['deleted a 5', 'added a 15', 'deleted b 7', 'added b 21']);
  });

  it('finds objects by index, also after their values changed', async () => {
    const { informer, port, start } = make({
      indexes: { colour: (o) => [o.spec?.colour ?? ''] },
    });
    await start();
    expect(informer.byIndex('colour', 'red').map((o) => o.metadata.name)).toEqual(['a', 'b']);
    port.current.push('MODIFIED', widget('a', '11', { colour: 'blue' }));
    await settle();
    expect(informer.byIndex('colour', 'red').map((o) => o.metadata.name)).toEqual(['b']);
    expect(informer.byIndex('colour', 'blue').map((o) => o.metadata.name)).toEqual(['a']);
    expect(informer.byIndex('colour', 'green')).toEqual([]);
    expect(() => informer.byIndex('size', '1')).toThrow(/no index "size"/);
  });

  it('drops managedFields and keeps fields that it does not know', async () => {
    const { informer, port, start } = make();
    port.onRequest = () =>
      listAnswer('10', [
        { ...widget('a', '5', { managedFields: [{ manager: 'x' }] }), novelty: { deep: [1] } },
      ]);
    await start();
    expect(informer.get('shop/a')).toMatchObject({ novelty: { deep: [1] } });
    expect(informer.get('shop/a')?.metadata.managedFields).toBeUndefined();
  });

  it('asks for metadata alone when that is enough', async () => {
    const { port, start } = make({ metadataOnly: true });
    await start();
    expect(port.requests[0]?.accept).toBe(METADATA_ONLY.list);
    expect(port.watchRequests[0]?.accept).toBe(METADATA_ONLY.object);
  });

  it('keeps of each object what pruning leaves, before anything else sees it', async () => {
    const sizes: number[] = [];
    const { informer, port, start } = make({
      prune: ({ metadata: { name, namespace, uid, resourceVersion } }) => ({
        metadata: { name, namespace, uid, resourceVersion },
      }),
      transform: (object) => {
        sizes.push(Object.keys(object.metadata).length);
        return object;
      },
    });
    await start();
    port.current.push('ADDED', widget('c', '11'));
    await settle();
    expect(sizes).toEqual([4, 4, 4]);
    expect(Object.keys(informer.get('shop/c') ?? {})).toEqual(['metadata']);
  });

  it('goes on when a handler, an index or a transform throws on one object', async () => {
    const notices: string[] = [];
    const { informer, port, seen, start } = make({
      transform: (o) => {
        if (o.metadata.name === 'a') throw new Error('odd object');
        return o;
      },
      indexes: {
        colour: (o) => (o.metadata.name === 'a' ? (undefined as never as string[]).slice() : ['x']),
      },
      onNotice: (notice) => notices.push(notice.kind === 'error' ? notice.during : notice.kind),
    });
    informer.onChange(() => {
      throw new Error('bad handler');
    });
    await start();
    port.current.push('ADDED', widget('c', '11'));
    await settle();
    expect(seen).toEqual(['added a 5', 'added b 7', 'added c 11']);
    expect(notices).toEqual(expect.arrayContaining(['transform', 'handler', 'listed']));
    expect(informer.byIndex('colour', 'x')).toHaveLength(2);
  });

  it('follows several namespaces, each by its own stream, and is synced with the last of them', async () => {
    const { informer, port, seen, clock, start } = make({ namespaces: ['shop', 'bank', 'shop'] });
    let bankIsUp = false;
    port.onRequest = (request) => {
      if (!request.path.includes('/namespaces/bank/')) return listAnswer('10', [widget('a', '5')]);
      return bankIsUp
        ? listAnswer('12', [widget('a', '6', { namespace: 'bank' })])
        : refusal(403, 'Forbidden');
    };
    await start();
    expect(informer.hasSynced).toBe(false);
    expect(seen).toEqual(['added a 5']);
    bankIsUp = true;
    await clock.advance(1_000);
    await informer.synced;
    expect(informer.list('bank').map((o) => o.metadata.resourceVersion)).toEqual(['6']);
    expect(informer.list()).toHaveLength(2);
    expect(port.watchRequests.map((r) => r.path).toSorted()).toEqual([
      '/apis/test.example/v1/namespaces/bank/widgets',
      '/apis/test.example/v1/namespaces/shop/widgets',
    ]);
  });

  it('refuses namespaces for a kind that has none', () => {
    expect(() => make({ type: { ...WIDGETS, namespaced: false }, namespaces: ['shop'] })).toThrow(
      InvalidPathError,
    );
  });

  it('may be started once', async () => {
    const { informer, start } = make();
    await start();
    await expect(informer.start(new AbortController().signal)).rejects.toThrow(/started before/);
  });
});

describe('Informer.remember', () => {
  it('shows an own write before the watch does, in every look, and tells of it once', async () => {
    const { informer, port, seen, start } = make({ indexes: { colour: (o) => [o.spec?.colour ?? ''] } });
    await start();
    informer.remember(widget('a', '15', { colour: 'blue' }));
    expect(versionOf(informer, 'a')).toBe('15');
    expect(informer.byIndex('colour', 'blue')).toHaveLength(1);
    port.current.push('MODIFIED', widget('a', '13'));
    port.current.push('MODIFIED', widget('a', '15', { colour: 'blue' }));
    await settle();
    expect(versionOf(informer, 'a')).toBe('15');
    expect(seen.slice(2)).toEqual(['updated a 5->15']);
    port.current.push('MODIFIED', widget('a', '16'));
    await settle();
    expect(seen.slice(3)).toEqual(['updated a 15->16']);
  });

  it('compares versions as numbers, not as text', async () => {
    const { informer, start } = make();
    await start();
    informer.remember(widget('a', '100'));
    informer.remember(widget('a', '99'));
    expect(versionOf(informer, 'a')).toBe('100');
  });

  it('takes no answer that the watch has already passed, so that a deleted object stays deleted', async () => {
    const { informer, port, seen, start } = make();
    await start();
    port.current.push('DELETED', widget('a', '12'));
    await settle();
    informer.remember(widget('a', '11'));
    expect(informer.get('shop/a')).toBeUndefined();
    expect(seen.slice(2)).toEqual(['deleted a 12']);
  });

  it('forgets an object that is deleted after the own write', async () => {
    const { informer, port, start } = make();
    await start();
    informer.remember(widget('new', '15', { uid: 'n' }));
    port.current.push('ADDED', widget('new', '15', { uid: 'n' }));
    port.current.push('DELETED', widget('new', '18', { uid: 'n' }));
    await settle();
    expect(informer.get('shop/new')).toBeUndefined();
  });

  it('keeps the own object when an older one of that name is reported deleted late', async () => {
    const { informer, port, seen, start } = make();
    await start();
    informer.remember(widget('a', '15', { uid: 'second' }));
    expect(seen.slice(2)).toEqual(['deleted a 5', 'added a 15']);
    port.current.push('DELETED', widget('a', '14'));
    await settle();
    expect(informer.get('shop/a')?.metadata.uid).toBe('second');
  });

  it('shows an object as gone once its last finalizer was taken off, whatever old lines still come', async () => {
    const { informer, port, seen, start } = make();
    await start();
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    port.current.push('MODIFIED', widget('a', '14', { finalizers: ['x/y'], deletionTimestamp }));
    await settle();
    // The API server answers the version from before the removal.
    informer.remember(widget('a', '14', { deletionTimestamp }));
    expect(informer.get('shop/a')).toBeUndefined();
    informer.remember(widget('a', '14', { finalizers: ['x/y'], deletionTimestamp }));
    port.current.push('MODIFIED', widget('a', '14', { finalizers: ['x/y'] }));
    await settle();
    expect(informer.get('shop/a')).toBeUndefined();
    port.current.push('DELETED', widget('a', '16'));
    port.current.push('ADDED', widget('a', '17', { uid: 'second' }));
    await settle();
    expect(seen.slice(3)).toEqual(['deleted a 14', 'added a 17']);
  });

  it('keeps a write answered while a list was under way, and drops one from before', async () => {
    const { clock, informer, port, start } = make();
    await start();
    informer.remember(widget('before', '15', { uid: 'x' }));
    port.onRequest = () => {
      informer.remember(widget('during', '40', { uid: 'y' }));
      return listAnswer('30', [widget('a', '5')]);
    };
    port.current.push('ERROR', refusal(410, 'Expired').body);
    await clock.advance(1_000);
    expect(informer.get('shop/before')).toBeUndefined();
    expect(versionOf(informer, 'during')).toBe('40');
    expect(informer.get('shop/b')).toBeUndefined();
  });

  it('lets no list under way undo an own change or removal that was answered meanwhile', async () => {
    const { clock, informer, port, seen, start } = make();
    await start();
    port.onRequest = () => {
      informer.remember(widget('a', '40'));
      informer.remember(widget('b', '7', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
      return listAnswer('30', [widget('a', '25'), widget('b', '7'), widget('c', '28')]);
    };
    port.current.push('ERROR', refusal(410, 'Expired').body);
    await clock.advance(1_000);
    expect(seen.slice(2)).toEqual(['updated a 5->40', 'deleted b 7', 'added c 28']);
  });

  it('shows no older object of a name that an own create took', async () => {
    const { informer, port, seen, start } = make();
    port.onRequest = () => listAnswer('10', []);
    await start();
    informer.remember(widget('a', '11', { uid: 'first' }));
    informer.remember(widget('a', '13', { uid: 'second' }));
    informer.remember(widget('a', '14', { uid: 'second', deletionTimestamp: '2026-01-01T00:00:00Z' }));
    port.current.push('ADDED', widget('a', '11', { uid: 'first' }));
    port.current.push('DELETED', widget('a', '12', { uid: 'first' }));
    await settle();
    expect(seen).toEqual(['added a 11', 'deleted a 11', 'added a 13', 'deleted a 14']);
  });

  it('believes a list of lower versions, as after a restored store', async () => {
    const { clock, informer, port, start } = make();
    await start();
    informer.remember(widget('a', '15'));
    port.onRequest = () => listAnswer('4', [widget('a', '2')]);
    port.onWatch = () => new ScriptedWatch();
    port.current.push('ERROR', refusal(410, 'Expired').body);
    await clock.advance(1_000);
    expect(versionOf(informer, 'a')).toBe('2');
    informer.remember(widget('a', '6'));
    expect(versionOf(informer, 'a')).toBe('6');
  });

  it("does not share its objects with the caller's", async () => {
    const { informer, start } = make();
    await start();
    const mine = widget('a', '15');
    informer.remember(mine);
    mine.spec = { colour: 'changed' };
    expect(informer.get('shop/a')?.spec?.colour).toBe('red');
  });
});
