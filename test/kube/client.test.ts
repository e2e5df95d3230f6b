import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { KubeClient } from '../../src/kube/client.ts';
import type { KubeApiError } from '../../src/kube/errors.ts';
import { loadKubeConfig } from '../../src/kube/transport/kubeconfig.ts';
import type { KubeObject, StoredObject } from '../../src/kube/object.ts';
import { CONFIG_MAPS, LEASES, NAMESPACES } from '../../src/kube/types.ts';
import { UndiciKubePort } from '../../src/kube/transport/undici-port.ts';
import { testCluster, type TestNamespace } from '../support/cluster.ts';
import { FaultProxy } from '../support/fault-proxy.ts';

interface ConfigMap extends StoredObject {
  data?: Record<string, string>;
}

const cluster = testCluster();
let proxy: FaultProxy;
let namespace: TestNamespace;
let direct: UndiciKubePort;
let faulty: UndiciKubePort;
let client: KubeClient;
let throughFaults: KubeClient;

beforeAll(async () => {
  namespace = await cluster.namespace('client');
  proxy = await FaultProxy.start(cluster);
  const { source } = await loadKubeConfig({ file: cluster.kubeconfigPath });
  direct = new UndiciKubePort({ source, clock: systemClock });
  faulty = new UndiciKubePort({
    source: { access: async () => ({ server: proxy.url, headers: {}, tls: {} }) },
    clock: systemClock,
    silenceMs: 1_000,
    deadlineMs: 2_000,
  });
  client = new KubeClient(direct, { clock: systemClock, random: Math.random });
  throughFaults = new KubeClient(faulty, { clock: systemClock, random: Math.random });
});
afterAll(async () => {
  await direct.close();
  await faulty.close();
  await proxy[Symbol.asyncDispose]();
  await namespace.cleanup();
});
afterEach(() => proxy.heal());

const make = (name: string, data: Record<string, string> = { a: '1' }): Promise<ConfigMap> =>
  client.create<ConfigMap>(CONFIG_MAPS, { metadata: { namespace: namespace.name, name }, data });
const at = (name: string) => ({ namespace: namespace.name, name });

const failure = (call: Promise<unknown>): Promise<KubeApiError> =>
  call.then(
    () => Promise.reject(new Error('expected a refusal')),
    (error: unknown) => error as KubeApiError,
  );

describe('KubeClient on a real API server', () => {
  it('creates, reads, patches, applies and deletes', async () => {
    const made = await make('life');
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    const patched = await client.mergePatch<ConfigMap>(
      CONFIG_MAPS,
      at('life'),
      { data: { a: null, b: '2' } },
      { resourceVersion: made.metadata.resourceVersion },
    );
    expect(patched.data).toEqual({ b: '2' });
    const applied = await client.apply<ConfigMap>(
      CONFIG_MAPS,
      { metadata: at('life'), data: { c: '3' } } as KubeObject,
      {
        fieldManager: 'other',
      },
    );
    expect(applied.data).toEqual({ b: '2', c: '3' });
    expect(await client.get<ConfigMap>(CONFIG_MAPS, at('life'))).toEqual(applied);
    const managers = (applied.metadata.managedFields as { manager: string }[]).map((field) => field.manager);
    expect(managers.toSorted()).toEqual(['boxwright-operator', 'other']);
    expect(await client.delete(CONFIG_MAPS, at('life'), { uid: made.metadata.uid })).toBe(true);
    expect(await client.get(CONFIG_MAPS, at('life'))).toBeUndefined();
    expect(await client.delete(CONFIG_MAPS, at('life'))).toBe(false);
  });

  it('lists in pages and metadata alone', async () => {
    await Promise.all(Array.from({ length: 7 }, (_, i) => make(`page-${i}`)));
    const all = await client.list<ConfigMap>(CONFIG_MAPS, { namespace: namespace.name, pageSize: 3 });
    expect(all.filter((o) => o.metadata.name.startsWith('page-'))).toHaveLength(7);
    expect(all[0]).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    const bare = await client.list<ConfigMap>(CONFIG_MAPS, { namespace: namespace.name, metadataOnly: true });
    expect(bare.find((o) => o.metadata.name === 'page-0')?.data).toBeUndefined();
    expect(bare.length).toBe(all.length);
  });

  it('tells conflict, existing name, wrong uid, invalid object and missing kind apart', async () => {
    const made = await make('errors');
    expect(await failure(make('errors'))).toMatchObject({ isAlreadyExists: true, isConflict: false });
    await client.mergePatch(CONFIG_MAPS, at('errors'), { data: { a: '2' } });
    expect(
      await failure(
        client.mergePatch(
          CONFIG_MAPS,
          at('errors'),
          { data: { a: '3' } },
          { resourceVersion: made.metadata.resourceVersion },
        ),
      ),
    ).toMatchObject({ isConflict: true, maybeApplied: false });
    expect(await failure(client.delete(CONFIG_MAPS, at('errors'), { uid: 'another' }))).toMatchObject({
      isConflict: true,
    });
    const invalid = await failure(
      client.create(CONFIG_MAPS, { metadata: { namespace: namespace.name, name: 'Not Valid' } }),
    );
    expect(invalid.isInvalid).toBe(true);
    expect(invalid.causes[0]).toMatchObject({ field: 'metadata.name' });
    const unknown = {
      group: 'nobody.example',
      version: 'v1',
      plural: 'things',
      kind: 'Thing',
      namespaced: true,
    };
    expect((await failure(client.get(unknown, at('x')))).status).toBe(404);
    expect(await client.get(LEASES, at('missing'))).toBeUndefined();
  });

  it('answers a real 401 by asking for a fresh token, and reports a 403 as it is', async () => {
    const token = (
      await cluster.kubectl(['create', 'token', 'default', '--namespace', namespace.name])
    ).stdout.trim();
    const looks: boolean[] = [];
    const port = new UndiciKubePort({
      clock: systemClock,
      source: {
        access: async (fresh) => {
          looks.push(fresh);
          const bearer = fresh ? token : 'expired';
          return {
            server: cluster.server,
            headers: { authorization: `Bearer ${bearer}` },
            tls: { ca: cluster.ca },
          };
        },
      },
    });
    const account = new KubeClient(port, { clock: systemClock, random: Math.random });
    expect((await account.raw<{ major: string }>('/version')).major).toBe('1');
    expect(looks).toEqual([false, true]);
    await expect(account.get(CONFIG_MAPS, at('any'))).rejects.toMatchObject({
      status: 403,
      isForbidden: true,
    });
    await port.close();
  });

  it('reads cluster-scoped objects and the version', async () => {
    expect(await client.get(NAMESPACES, { name: namespace.name })).toMatchObject({
      status: { phase: 'Active' },
    });
    expect((await client.raw<{ major: string }>('/version')).major).toBe('1');
  });
});

describe('KubeClient through a proxy that spoils calls', () => {
  it.each([
    ['a reset', { kind: 'reset' }],
    ['a black hole', { kind: 'hang' }],
    ['a body cut short', { kind: 'cut', bytes: 20 }],
    ['429', { kind: 'status', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 }],
    ['500', { kind: 'status', status: 500, reason: 'InternalError' }],
    ['503', { kind: 'status', status: 503, reason: 'ServiceUnavailable' }],
    ['504', { kind: 'status', status: 504, reason: 'Timeout' }],
    ['a delay', { kind: 'delay', ms: 300 }],
  ] as const)('reads in spite of %s', async (_what, fault) => {
    proxy.inject({ fault, path: /namespaces\/default$/ });
    expect(await throughFaults.get(NAMESPACES, { name: 'default' })).toMatchObject({
      metadata: { name: 'default' },
    });
  });

  it.each(['reset', 'hang'] as const)(
    'brings the lost answer (%s) of a guarded patch back as a conflict that may be its own',
    async (kind) => {
      const made = await make(`lost-patch-${kind}`);
      proxy.inject({ fault: { kind, after: true }, method: 'PATCH' });
      const call = throughFaults.mergePatch(
        CONFIG_MAPS,
        at(made.metadata.name),
        { data: { a: '2' } },
        { resourceVersion: made.metadata.resourceVersion },
      );
      await expect(call).rejects.toMatchObject({ code: 'KubeApi', isConflict: true, maybeApplied: true });
      expect((await client.get<ConfigMap>(CONFIG_MAPS, at(made.metadata.name)))?.data).toEqual({ a: '2' });
    },
  );

  it('does not send a create twice when its answer is lost', async () => {
    proxy.inject({ fault: { kind: 'reset', after: true }, method: 'POST' });
    const before = proxy.count('POST', /configmaps/);
    const call = throughFaults.create(CONFIG_MAPS, { metadata: at('lost-create') });
    await expect(call).rejects.toMatchObject({ code: 'KubeTransport', maybeSent: true });
    expect(proxy.count('POST', /configmaps/)).toBe(before + 1);
  });

  it('deletes one incarnation once although the first answer is lost', async () => {
    const made = await make('lost-delete');
    proxy.inject({ fault: { kind: 'reset', after: true }, method: 'DELETE' });
    expect(await throughFaults.delete(CONFIG_MAPS, at('lost-delete'), { uid: made.metadata.uid })).toBe(
      false,
    );
    expect(await client.get(CONFIG_MAPS, at('lost-delete'))).toBeUndefined();
  });
});
