import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { KubeClient } from '../../src/kube/client.ts';
import { Informer, type InformerOptions } from '../../src/kube/cache/informer.ts';
import type { StoredObject } from '../../src/kube/object.ts';
import type { KubePort } from '../../src/kube/port.ts';
import type { ReflectorNotice } from '../../src/kube/cache/reflector.ts';
import { CONFIG_MAPS } from '../../src/kube/types.ts';
import { UndiciKubePort } from '../../src/kube/transport/undici-port.ts';
import { testCluster, type TestNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { FaultProxy, type Fault } from '../support/fault-proxy.ts';
import { WIDGET_CRD, WIDGETS, type Widget } from '../support/widgets.ts';

interface ConfigMap extends StoredObject {
  data?: Record<string, string>;
}

const cluster = testCluster();
let proxy: FaultProxy;
let faulty: UndiciKubePort;
let direct: UndiciKubePort;
let client: KubeClient;
let namespace: TestNamespace;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  proxy = await FaultProxy.start(cluster);
  const { server, ca, cert, key } = cluster;
  direct = new UndiciKubePort({
    source: { access: async () => ({ server, headers: {}, tls: { ca, cert, key } }) },
    clock: systemClock,
  });
  faulty = new UndiciKubePort({
    source: { access: async () => ({ server: proxy.url, headers: {}, tls: {} }) },
    clock: systemClock,
    silenceMs: 2_000,
    deadlineMs: 2_000,
  });
  client = new KubeClient(direct, { clock: systemClock, random: Math.random });
});
afterAll(async () => {
  await faulty.close();
  await direct.close();
  await proxy[Symbol.asyncDispose]();
});
beforeEach(async () => {
  namespace = await cluster.namespace('informer');
});
afterEach(async () => {
  proxy.heal();
  for (const stop of stops.splice(0)) await stop();
  await namespace.cleanup();
});

/** An informer of the namespace's own config maps behind the proxy, started. */
function follow(options: Partial<InformerOptions<ConfigMap>> = {}) {
  const notices: ReflectorNotice[] = [];
  const changes: string[] = [];
  const informer = new Informer<ConfigMap>({
    port: faulty,
    type: CONFIG_MAPS,
    clock: systemClock,
    random: Math.random,
    namespaces: [namespace.name],
    // Not the one that the controller manager puts into each namespace.
    labelSelector: 'test=yes',
    onNotice: (notice) => notices.push(notice),
    ...options,
  });
  informer.onChange((change) => changes.push(`${change.type} ${change.object.metadata.name}`));
  const controller = new AbortController();
  const running = informer.start(controller.signal);
  stops.push(async () => {
    controller.abort(new Error('test over'));
    await running;
  });
  return { informer, notices, changes };
}

const at = (name: string) => ({ namespace: namespace.name, name });
const keyAt = (name: string): string => `${namespace.name}/${name}`;
const make = (name: string, data: Record<string, string> = {}): Promise<ConfigMap> =>
  client.create<ConfigMap>(CONFIG_MAPS, { metadata: { ...at(name), labels: { test: 'yes' } }, data });
const makeWidget = (name: string): Promise<Widget> =>
  client.create<Widget>(WIDGETS, { metadata: at(name), spec: { colour: 'red' } });
const shows = (informer: Informer<ConfigMap>, name: string): Promise<ConfigMap> =>
  eventually(`the cache shows ${name}`, () => informer.get(keyAt(name)), { everyMs: 20 });
const hides = (informer: Informer<ConfigMap>, name: string): Promise<true> =>
  eventually(`the cache forgets ${name}`, () => informer.get(keyAt(name)) === undefined, { everyMs: 20 });

describe('Informer on a real API server', () => {
  it('follows creation, change and deletion', async () => {
    await make('before');
    const { informer, changes } = follow({ indexes: { colour: (o) => [o.data?.['colour'] ?? ''] } });
    await informer.synced;
    await make('a', { colour: 'red' });
    await shows(informer, 'a');
    await client.mergePatch(CONFIG_MAPS, at('a'), { data: { colour: 'blue' } });
    await eventually('the index follows', () => informer.byIndex('colour', 'blue').length === 1, {
      everyMs: 20,
    });
    await client.delete(CONFIG_MAPS, at('a'));
    await hides(informer, 'a');
    expect(changes).toEqual(['added before', 'added a', 'updated a', 'deleted a']);
    expect(informer.get(keyAt('before'))?.metadata.managedFields).toBeUndefined();
  });

  it('reads a long list in pages and follows metadata alone', async () => {
    const big = 'x'.repeat(10_000);
    await Promise.all(Array.from({ length: 20 }, (_, i) => make(`many-${i}`, { big })));
    const { informer } = follow({ metadataOnly: true });
    await informer.synced;
    expect(informer.list()).toHaveLength(20);
    await make('later', { big });
    const later = await shows(informer, 'later');
    expect(later.data).toBeUndefined();
    expect(later).toMatchObject({ kind: 'ConfigMap', metadata: { labels: { test: 'yes' } } });
  });

  it('shows own writes at once and each of them once, and never goes back', async () => {
    const { informer, changes } = follow();
    await informer.synced;
    let latest = await make('own', { n: '0' });
    informer.remember(latest);
    for (let n = 1; n <= 20; n++) {
      latest = await client.mergePatch<ConfigMap>(
        CONFIG_MAPS,
        at('own'),
        { data: { n: String(n) } },
        { resourceVersion: informer.get(keyAt('own'))?.metadata.resourceVersion },
      );
      informer.remember(latest);
      expect(informer.get(keyAt('own'))?.data).toEqual({ n: String(n) });
    }
    await make('marker');
    await shows(informer, 'marker');
    expect(changes.filter((change) => change.endsWith(' own'))).toHaveLength(21);
    expect(informer.get(keyAt('own'))?.data).toEqual({ n: '20' });
  });

  it('shows an object as gone as soon as its last finalizer is off, and for good', async () => {
    const { informer } = follow();
    const made = await client.create<ConfigMap>(CONFIG_MAPS, {
      metadata: { ...at('held'), labels: { test: 'yes' }, finalizers: ['test.example/hold'] },
    });
    await shows(informer, 'held');
    await client.delete(CONFIG_MAPS, at('held'), { uid: made.metadata.uid });
    await eventually(
      'deletion is seen',
      () => informer.get(keyAt('held'))?.metadata.deletionTimestamp !== undefined,
    );
    const answer = await client.mergePatch<ConfigMap>(CONFIG_MAPS, at('held'), {
      metadata: { finalizers: null },
    });
    informer.remember(answer);
    expect(informer.get(keyAt('held'))).toBeUndefined();
    await make('marker');
    await shows(informer, 'marker');
    expect(informer.get(keyAt('held'))).toBeUndefined();
    await make('held');
    await shows(informer, 'held');
  });
});

describe('Informer when its version is too old', () => {
  it("lists anew after the API server's own 410", async () => {
    // A kind that is younger than the version below, which its watch cache therefore cannot know.
    await cluster.apply(WIDGET_CRD);
    await cluster.kubectl(['wait', '--for=condition=Established', 'crd/widgets.test.example']);
    await eventually('the kind is served', () => makeWidget('early'));
    let watches = 0;
    const aging: KubePort = {
      request: (request) => direct.request(request),
      watch: (request) =>
        direct.watch(
          watches++ > 0 ? request : { ...request, query: { ...request.query, resourceVersion: '1' } },
        ),
    };
    const notices: ReflectorNotice[] = [];
    const informer = new Informer<Widget>({
      port: aging,
      type: WIDGETS,
      clock: systemClock,
      random: Math.random,
      namespaces: [namespace.name],
      onNotice: (notice) => notices.push(notice),
    });
    const controller = new AbortController();
    const running = informer.start(controller.signal);
    stops.push(async () => {
      controller.abort(new Error('test over'));
      await running;
    });
    await eventually('a second watch', () => watches > 1);
    await makeWidget('late');
    await eventually('both are seen', () => informer.list().length === 2, { everyMs: 20 });
    expect(notices).toContainEqual(expect.objectContaining({ kind: 'watch-ended', reason: 'expired' }));
    expect(notices.filter((notice) => notice.kind === 'listed')).toHaveLength(2);
  });

  it('lists anew when a watch that is long open is told so in its stream', async () => {
    await make('early');
    const { informer, notices, changes } = follow();
    await informer.synced;
    await eventually('a watch is open', () => proxy.openWatches > 0, { everyMs: 20 });
    await make('late');
    await shows(informer, 'late');
    proxy.injectLine({
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' },
    });
    await eventually('a second list', () => notices.filter((n) => n.kind === 'listed').length === 2);
    await client.delete(CONFIG_MAPS, at('early'));
    await hides(informer, 'early');
    expect(changes).toEqual(['added early', 'added late', 'deleted early']);
  });
});

describe('Informer through a proxy that spoils calls', () => {
  const faults: [string, Fault][] = [
    ['resets', { kind: 'reset' }],
    ['cuts', { kind: 'cut', bytes: 10 }],
    ['delays', { kind: 'delay', ms: 200 }],
    ['answers 410', { kind: 'status', status: 410, reason: 'Expired' }],
    ['answers 410 in the stream', { kind: 'watch-error', status: 410, reason: 'Expired' }],
    ['answers 429', { kind: 'status', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 }],
    ['answers 429 in the stream', { kind: 'watch-error', status: 429, reason: 'TooManyRequests' }],
    ['answers 500', { kind: 'status', status: 500, reason: 'InternalError' }],
    ['answers 500 in the stream', { kind: 'watch-error', status: 500, reason: 'InternalError' }],
    ['answers 503', { kind: 'status', status: 503, reason: 'ServiceUnavailable' }],
    ['answers 401', { kind: 'status', status: 401, reason: 'Unauthorized' }],
    ['answers 403', { kind: 'status', status: 403, reason: 'Forbidden' }],
  ];

  it.each(faults)('misses nothing when it %s', async (_what, fault) => {
    const isInStream = fault.kind === 'watch-error';
    await make('early');
    if (!isInStream) proxy.inject({ fault, watch: false, path: /configmaps/, times: 2 });
    const { informer, changes } = follow();
    await informer.synced;
    await eventually('a watch is open', () => proxy.openWatches > 0, { everyMs: 20 });
    proxy.inject({ fault, watch: true, times: 2 });
    proxy.resetAll();
    const second = await make('between');
    await client.delete(CONFIG_MAPS, at('early'));
    await shows(informer, 'between');
    await hides(informer, 'early');
    await client.delete(CONFIG_MAPS, at('between'), { uid: second.metadata.uid });
    await make('between');
    await eventually(
      'the second incarnation is there',
      () => {
        const uid = informer.get(keyAt('between'))?.metadata.uid;
        return uid !== undefined && uid !== second.metadata.uid;
      },
      { everyMs: 20 },
    );
    expect(changes.filter((change) => change.endsWith('between'))).toEqual([
      'added between',
      'deleted between',
      'added between',
    ]);
  });

  it('sees delete and recreate under one name in a gap as two things', async () => {
    await make('twice');
    const { informer, changes } = follow();
    await informer.synced;
    await eventually('a watch is open', () => proxy.openWatches > 0, { everyMs: 20 });
    proxy.inject({ fault: { kind: 'status', status: 410, reason: 'Expired' }, watch: true, times: 1 });
    proxy.inject({ fault: { kind: 'delay', ms: 500 }, watch: false, path: /configmaps/, times: 1 });
    proxy.resetAll();
    await client.delete(CONFIG_MAPS, at('twice'));
    await make('twice');
    await eventually('both are seen', () => changes.length === 3, { everyMs: 20 });
    expect(changes).toEqual(['added twice', 'deleted twice', 'added twice']);
    expect(informer.list()).toHaveLength(1);
  });

  it('notices a watch that has gone silent within the idle deadline and catches up', async () => {
    // The deadline is minutes; only the clock that measures it is virtual.
    const clock = new VirtualClock();
    const { informer } = follow({ clock });
    await informer.synced;
    await eventually('a watch is open', () => proxy.openWatches > 0, { everyMs: 20 });
    proxy.blackHoleWatches();
    await make('unheard');
    await clock.advance(179_000);
    expect(informer.get(keyAt('unheard'))).toBeUndefined();
    await clock.advance(2_000);
    await shows(informer, 'unheard');
    expect(informer.lastActivity).toBeGreaterThanOrEqual(181_000);
  });

  it('survives a storm and ends up with what is there', async () => {
    const { informer } = follow();
    await informer.synced;
    const names = Array.from({ length: 40 }, (_, i) => `storm-${i}-${randomBytes(2).toString('hex')}`);
    for (const [i, name] of names.entries()) {
      await make(name);
      if (i % 4 === 0) proxy.resetAll();
      if (i % 7 === 0) proxy.inject({ fault: faults[i % faults.length]?.[1] ?? { kind: 'reset' } });
      if (i % 3 === 0) await client.delete(CONFIG_MAPS, at(name));
    }
    proxy.heal();
    const expected = names.filter((_, i) => i % 3 !== 0).toSorted();
    const held = (): string[] => informer.list().map((o) => o.metadata.name);
    await eventually('the cache is as long as it should be', () => held().length === expected.length, {
      timeoutMs: 45_000,
      everyMs: 50,
    }).catch(() => undefined);
    expect(held().toSorted()).toEqual(expected);
  });
});
