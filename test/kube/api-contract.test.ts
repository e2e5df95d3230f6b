import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { KubeClient } from '../../src/kube/client.ts';
import { KubeApiError } from '../../src/kube/errors.ts';
import { pathOf, type KubeObject, type ObjectRef, type ResourceType } from '../../src/kube/object.ts';
import {
  METADATA_ONLY,
  type KubeAnswer,
  type KubePort,
  type KubeRequest,
  type WatchLine,
} from '../../src/kube/port.ts';
import { UndiciKubePort } from '../../src/kube/transport/undici-port.ts';
import { CONFIG_MAPS, EVENTS, LEASES, NAMESPACES, SECRETS } from '../../src/kube/types.ts';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { FakeKube, ownKinds } from '../support/fake-kube.ts';

/** The same expectations, of the fake and of the real API server: what the fake believes is true. */
interface Server {
  port: KubePort;
  namespace(): Promise<string>;
  /** Makes a watch from version 1 too old. */
  forgetHistory(): void;
  /** Lets time pass where time is the test's to move. */
  elapse(ms: number): void;
  close(): Promise<void>;
}

function fakeServer(): Promise<Server> {
  const clock = new VirtualClock();
  const fake = new FakeKube({ clock, kinds: ownKinds() });
  let count = 0;
  return Promise.resolve({
    port: fake,
    namespace() {
      count += 1;
      fake.addNamespace(`contract-${count}`);
      return Promise.resolve(`contract-${count}`);
    },
    forgetHistory: () => fake.store.compact(),
    elapse: (ms) => void clock.advance(ms),
    close: () => Promise.resolve(),
  });
}

async function realServer(): Promise<Server> {
  const cluster = testCluster();
  await installKinds(cluster);
  const { server, ca, cert, key } = cluster;
  const port = new UndiciKubePort({
    source: { access: async () => ({ server, headers: {}, tls: { ca, cert, key } }) },
    clock: systemClock,
  });
  const made: (() => Promise<void>)[] = [];
  return {
    port,
    async namespace() {
      const namespace = await cluster.namespace('contract');
      made.push(() => namespace.cleanup());
      return namespace.name;
    },
    forgetHistory: () => undefined,
    elapse: () => undefined,
    async close() {
      await Promise.all(made.map((cleanup) => cleanup()));
      await port.close();
    },
  };
}

const INSTANCE_LEASES: ResourceType = {
  group: 'boxwright.dev',
  version: 'v1alpha1',
  plural: 'instanceleases',
  kind: 'InstanceLease',
  namespaced: true,
};
const INSTANCES: ResourceType = { ...INSTANCE_LEASES, plural: 'instances', kind: 'Instance' };

interface Thing extends KubeObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
  data?: Record<string, string>;
}

const SPEC = { instanceRef: { name: 'web' }, after: '8h' };

const CONDITION = {
  type: 'Ready',
  status: 'False',
  reason: 'Waiting',
  message: 'waits',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

describe.each([
  { what: 'the fake API', connect: fakeServer },
  { what: 'the real API server', connect: realServer },
])('$what', ({ connect }) => {
  let server: Server;
  let client: KubeClient;
  let namespace: string;

  beforeAll(async () => {
    server = await connect();
    client = new KubeClient(server.port, { clock: systemClock, random: Math.random, maxTries: 1 });
    namespace = await server.namespace();
  });
  afterAll(() => server.close());

  const at = (name: string): ObjectRef => ({ namespace, name });
  const lease = (name: string, more: Partial<Thing> = {}): Thing => ({
    spec: SPEC,
    ...more,
    metadata: { namespace, name, ...more.metadata },
  });
  const make = (name: string, more: Partial<Thing> = {}): Promise<Thing> =>
    client.create<Thing>(INSTANCE_LEASES, lease(name, more));
  const makeMap = (name: string, more: Partial<Thing> = {}): Promise<Thing> =>
    client.create<Thing>(CONFIG_MAPS, { ...more, metadata: { namespace, name, ...more.metadata } });
  const patch = (name: string, body: object, options = {}): Promise<Thing> =>
    client.mergePatch<Thing>(INSTANCE_LEASES, at(name), body, options);
  const request = (call: Partial<KubeRequest>): Promise<KubeAnswer> =>
    server.port.request({ method: 'GET', path: pathOf(INSTANCE_LEASES, { namespace }), ...call });

  const open = (call: Partial<KubeRequest> = {}, home = namespace) =>
    server.port.watch({
      method: 'GET',
      path: pathOf(INSTANCE_LEASES, { namespace: home }),
      ...call,
      query: { watch: true, ...call.query },
    });
  const versionNow = async (home = namespace): Promise<string> =>
    ((await request({ path: pathOf(INSTANCE_LEASES, { namespace: home }) })).body as List).metadata
      .resourceVersion;

  const apply = (
    name: string,
    data: Record<string, string>,
    manager: string,
    force = false,
  ): Promise<Thing> =>
    client.apply<Thing>(CONFIG_MAPS, { metadata: { namespace, name }, data } as Thing, {
      fieldManager: manager,
      force,
    });

  describe('create', () => {
    it('gives identity, version, generation and defaults, and drops what the schema does not name', async () => {
      const made = await make('created', {
        spec: { ...SPEC, nonsense: 1 },
        status: { observedGeneration: 9 },
      });
      expect(made.metadata).toMatchObject({
        name: 'created',
        namespace,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        resourceVersion: expect.stringMatching(/^\d+$/) as string,
        generation: 1,
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
      });
      expect(made.spec).toEqual({ ...SPEC, operation: 'Shutdown', warnBefore: '1h', paused: false });
      expect(made.status).toEqual({ observedGeneration: -1 });
      expect(await client.get<Thing>(INSTANCE_LEASES, at('created'))).toEqual(made);
    });

    it('refuses a name that is taken', async () => {
      await make('taken');
      const error = await failure(make('taken'));
      expect(error).toMatchObject({ status: 409, reason: 'AlreadyExists', isAlreadyExists: true });
      expect(error.message).toContain('instanceleases.boxwright.dev "taken" already exists');
    });

    it('refuses a namespace that does not exist', async () => {
      const error = await failure(
        client.create(CONFIG_MAPS, { metadata: { namespace: 'no-such-namespace', name: 'a' } }),
      );
      expect(error).toMatchObject({ status: 404, reason: 'NotFound' });
      expect(error.message).toContain('namespaces "no-such-namespace" not found');
    });

    it('refuses an invalid name, another kind, and no name at all', async () => {
      expect(await failure(make('Not_Valid'))).toMatchObject({
        status: 422,
        causes: [{ field: 'metadata.name' }],
      });
      const path = pathOf(INSTANCE_LEASES, { namespace });
      const other = { apiVersion: 'boxwright.dev/v1alpha1', kind: 'Box', metadata: { name: 'x' } };
      expect((await request({ method: 'POST', path, body: other })).status).toBe(422);
      const nameless = {
        apiVersion: 'boxwright.dev/v1alpha1',
        kind: 'InstanceLease',
        metadata: {},
        spec: SPEC,
      };
      expect((await request({ method: 'POST', path, body: nameless })).status).toBe(422);
    });

    it('makes a name from generateName', async () => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } };
      const answer = await request({ method: 'POST', path: pathOf(CONFIG_MAPS, { namespace }), body });
      expect(answer.status).toBe(201);
      expect((answer.body as Thing).metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
    });

    it('stores nothing in a dry run', async () => {
      const made = await client.create<Thing>(INSTANCE_LEASES, lease('dry'), { dryRun: true });
      expect(made.spec).toMatchObject({ operation: 'Shutdown' });
      expect(await client.get(INSTANCE_LEASES, at('dry'))).toBeUndefined();
    });

    it('refuses what the schema refuses, naming the field', async () => {
      const error = await failure(make('bad', { spec: { after: '8h', operation: 'Explode' } }));
      expect(error).toMatchObject({ status: 422, reason: 'Invalid' });
      expect(error.causes.map(({ field, reason }) => [field, reason])).toEqual(
        expect.arrayContaining([
          ['spec.instanceRef', 'FieldValueRequired'],
          ['spec.operation', 'FieldValueNotSupported'],
        ]),
      );
    });

    it('refuses what a rule refuses, in the words of the rule', async () => {
      const error = await failure(make('bad', { spec: { ...SPEC, expireAt: '2027-01-01T00:00:00Z' } }));
      expect(error.status).toBe(422);
      expect(error.causes).toEqual([
        {
          field: 'spec',
          reason: 'FieldValueInvalid',
          message: expect.stringContaining('set only one of expireAt, after and schedule') as string,
        },
      ]);
      const short = await failure(make('bad', { spec: { ...SPEC, after: '1s' } }));
      expect(short.causes).toMatchObject([{ field: 'spec.after' }]);
    });
  });

  describe('read', () => {
    it('answers 404 for what is not there, and for what nobody serves', async () => {
      const answer = await request({ path: pathOf(INSTANCE_LEASES, at('absent')) });
      expect(answer).toMatchObject({
        status: 404,
        body: {
          kind: 'Status',
          status: 'Failure',
          reason: 'NotFound',
          code: 404,
          message: 'instanceleases.boxwright.dev "absent" not found',
          details: { name: 'absent', group: 'boxwright.dev', kind: 'instanceleases' },
        },
      });
      expect(await client.get(INSTANCE_LEASES, at('absent'))).toBeUndefined();
      const nowhere = { ...INSTANCE_LEASES, plural: 'nothings' };
      await expect(client.get(nowhere, at('a'))).rejects.toMatchObject({ status: 404 });
      const elsewhere = { ...INSTANCE_LEASES, group: 'nothing.example' };
      await expect(client.get(elsewhere, at('a'))).rejects.toMatchObject({ status: 404 });
    });

    it('answers metadata alone when asked to', async () => {
      await make('partial', { metadata: { name: 'partial', labels: { a: 'b' } } });
      const answer = await request({
        path: pathOf(INSTANCE_LEASES, at('partial')),
        accept: METADATA_ONLY.object,
      });
      expect(answer.body).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'partial', labels: { a: 'b' } },
      });
      expect(answer.body).not.toHaveProperty('spec');
    });

    it('counts versions over all kinds', async () => {
      const versions = [
        await make('version-1'),
        await makeMap('version-2'),
        await patch('version-1', { metadata: { labels: { a: 'b' } } }),
      ].map(versionOf);
      expect(versions).toEqual(versions.toSorted((a, b) => a - b));
      expect(new Set(versions).size).toBe(3);
    });
  });

  describe('merge patch', () => {
    it('sets, removes by null, and replaces lists as a whole', async () => {
      await make('patched', {
        metadata: { name: 'patched', annotations: { keep: 'a', drop: 'b' }, finalizers: ['x.example/a'] },
      });
      const patched = await patch('patched', {
        metadata: { annotations: { drop: null, add: 'c' }, finalizers: ['x.example/b'] },
        spec: { paused: true },
      });
      expect(patched.metadata.annotations).toEqual({ keep: 'a', add: 'c' });
      expect(patched.metadata.finalizers).toEqual(['x.example/b']);
      expect(patched.spec).toMatchObject({ ...SPEC, paused: true });
      const bare = await patch('patched', {
        metadata: { annotations: null, finalizers: null },
        spec: { paused: null },
      });
      expect(bare.metadata.annotations).toBeUndefined();
      expect(bare.metadata.finalizers).toBeUndefined();
      expect(bare.spec).toMatchObject({ paused: false });
    });

    it('raises the generation for a change of spec and for nothing else', async () => {
      await make('generation');
      expect((await patch('generation', { metadata: { labels: { a: 'b' } } })).metadata.generation).toBe(1);
      expect((await patch('generation', { spec: { paused: true } })).metadata.generation).toBe(2);
      expect((await patch('generation', { spec: { paused: true } })).metadata.generation).toBe(2);
      const status = { status: { observedGeneration: 2 } };
      expect((await patch('generation', status, { subresource: 'status' })).metadata.generation).toBe(2);
    });

    it('writes nothing when nothing changes', async () => {
      await make('same');
      // Made without status, read with its default: the first write stores that, and is a change.
      const made = await patch('same', {});
      expect(versionOf(await patch('same', { spec: { after: '8h' } }))).toBe(versionOf(made));
      expect(versionOf(await patch('same', {}))).toBe(versionOf(made));
    });

    it('meets a newer version with a conflict, and the one it names without', async () => {
      const made = await make('guarded');
      const next = await patch(
        'guarded',
        { spec: { paused: true } },
        { resourceVersion: made.metadata.resourceVersion },
      );
      const stale = await failure(
        patch('guarded', { spec: { paused: false } }, { resourceVersion: made.metadata.resourceVersion }),
      );
      expect(stale).toMatchObject({ status: 409, reason: 'Conflict', isConflict: true });
      expect(stale.message).toContain(
        'Operation cannot be fulfilled on instanceleases.boxwright.dev "guarded": the object has been modified',
      );
      const staleStatus = await failure(
        patch(
          'guarded',
          { status: { observedGeneration: 1 } },
          { subresource: 'status', resourceVersion: made.metadata.resourceVersion },
        ),
      );
      expect(staleStatus.isConflict).toBe(true);
      expect(versionOf((await client.get<Thing>(INSTANCE_LEASES, at('guarded'))) as Thing)).toBe(
        versionOf(next),
      );
    });

    it('refuses to change who the object is', async () => {
      await make('identity');
      const uid = await failure(
        patch('identity', { metadata: { uid: '11111111-1111-4111-8111-111111111111' } }),
      );
      expect(uid.status).toBe(422);
      expect(uid.causes[0]).toMatchObject({ field: 'metadata.uid' });
      const made = await make('identity-2');
      const replaced = await failure(
        client.replace(INSTANCE_LEASES, {
          ...made,
          metadata: { ...made.metadata, uid: '11111111-1111-4111-8111-111111111111' },
        }),
      );
      expect(replaced).toMatchObject({ status: 409, reason: 'Conflict' });
      const name = await failure(patch('identity', { metadata: { name: 'other' } }));
      expect(name.status).toBe(400);
    });

    it('keeps what the server owns', async () => {
      const made = await make('system');
      const patched = await patch('system', {
        metadata: {
          creationTimestamp: '2020-01-01T00:00:00Z',
          generation: 77,
          labels: { a: 'b' },
        },
      });
      expect(patched.metadata).toMatchObject({
        creationTimestamp: made.metadata.creationTimestamp,
        generation: 1,
      });
      const marked = await failure(
        patch('system', { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }),
      );
      expect(marked.status).toBe(422);
      expect(marked.causes[0]).toMatchObject({ field: 'metadata.deletionTimestamp' });
    });

    it('answers 404 for what is not there, and 415 for a patch of an unknown kind', async () => {
      expect(await failure(patch('absent', { spec: {} }))).toMatchObject({ status: 404, reason: 'NotFound' });
      await make('media');
      const answer = await request({
        method: 'PATCH',
        path: pathOf(INSTANCE_LEASES, at('media')),
        contentType: 'application/strategic-merge-patch+json',
        body: {},
      });
      expect(answer).toMatchObject({ status: 415, body: { reason: 'UnsupportedMediaType' } });
    });

    it('refuses an annotation that is no text', async () => {
      await make('annotation');
      const error = await failure(patch('annotation', { metadata: { annotations: { a: 5 } } }));
      expect([400, 422]).toContain(error.status);
    });

    it('lets what an older schema let through be, as long as it does not change', async () => {
      const spec = {
        connectionRef: { name: 'main' },
        boxRef: { name: 'web' },
        policyBoxRef: { name: 'small' },
      };
      const made = await client.create<Thing>(INSTANCES, {
        metadata: { namespace, name: 'immutable' },
        spec,
      });
      expect(made.spec).toMatchObject(spec);
      const change = (body: object): Promise<Thing> =>
        client.mergePatch<Thing>(INSTANCES, at('immutable'), body);
      const error = await failure(change({ spec: { connectionRef: { name: 'other' } } }));
      expect(error).toMatchObject({
        status: 422,
        causes: [{ field: 'spec.connectionRef', reason: 'FieldValueInvalid' }],
      });
      expect((await change({ spec: { tags: ['a'] } })).metadata.generation).toBe(2);
    });
  });

  describe('the status subresource', () => {
    it('writes status and nothing else', async () => {
      await make('status', { metadata: { name: 'status', annotations: { keep: 'a' } } });
      const body = {
        metadata: { annotations: { other: 'b' } },
        spec: { paused: true },
        status: { observedGeneration: 1, conditions: [CONDITION] },
      };
      const patched = await patch('status', body, { subresource: 'status' });
      expect(patched.status).toEqual({ observedGeneration: 1, conditions: [CONDITION] });
      expect(patched.spec).toMatchObject({ paused: false });
      expect(patched.metadata.annotations).toEqual({ keep: 'a' });
      expect(patched.metadata.generation).toBe(1);
    });

    it('is not written through the object itself', async () => {
      await make('not-status');
      const made = await patch('not-status', { status: { observedGeneration: 5 }, spec: { paused: true } });
      expect(made.status).toEqual({ observedGeneration: -1 });
      expect(made.spec).toMatchObject({ paused: true });
    });

    it('is checked by the schema, and gets its default back when it is removed', async () => {
      await make('status-schema');
      const error = await failure(
        patch('status-schema', { status: { observedGeneration: 'x' } }, { subresource: 'status' }),
      );
      expect(error.status).toBe(422);
      expect(error.causes[0]).toMatchObject({
        field: 'status.observedGeneration',
        reason: 'FieldValueTypeInvalid',
      });
      await patch('status-schema', { status: { observedGeneration: 1 } }, { subresource: 'status' });
      const removed = await patch('status-schema', { status: null }, { subresource: 'status' });
      expect(removed.status).toEqual({ observedGeneration: -1 });
    });

    it('does not exist for kinds without one', async () => {
      await makeMap('plain');
      await expect(
        client.mergePatch(CONFIG_MAPS, at('plain'), { status: {} }, { subresource: 'status' }),
      ).rejects.toMatchObject({ status: 404 });
    });
  });

  describe('replace', () => {
    it('wants the version of a custom resource, takes the present one and refuses an older one', async () => {
      const made = await make('replaced');
      const { resourceVersion: _version, ...unversioned } = made.metadata;
      const blind = await failure(client.replace(INSTANCE_LEASES, { ...made, metadata: unversioned }));
      expect(blind).toMatchObject({ status: 422, causes: [{ field: 'metadata.resourceVersion' }] });
      const next = await client.replace<Thing>(INSTANCE_LEASES, {
        ...made,
        spec: { ...SPEC, paused: true },
        status: { observedGeneration: 7 },
      });
      expect(next).toMatchObject({ metadata: { generation: 2 }, status: { observedGeneration: -1 } });
      expect(await failure(client.replace(INSTANCE_LEASES, made))).toMatchObject({
        status: 409,
        reason: 'Conflict',
      });
    });

    it('takes a ConfigMap without a version', async () => {
      await makeMap('map', { data: { a: '1', b: '2' } });
      const next = await client.replace<Thing>(CONFIG_MAPS, {
        metadata: { namespace, name: 'map' },
        data: { a: '3' },
      });
      expect(next.data).toEqual({ a: '3' });
      expect(next.metadata.generation).toBeUndefined();
    });
  });

  describe('delete', () => {
    it('removes at once what has no finalizer, and says what it was', async () => {
      const made = await make('gone');
      const answer = await request({ method: 'DELETE', path: pathOf(INSTANCE_LEASES, at('gone')) });
      expect(answer).toMatchObject({
        status: 200,
        body: { kind: 'Status', status: 'Success', details: { name: 'gone', uid: made.metadata.uid } },
      });
      expect(await client.get(INSTANCE_LEASES, at('gone'))).toBeUndefined();
      expect(await client.delete(INSTANCE_LEASES, at('gone'))).toBe(false);
      const again = await make('gone');
      expect(again.metadata.uid).not.toBe(made.metadata.uid);
    });

    it('waits for finalizers: marked once, spec still open, no new finalizers, gone with the last one', async () => {
      await make('held', { metadata: { name: 'held', finalizers: ['x.example/a', 'x.example/b'] } });
      const answer = await request({ method: 'DELETE', path: pathOf(INSTANCE_LEASES, at('held')) });
      const going = answer.body as Thing;
      expect(going.metadata).toMatchObject({
        name: 'held',
        generation: 2,
        deletionGracePeriodSeconds: 0,
        deletionTimestamp: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      });
      expect(await client.delete(INSTANCE_LEASES, at('held'))).toBe(true);
      expect(versionOf((await client.get<Thing>(INSTANCE_LEASES, at('held'))) as Thing)).toBe(
        versionOf(going),
      );
      const forbidden = await failure(
        patch('held', { metadata: { finalizers: ['x.example/a', 'x.example/b', 'x.example/c'] } }),
      );
      expect(forbidden.status).toBe(422);
      expect(forbidden.causes[0]).toMatchObject({
        field: 'metadata.finalizers',
        reason: 'FieldValueForbidden',
      });
      const changed = await patch('held', {
        spec: { paused: true },
        metadata: { finalizers: ['x.example/b'] },
      });
      expect(changed.metadata).toMatchObject({ generation: 3, finalizers: ['x.example/b'] });
      await patch('held', { status: { observedGeneration: 3 } }, { subresource: 'status' });
      const last = await patch('held', { metadata: { finalizers: null } });
      expect(last.metadata.name).toBe('held');
      expect(await client.get(INSTANCE_LEASES, at('held'))).toBeUndefined();
      expect(
        await failure(patch('held', { status: { observedGeneration: 4 } }, { subresource: 'status' })),
      ).toMatchObject({
        status: 404,
      });
    });

    it('checks uid and version when it is told to', async () => {
      const made = await make('precondition');
      const wrong = client.delete(INSTANCE_LEASES, at('precondition'), {
        uid: '11111111-1111-4111-8111-111111111111',
      });
      expect(await failure(wrong)).toMatchObject({ status: 409, reason: 'Conflict' });
      await patch('precondition', { spec: { paused: true } });
      const stale = client.delete(INSTANCE_LEASES, at('precondition'), {
        resourceVersion: made.metadata.resourceVersion,
      });
      expect(await failure(stale)).toMatchObject({ status: 409, reason: 'Conflict' });
      expect(await client.delete(INSTANCE_LEASES, at('precondition'), { uid: made.metadata.uid })).toBe(true);
      expect(await client.get(INSTANCE_LEASES, at('precondition'))).toBeUndefined();
    });
  });

  describe('list', () => {
    it('shows one version in pages, whatever happens meanwhile', async () => {
      const home = await server.namespace();
      const label = { app: 'pages' };
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        await client.create(INSTANCE_LEASES, {
          spec: SPEC,
          metadata: { namespace: home, name, labels: label },
        });
      }
      const path = pathOf(INSTANCE_LEASES, { namespace: home });
      const first = (await request({ path, query: { limit: 2 } })).body as List;
      expect(first.kind).toBe('InstanceLeaseList');
      expect(names(first)).toEqual(['a', 'b']);
      expect(first.metadata.remainingItemCount).toBe(3);
      await client.delete(INSTANCE_LEASES, { namespace: home, name: 'd' });
      const second = (await request({ path, query: { limit: 2, continue: first.metadata.continue } }))
        .body as List;
      expect(names(second)).toEqual(['c', 'd']);
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      const third = (await request({ path, query: { limit: 2, continue: second.metadata.continue } }))
        .body as List;
      expect(names(third)).toEqual(['e']);
      expect(third.metadata.continue ?? '').toBe('');
      const now = (await request({ path })).body as List;
      expect(names(now)).toEqual(['a', 'b', 'c', 'e']);
      expect(Number(now.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
    });

    it('selects by labels, by name and by the fields that the kind offers', async () => {
      const home = await server.namespace();
      const put = (name: string, labels: Record<string, string>, instance: string): Promise<unknown> =>
        client.create(INSTANCE_LEASES, {
          metadata: { namespace: home, name, labels },
          spec: { ...SPEC, instanceRef: { name: instance } },
        });
      await put('a', { app: 'web', tier: 'front' }, 'one');
      await put('b', { app: 'db' }, 'two');
      await put('c', {}, 'two');
      const find = async (query: KubeRequest['query']): Promise<string[]> =>
        names(
          (await request({ path: pathOf(INSTANCE_LEASES, { namespace: home }), ...(query && { query }) }))
            .body as List,
        );
      expect(await find({ labelSelector: 'app=web' })).toEqual(['a']);
      expect(await find({ labelSelector: 'app' })).toEqual(['a', 'b']);
      expect(await find({ labelSelector: '!app' })).toEqual(['c']);
      expect(await find({ labelSelector: 'app!=web' })).toEqual(['b', 'c']);
      expect(await find({ labelSelector: 'app in (web, db),tier notin (front)' })).toEqual(['b']);
      expect(await find({ fieldSelector: 'metadata.name=b' })).toEqual(['b']);
      expect(await find({ fieldSelector: 'metadata.name!=b' })).toEqual(['a', 'c']);
      expect(await find({ fieldSelector: 'spec.instanceRef.name=two,metadata.name!=c' })).toEqual(['b']);
      const refused = await request({ query: { fieldSelector: 'spec.after=8h' } });
      expect(refused.status).toBe(400);
    });

    it('names the kind of custom resources and leaves that of built-in ones to the list', async () => {
      const home = await server.namespace();
      await client.create(INSTANCE_LEASES, { spec: SPEC, metadata: { namespace: home, name: 'a' } });
      await client.create(LEASES, { metadata: { namespace: home, name: 'a' }, spec: {} });
      const custom = (await request({ path: pathOf(INSTANCE_LEASES, { namespace: home }) })).body as List;
      const builtIn = (await request({ path: pathOf(LEASES, { namespace: home }) })).body as List;
      expect(custom.items[0]?.kind).toBe('InstanceLease');
      expect(builtIn.items[0]?.kind).toBeUndefined();
      expect(builtIn.kind).toBe('LeaseList');
      const partial = (
        await request({ path: pathOf(LEASES, { namespace: home }), accept: METADATA_ONLY.list })
      ).body as List;
      expect(partial.kind).toBe('PartialObjectMetadataList');
      expect(partial.items[0]).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
    });

    it('reaches over namespaces', async () => {
      const [one, two] = [await server.namespace(), await server.namespace()];
      for (const home of [one, two]) {
        await client.create(INSTANCE_LEASES, {
          spec: SPEC,
          metadata: { namespace: home, name: 'everywhere' },
        });
      }
      const found = await client.list<Thing>(INSTANCE_LEASES, { fieldSelector: 'metadata.name=everywhere' });
      expect(found.map(({ metadata }) => metadata.namespace)).toEqual(expect.arrayContaining([one, two]));
    });
  });

  describe('watch', () => {
    it('shows every change after a version, in order, with its version', async () => {
      const before = await versionNow();
      const made = await make('watched');
      const changed = await patch('watched', { spec: { paused: true } });
      const watch = await open({ query: { resourceVersion: before } });
      const lines = reader(watch.events);
      expect(await lines.next()).toEqual({ type: 'ADDED', object: made });
      expect(await lines.next()).toEqual({ type: 'MODIFIED', object: changed });
      await client.delete(INSTANCE_LEASES, at('watched'));
      const last = await lines.next();
      expect(last).toMatchObject({
        type: 'DELETED',
        object: { metadata: { name: 'watched' }, spec: { paused: true } },
      });
      expect(versionOf(last.object as Thing)).toBeGreaterThan(versionOf(changed));
      watch.close();
    });

    it('begins with what is there when no version is named', async () => {
      const home = await server.namespace();
      await client.create(INSTANCE_LEASES, { spec: SPEC, metadata: { namespace: home, name: 'there' } });
      const watch = await open({}, home);
      const lines = reader(watch.events);
      expect(await lines.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'there' } } });
      await client.create(INSTANCE_LEASES, { spec: SPEC, metadata: { namespace: home, name: 'new' } });
      expect(await lines.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'new' } } });
      watch.close();
    });

    it('shows deletion with finalizers as a change and then an end', async () => {
      await make('finalized', { metadata: { name: 'finalized', finalizers: ['x.example/a'] } });
      const watch = await open({ query: { resourceVersion: await versionNow() } });
      const lines = reader(watch.events);
      await client.delete(INSTANCE_LEASES, at('finalized'));
      await patch('finalized', { metadata: { finalizers: null } });
      expect(await lines.next()).toMatchObject({
        type: 'MODIFIED',
        object: { metadata: { name: 'finalized', finalizers: ['x.example/a'], generation: 2 } },
      });
      expect(await lines.next()).toMatchObject({
        type: 'DELETED',
        object: { metadata: { name: 'finalized' } },
      });
      watch.close();
    });

    it('shows what comes into a selection and what leaves it', async () => {
      await make('labelled');
      const watch = await open({ query: { resourceVersion: await versionNow(), labelSelector: 'show=yes' } });
      const lines = reader(watch.events);
      await patch('labelled', { metadata: { labels: { show: 'yes' } } });
      await patch('labelled', { spec: { paused: true } });
      await patch('labelled', { metadata: { labels: { show: 'no' } } });
      await patch('labelled', { spec: { paused: false } });
      await patch('labelled', { metadata: { labels: { show: 'yes' } } });
      const types = [];
      for (let i = 0; i < 4; i++) types.push((await lines.next()).type);
      expect(types).toEqual(['ADDED', 'MODIFIED', 'DELETED', 'ADDED']);
      watch.close();
    });

    it('shows metadata alone when asked to', async () => {
      const before = await versionNow();
      await make('metadata-watch');
      const watch = await open({ query: { resourceVersion: before }, accept: METADATA_ONLY.object });
      const line = await reader(watch.events).next();
      expect(line.object).toMatchObject({
        kind: 'PartialObjectMetadata',
        metadata: { name: 'metadata-watch' },
      });
      expect(line.object).not.toHaveProperty('spec');
      watch.close();
    });

    it('says that a version is too old', async () => {
      server.forgetHistory();
      const watch = await open({ query: { resourceVersion: '1' } });
      const first = watch.status === 200 ? (await reader(watch.events).next()).object : watch.body;
      expect(first).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
      watch.close();
    });

    it('ends after the time asked for, and shows before how far the changes that it does not show have come', async () => {
      const [quiet, busy] = [await server.namespace(), await server.namespace()];
      const from = await versionNow(quiet);
      const watch = await open(
        {
          query: { resourceVersion: from, allowWatchBookmarks: true, timeoutSeconds: 10 },
        },
        quiet,
      );
      const made = await client.create(INSTANCE_LEASES, {
        spec: SPEC,
        metadata: { namespace: busy, name: 'other' },
      });
      server.elapse(10_000);
      const lines: WatchLine[] = [];
      for await (const line of watch.events) lines.push(line);
      expect(lines.at(-1)).toMatchObject({ type: 'BOOKMARK', object: { kind: 'InstanceLease' } });
      expect(lines.filter(({ type }) => type !== 'BOOKMARK')).toEqual([]);
      expect(versionOf(lines.at(-1)?.object as Thing)).toBeGreaterThanOrEqual(versionOf(made));
    });

    it('ends with the reason of its signal', async () => {
      const controller = new AbortController();
      const watch = await open({ query: { resourceVersion: await versionNow() }, signal: controller.signal });
      const next = reader(watch.events).next();
      controller.abort(new Error('enough'));
      await expect(next).rejects.toThrow('enough');
    });

    it('refuses a selector that it cannot read', async () => {
      const watch = await open({ query: { labelSelector: 'a b c (' } });
      expect(watch).toMatchObject({ status: 400, body: { kind: 'Status', reason: 'BadRequest' } });
    });
  });

  describe('server-side apply', () => {
    it('makes the object, and takes away what its manager no longer names', async () => {
      expect((await apply('applied', { a: '1', b: '2' }, 'one')).data).toEqual({ a: '1', b: '2' });
      expect((await apply('applied', { c: '3' }, 'two')).data).toEqual({ a: '1', b: '2', c: '3' });
      expect((await apply('applied', { a: '1' }, 'one')).data).toEqual({ a: '1', c: '3' });
    });

    it('refuses to change what another applied, unless forced', async () => {
      await apply('contested', { a: '1' }, 'one');
      const error = await failure(apply('contested', { a: '2' }, 'two'));
      expect(error).toMatchObject({
        status: 409,
        reason: 'Conflict',
        causes: [
          {
            reason: 'FieldManagerConflict',
            field: '.data.a',
            message: expect.stringContaining('"one"') as string,
          },
        ],
      });
      expect((await apply('contested', { a: '2' }, 'two', true)).data).toEqual({ a: '2' });
      expect((await apply('contested', {}, 'one')).data).toEqual({ a: '2' });
    });

    it('shares a field that two apply alike', async () => {
      await apply('shared', { a: '1' }, 'one');
      await apply('shared', { a: '1' }, 'two');
      expect((await apply('shared', {}, 'one')).data).toEqual({ a: '1' });
      expect((await apply('shared', { b: '1' }, 'two')).data).toEqual({ b: '1' });
    });

    it('writes status through its subresource', async () => {
      await make('apply-status');
      const applied = await client.apply<Thing>(
        INSTANCE_LEASES,
        { metadata: { namespace, name: 'apply-status' }, status: { observedGeneration: 1 } } as Thing,
        { fieldManager: 'one', subresource: 'status' },
      );
      expect(applied).toMatchObject({ status: { observedGeneration: 1 }, metadata: { generation: 1 } });
    });
  });

  describe('built-in kinds', () => {
    it('turns stringData of a Secret into data', async () => {
      const made = await client.create<Thing>(SECRETS, {
        metadata: { namespace, name: 'login' },
        stringData: { token: 'abc' },
      });
      expect(made).toMatchObject({ type: 'Opaque', data: { token: 'YWJj' } });
      expect(made).not.toHaveProperty('stringData');
      const patched = await client.mergePatch<Thing>(SECRETS, at('login'), { stringData: { more: 'x' } });
      expect(patched.data).toEqual({ token: 'YWJj', more: 'eA==' });
    });

    it('wants six fractional digits in the times of a Lease, and a positive duration', async () => {
      const spec = {
        holderIdentity: 'me',
        leaseDurationSeconds: 15,
        renewTime: '2026-01-01T00:00:00.000000Z',
      };
      const put = (name: string, more: object): Promise<Thing> =>
        client.create<Thing>(LEASES, { metadata: { namespace, name }, spec: { ...spec, ...more } });
      expect((await put('good', {})).spec).toMatchObject(spec);
      expect(await failure(put('bad', { renewTime: '2026-01-01T00:00:00.000Z' }))).toMatchObject({
        status: 400,
      });
      expect(await failure(put('bad', { leaseDurationSeconds: 0 }))).toMatchObject({
        status: 422,
        causes: [{ field: 'spec.leaseDurationSeconds' }],
      });
      const made = (await client.get<Thing>(LEASES, at('good'))) as Thing;
      expect(
        await failure(
          client.replace(LEASES, { ...made, metadata: { ...made.metadata, resourceVersion: '1' } }),
        ),
      ).toMatchObject({
        status: 409,
        reason: 'Conflict',
      });
    });

    it('takes an Event of events.k8s.io/v1, lets its series grow, and refuses one that says too little', async () => {
      const event = {
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'example.com/operator',
        reportingInstance: 'pod-1',
        action: 'Create',
        reason: 'Created',
        type: 'Normal',
        note: 'made it',
        regarding: {
          apiVersion: 'boxwright.dev/v1alpha1',
          kind: 'InstanceLease',
          namespace,
          name: 'a',
          uid: '1',
        },
      };
      const put = (name: string, more: object): Promise<Thing> =>
        client.create<Thing>(EVENTS, { ...event, ...more, metadata: { namespace, name } });
      await put('event', {});
      const series = { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' };
      expect(await client.mergePatch<Thing>(EVENTS, at('event'), { series })).toMatchObject({ series });
      expect(await failure(put('note', { note: 'x'.repeat(1_025) }))).toMatchObject({
        causes: [{ field: 'message' }],
      });
      expect(await failure(put('action', { action: '' }))).toMatchObject({ causes: [{ field: 'action' }] });
      expect((await failure(put('time', { eventTime: '2026-01-01T00:00:00Z' }))).status).toBe(400);
    });

    it('takes nothing new into a namespace that goes', async () => {
      const home = await server.namespace();
      await client.create(CONFIG_MAPS, {
        metadata: { namespace: home, name: 'holds', finalizers: ['x.example/hold'] },
      });
      await client.delete(NAMESPACES, { name: home });
      const going = await eventually('the namespace goes', () =>
        client.get<Thing>(NAMESPACES, { name: home }),
      );
      expect(going.status).toMatchObject({ phase: 'Terminating' });
      const error = await failure(
        client.create(CONFIG_MAPS, { metadata: { namespace: home, name: 'late' } }),
      );
      expect(error).toMatchObject({ status: 403, reason: 'Forbidden' });
      expect(error.message).toContain('being terminated');
      await client.mergePatch(
        CONFIG_MAPS,
        { namespace: home, name: 'holds' },
        { metadata: { finalizers: null } },
      );
    });
  });
});

interface List {
  kind: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: Thing[];
}

function names(list: List): string[] {
  return list.items.map(({ metadata }) => metadata.name);
}

function versionOf(object: KubeObject): number {
  return Number(object.metadata.resourceVersion);
}

/** The lines of a watch one by one, without bookmarks. */
function reader(events: AsyncIterable<WatchLine>): { next(): Promise<WatchLine> } {
  const iterator = events[Symbol.asyncIterator]();
  return {
    async next() {
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true) throw new Error('the watch has ended');
        if (value.type !== 'BOOKMARK') return value;
      }
    },
  };
}

async function failure(call: Promise<unknown>): Promise<KubeApiError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof KubeApiError) return error;
    throw error;
  }
  throw new Error('expected a refusal');
}
