import { describe, expect, it } from 'vitest';
import { settle, VirtualClock } from '../../src/base/virtual-clock.ts';
import { KubeClient } from '../../src/kube/client.ts';
import { Informer } from '../../src/kube/cache/informer.ts';
import { pathOf, type KubeObject } from '../../src/kube/object.ts';
import { CONFIG_MAPS } from '../../src/kube/types.ts';
import { FakeKube, ownKinds } from '../support/fake-kube.ts';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

function make(options: { historyLimit?: number } = {}) {
  const clock = new VirtualClock();
  const fake = new FakeKube({ clock, kinds: ownKinds(), namespaces: ['shop'], ...options });
  const client = new KubeClient(fake, { clock, random: () => 0, maxTries: 1 });
  const put = (name: string, value: string): Promise<ConfigMap> =>
    client.create<ConfigMap>(CONFIG_MAPS, { metadata: { namespace: 'shop', name }, data: { value } });
  const change = (name: string, value: string): Promise<ConfigMap> =>
    client.mergePatch<ConfigMap>(CONFIG_MAPS, { namespace: 'shop', name }, { data: { value } });
  return { clock, fake, client, put, change };
}

function follow(fake: FakeKube, clock: VirtualClock) {
  const informer = new Informer<ConfigMap>({ port: fake, type: CONFIG_MAPS, clock, random: () => 0 });
  const stop = new AbortController();
  const ended = informer.start(stop.signal);
  const value = (name: string): string | undefined => informer.get(`shop/${name}`)?.data?.['value'];
  return { informer, value, stop, ended };
}

async function story(): Promise<unknown> {
  const { clock, fake, put, change } = make();
  await put('a', '1');
  await clock.advance(90_000);
  await change('a', '2');
  return fake.list(CONFIG_MAPS);
}

describe('FakeKube', () => {
  it('gives the same answers, uids and times included, to the same calls at the same times', async () => {
    const first = await story();
    expect(first).toEqual(await story());
    expect(first).toMatchObject([{ metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } }]);
  });

  it('feeds an informer, through watches that end, break and lose their place', async () => {
    const { clock, fake, put, change } = make({ historyLimit: 2 });
    await put('a', '1');
    const { value, stop, ended } = follow(fake, clock);
    await clock.advance(1_000);
    expect(value('a')).toBe('1');
    for (const [round, how] of (['end', 'break', 'end'] as const).entries()) {
      fake.endWatches(how);
      // More changes than the history holds: the version to go on from is gone.
      for (let i = 0; i <= 3; i++) await change('a', `${round}-${i}`);
      await clock.advance(60_000);
      expect(value('a')).toBe(`${round}-3`);
    }
    expect(fake.openWatches).toBe(1);
    stop.abort(new Error('over'));
    await settle();
    await ended;
    expect(fake.openWatches).toBe(0);
  });

  it('shows a cache as old as the lag, and all of it in the end', async () => {
    const { clock, fake, put, change } = make();
    await put('a', '1');
    const { value } = follow(fake, clock);
    await clock.advance(1_000);
    fake.watchLagMs = 5_000;
    await change('a', '2');
    await clock.advance(4_999);
    expect(value('a')).toBe('1');
    fake.watchLagMs = 0;
    await change('a', '3');
    await clock.advance(1);
    expect(value('a')).toBe('3');
  });

  it('refuses a page of a list older than its history', async () => {
    const { fake, put } = make();
    for (const name of ['a', 'b', 'c']) await put(name, '1');
    const path = pathOf(CONFIG_MAPS, { namespace: 'shop' });
    const first = fake.handle({ method: 'GET', path, query: { limit: 1 } });
    const token = (first.body as { metadata: { continue: string } }).metadata.continue;
    await put('d', '1');
    fake.store.compact();
    const second = fake.handle({ method: 'GET', path, query: { limit: 1, continue: token } });
    expect(second).toMatchObject({ status: 410, body: { reason: 'Expired' } });
  });

  it('keeps what is seeded as it is, until somebody writes it', async () => {
    const { client, fake } = make();
    const type = {
      group: 'boxwright.dev',
      version: 'v1alpha1',
      plural: 'instanceleases',
      kind: 'InstanceLease',
      namespaced: true,
    };
    const ref = { namespace: 'shop', name: 'old' };
    fake.seed(type, {
      metadata: ref,
      spec: { instanceRef: { name: 'web' }, operation: 'Explode', after: '8h' },
    });
    expect(await client.get(type, ref)).toMatchObject({ spec: { operation: 'Explode' } });
    await client.mergePatch(type, ref, { metadata: { labels: { touched: 'yes' } } });
    await expect(client.mergePatch(type, ref, { spec: { operation: 'Vanish' } })).rejects.toMatchObject({
      status: 422,
    });
  });
});
