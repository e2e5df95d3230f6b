import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import type { KubePort, KubeRequest } from '../../src/kube/index.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import type { PortRequest } from '../../src/service/index.ts';
import { Bench } from './bench.ts';
import type { Court, Judge, KubeWrite, ServiceCall } from './judge.ts';
import { ENDPOINT, stored } from './trial.ts';

const WEB = '/apis/boxwright.dev/v1alpha1/namespaces/shop/instances/web';
const ELSEWHERE = 'https://elsewhere.test';

/** A service that holds these records, as far as the bench looks at it. */
function service(id: string): Sandbox {
  const tables: Readonly<Record<string, object[]>> = {
    instances: [{ id, name: 'web' }],
    operations: [
      { instance: id, operation: 'deploy' },
      { instance: 'other', operation: 'deploy' },
    ],
  };
  const content = [{ id: `blob-${id}`, content: Buffer.from(`content of ${id}`) }];
  return {
    admin: { records: (table: string) => tables[table] ?? [], snapshot: () => ({ content }) },
  } as unknown as Sandbox;
}

let clock: VirtualClock;
let bench: Bench;
let court: Court;
/** What a judge of that bench was told. */
let told: { writes: KubeWrite[]; calls: ServiceCall[]; outages: number[] };
const JUDGE = 'witness';
/** What the API server answers, or fails with. */
let answer: () => Promise<{ status: number; body: unknown }>;
const port: KubePort = {
  request: () => answer() as never,
  watch: () => answer() as never,
};

beforeEach(() => {
  clock = new VirtualClock();
  told = { writes: [], calls: [], outages: [] };
  const witness = (): Judge => ({
    wrote: (write) => void told.writes.push({ ...write }),
    called: (call) => void told.calls.push({ ...call }),
    reached: (ms) => void told.outages.push(ms),
  });
  const services = { sandbox: service('i-1'), others: { [ELSEWHERE]: service('i-2') } };
  bench = new Bench({ clock, ...services, judges: { [JUDGE]: witness } });
  court = bench.court(JUDGE);
  answer = () => Promise.resolve({ status: 200, body: stored({ metadata: { resourceVersion: '2' } }) });
});

const PATCH: KubeRequest = { method: 'PATCH', path: `${WEB}/status`, body: {} };

describe('what is objected to', () => {
  it('is kept with judge and moment', async () => {
    await clock.advance(1_500);
    court.object('wrong');
    expect(bench.said()).toEqual(['witness (+1.5 s): wrong']);
  });

  it('is kept five times a judge, however often it is said', () => {
    for (let times = 0; times < 100; times++) court.object('the same again');
    bench.court('other').object('something else');
    expect(bench.objections.map(({ judge }) => judge)).toEqual([...Array<string>(5).fill(JUDGE), 'other']);
  });
});

it.each([
  ['a judge that is excused', () => bench.excuse(JUDGE)],
  ['anybody once the world is over', () => bench.end()],
])('tells %s of nothing', async (_whom, happens) => {
  happens();
  await bench.kube(port).request(PATCH);
  expect(told.writes).toEqual([]);
});

describe('a write to the API server', () => {
  it('is shown with what it met, what it made, and to which part', async () => {
    bench.change('instances', stored({ status: { id: 'i-1' } }), undefined);
    await bench.kube(port).request(PATCH);
    const [write] = told.writes;
    expect([write?.resource, write?.key, write?.part]).toEqual(['instances', 'shop/web', 'status']);
    expect(write?.before?.status?.id).toBe('i-1');
    expect(write?.after?.metadata.resourceVersion).toBe('2');
    await bench.kube(port).request({ ...PATCH, path: WEB });
    expect(told.writes[1]?.part).toBe('object');
  });

  it('has changed nothing where it is refused, or its answer is lost', async () => {
    answer = () => Promise.resolve({ status: 409, body: stored({}) });
    await bench.kube(port).request(PATCH);
    answer = () => Promise.reject(new Error('reset'));
    await expect(bench.kube(port).request(PATCH)).rejects.toThrow('reset');
    expect(told.writes.map(({ status, after }) => [status, after])).toEqual([
      [409, undefined],
      [undefined, undefined],
    ]);
  });

  it('is seen against the object as it was when it went out', async () => {
    bench.change('instances', stored({ status: { id: 'i-1' } }), undefined);
    answer = () => {
      bench.change('instances', stored({ status: { id: 'i-2' } }), undefined);
      return Promise.resolve({ status: 200, body: stored({}) });
    };
    await bench.kube(port).request(PATCH);
    expect(told.writes[0]?.before?.status?.id).toBe('i-1');
  });

  it.each([
    ['of another group', { path: '/apis/apps/v1/namespaces/shop/deployments/web' }],
    ['to a Secret', { path: '/api/v1/namespaces/shop/secrets/web' }],
    ['that is a read', { method: 'GET' }],
  ] as const)('%s is shown to nobody', async (_what, request) => {
    await bench.kube(port).request({ ...PATCH, ...request });
    expect(told.writes).toEqual([]);
  });
});

const line = (type: string, version: string, id: string): object => ({
  type,
  object: { kind: 'Instance', ...stored({ metadata: { resourceVersion: version }, status: { id } }) },
});
const follow = async (...lines: object[]): Promise<void> => {
  answer = () => Promise.resolve({ status: 200, body: undefined, events: lines }) as never;
  const watch = await bench.kube(port, { follow: true }).watch({ method: 'GET', path: `${WEB}s` });
  for await (const each of watch.events) void each;
};

describe('a bench that nobody tells of changes', () => {
  it('takes what passes by for the state of the objects, the newest version whatever comes later', async () => {
    await follow(line('ADDED', '7', 'i-7'), line('MODIFIED', '5', 'i-5'));
    expect(court.resource('instances', 'shop/web')?.status?.id).toBe('i-7');
    expect(court.resources('instances')).toHaveLength(1);
    await follow(line('DELETED', '8', 'i-7'));
    expect(court.resource('instances', 'shop/web')).toBeUndefined();
  });

  it('knows with the write of the last finalizer that an object is gone, and no trailing word brings it back', async () => {
    await follow(line('ADDED', '7', 'i-7'));
    const metadata = { resourceVersion: '9', deletionTimestamp: '2026-01-01T00:00:00Z' };
    answer = () => Promise.resolve({ status: 200, body: { kind: 'Instance', ...stored({ metadata }) } });
    await bench.kube(port, { follow: true }).request({ ...PATCH, path: WEB });
    expect(court.resource('instances', 'shop/web')).toBeUndefined();
    await follow(line('MODIFIED', '8', 'i-7'), line('DELETED', '10', 'i-7'));
    expect(court.resource('instances', 'shop/web')).toBeUndefined();
    await follow(line('ADDED', '11', 'i-11'));
    expect(court.resource('instances', 'shop/web')?.status?.id).toBe('i-11');
  });
});

const send = (request: PortRequest, body?: string): Promise<unknown> =>
  bench.service({ send: () => Promise.resolve({ status: 200, body }) as never }, ENDPOINT).send(request);

describe('a call to the service', () => {
  const PUT = {
    maxBytes: 1,
    timeoutMs: 1,
    method: 'PUT',
    path: '/services/instances/i-1?x=1',
    headers: {},
    body: '{"name":"web"}',
  } as const;
  it('is shown with body, answer, record, and the resource whose pass it is made in', async () => {
    const of = { 'boxwright.kind': 'Instance', 'k8s.namespace.name': 'shop', 'boxwright.name': 'web' };
    await bench.tracer(undefined).within('reconcile', of, () => send(PUT, '{"id":"i-1"}'));
    await send(PUT);
    expect(told.calls[0]).toMatchObject({
      endpoint: ENDPOINT,
      body: { name: 'web' },
      record: { table: 'instances', id: 'i-1' },
      by: 'instances shop/web',
      status: 200,
      answer: { id: 'i-1' },
    });
    expect(told.calls[1]).toMatchObject({ by: undefined, answer: undefined });
  });

  it('that is no JSON, or fails, is shown without a body, and with its end', async () => {
    await clock.advance(500);
    const failing = bench.service({ send: () => Promise.reject(new Error('reset')) }, ENDPOINT);
    await expect(failing.send({ ...PUT, body: '{' })).rejects.toThrow('reset');
    expect(told.calls).toMatchObject([{ body: undefined, status: undefined, endedAt: 500 }]);
  });
});

describe('what is true on the service', () => {
  it('is looked up at an endpoint, or wherever it is', () => {
    expect(court.records('instances', ELSEWHERE).map(({ id }) => id)).toEqual(['i-2']);
    expect(court.records('instances').map(({ id }) => id)).toEqual(['i-1', 'i-2']);
    expect(court.record('instances', 'i-2', ENDPOINT)).toBeUndefined();
    expect(court.record('instances', 'i-2')?.id).toBe('i-2');
  });

  it('has the operations of an instance, and the content of a blob', () => {
    expect(court.operations('i-2')).toHaveLength(1);
    expect(court.blob('/services/blobs/download/blob-i-2/web.conf')).toBe('content of i-2');
    expect(court.blob('/services/blobs/download/none')).toBeUndefined();
  });
});

it('knows the installation by its ConfigMap, unless it is told', () => {
  expect(court.installation()).toBeUndefined();
  const map = { ...stored({ name: 'boxwright-installation' }), data: { id: 'one' } };
  bench.change('configmaps', map, undefined);
  expect(court.installation()).toBe('one');
});

it('tells how long a kind could not be reached, once', async () => {
  const request = { method: 'GET', path: `${WEB}s` } as const;
  answer = () => Promise.reject(new Error('down'));
  await expect(bench.kube(port).watch(request)).rejects.toThrow('down');
  await clock.advance(30_000);
  await expect(bench.kube(port).request(request)).rejects.toThrow('down');
  answer = () => Promise.resolve({ status: 200, body: undefined });
  await clock.advance(30_000);
  await bench.kube(port).watch(request);
  await bench.kube(port).watch(request);
  expect(told.outages).toEqual([60_000]);
});
