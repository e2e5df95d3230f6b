import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { KubeClient } from '../../src/kube/client.ts';
import { Controller } from '../../src/kube/work/controller.ts';
import { Informer } from '../../src/kube/cache/informer.ts';
import { Manager } from '../../src/kube/manager.ts';
import { Metrics } from '../../src/kube/observe/metrics.ts';
import { keyOfObject, refOf, type StoredObject } from '../../src/kube/object.ts';
import { EventRecorder } from '../../src/kube/observe/recorder.ts';
import { UndiciKubePort } from '../../src/kube/transport/undici-port.ts';
import { CONFIG_MAPS, EVENTS } from '../../src/kube/types.ts';
import { testCluster, type TestNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { FaultProxy, type Fault } from '../support/fault-proxy.ts';

interface ConfigMap extends StoredObject {
  data?: Record<string, string>;
}

interface RecordedEvent extends StoredObject {
  reason: string;
  regarding: { uid: string };
  series?: { count: number };
}

const KEYS = 20;
const FAULTS: Fault[] = [
  { kind: 'reset' },
  { kind: 'reset', after: true },
  { kind: 'delay', ms: 300 },
  { kind: 'cut', bytes: 40 },
  { kind: 'status', status: 409, reason: 'Conflict' },
  { kind: 'status', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 },
  { kind: 'status', status: 500, reason: 'InternalError' },
  { kind: 'status', status: 503, reason: 'ServiceUnavailable' },
];

const cluster = testCluster();
let namespace: TestNamespace;
let proxy: FaultProxy;
let faulty: UndiciKubePort;
let direct: UndiciKubePort;
let user: KubeClient;

beforeAll(async () => {
  namespace = await cluster.namespace('controller');
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
  user = new KubeClient(direct, { clock: systemClock, random: Math.random, fieldManager: 'user' });
});
afterEach(() => proxy.heal());
afterAll(async () => {
  await faulty.close();
  await direct.close();
  await proxy[Symbol.asyncDispose]();
  await namespace.cleanup();
});

describe('a manager with a controller on a real API server', () => {
  it('brings every key to its state through faults of every kind, one pass per key at a time, and drains', async () => {
    const metrics = new Metrics();
    const client = new KubeClient(faulty, { clock: systemClock, random: Math.random, maxTries: 1 });
    const recorder = new EventRecorder({
      port: faulty,
      clock: systemClock,
      random: Math.random,
      reportingController: 'example.com/copier',
      reportingInstance: 'test',
      metrics,
    });
    const informer = new Informer<ConfigMap>({
      port: faulty,
      type: CONFIG_MAPS,
      clock: systemClock,
      random: Math.random,
      namespaces: [namespace.name],
      labelSelector: 'copy=yes',
    });
    const inWork = new Set<string>();
    const overlaps: string[] = [];
    const recorded = new Map<string, number>();
    // Keeps the annotation equal to the data: the smallest controller there is.
    const controller = new Controller({
      name: 'copier',
      clock: systemClock,
      random: Math.random,
      metrics,
      workers: 4,
      backoff: { firstMs: 50, longestMs: 1_000 },
      reconcile: async (key, { signal }) => {
        if (inWork.has(key)) overlaps.push(key);
        inWork.add(key);
        try {
          const object = informer.get(key);
          const want = object?.data?.['value'];
          if (object === undefined || object.metadata.annotations?.['copied'] === want) return;
          const { resourceVersion } = object.metadata;
          const patch = { metadata: { annotations: { copied: want } } };
          informer.remember(
            await client.mergePatch<ConfigMap>(CONFIG_MAPS, refOf(key), patch, { resourceVersion, signal }),
          );
          recorded.set(object.metadata.uid, (recorded.get(object.metadata.uid) ?? 0) + 1);
          recorder.event({
            regarding: {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              namespace: namespace.name,
              name: object.metadata.name,
              uid: object.metadata.uid,
            },
            type: 'Normal',
            reason: 'Copied',
            action: 'Copy',
            note: 'the value is in the annotation',
          });
        } finally {
          inWork.delete(key);
        }
      },
    });
    informer.onChange(({ object, type }) => {
      controller.queue.add(keyOfObject(object), type === 'updated' ? 'new' : 'normal');
    });
    const stop = new AbortController();
    const manager = new Manager({
      clock: systemClock,
      metrics,
      sources: [informer],
      runners: [controller],
      recorder,
      health: { port: 0 },
    });
    const ended = manager.run(stop.signal);

    const names = Array.from({ length: KEYS }, (_, i) => `map-${i}`);
    for (const name of names) {
      await user.create<ConfigMap>(CONFIG_MAPS, {
        metadata: { namespace: namespace.name, name, labels: { copy: 'yes' } },
        data: { value: 'v0' },
      });
    }
    const settledAt = (value: string): Promise<unknown> =>
      eventually(`all copies are ${value}`, async () => {
        const all = await user.list<ConfigMap>(CONFIG_MAPS, {
          namespace: namespace.name,
          labelSelector: 'copy=yes',
        });
        return all.length === KEYS && all.every(({ metadata }) => metadata.annotations?.['copied'] === value);
      });
    await settledAt('v0');
    for (const [round, fault] of FAULTS.entries()) {
      const value = `v${round + 1}`;
      proxy.inject({ fault, method: 'PATCH', path: /configmaps/, times: 5 });
      proxy.inject({ fault, watch: true, times: 1 });
      if (round % 3 === 2) proxy.resetAll();
      for (const name of names) {
        await user.mergePatch(CONFIG_MAPS, { namespace: namespace.name, name }, { data: { value } });
      }
      await settledAt(value);
    }
    expect(proxy.calls.filter(({ fault, method }) => fault !== undefined && method === 'PATCH').length).toBe(
      5 * FAULTS.length,
    );
    expect(overlaps).toEqual([]);
    expect(controller.queue.depth).toBe(0);

    stop.abort();
    await ended;
    expect(controller.queue.working).toEqual([]);
    const events = await user.list<RecordedEvent>(EVENTS, { namespace: namespace.name });
    const copied = events.filter(({ reason }) => reason === 'Copied');
    expect(copied).toHaveLength(KEYS);
    expect(new Map(copied.map(({ regarding, series }) => [regarding.uid, series?.count ?? 1]))).toEqual(
      recorded,
    );
  }, 120_000);
});
