import { afterEach, describe, expect, it } from 'vitest';
import type { KubePort, WatchLine } from '../../src/kube/index.ts';
import type { PortAnswer, PortRequest, ServicePort } from '../../src/service/index.ts';
import { BOX_AND_POLICY, instance } from '../support/real-world.ts';
import { CONNECTION, examples, typeOfKind, World, type WorldOptions } from '../support/world.ts';

// Bugs that other operators had, by the rows of the table in which they are kept. In one process on a virtual
// clock; B07 and B13 run on the real API server in bad-input.test.ts, B11 in canary.test.ts.

const MINUTE = 60_000;
let running: World[] = [];

afterEach(async () => {
  for (const world of running) await world.stop();
  running = [];
});

function start(options: WorldOptions = {}): World {
  const world = new World(options);
  running.push(world);
  world.start();
  return world;
}

/** Counts what is sent through a port to the API server and passes it on. */
function countingKube(seen: string[]): (port: KubePort) => KubePort {
  return (port) => ({
    request: (request) => {
      if (request.method !== 'GET') seen.push(`${request.method} ${request.path}`);
      return port.request(request);
    },
    watch: (request) => port.watch(request),
  });
}

const isWrite = ({ method }: { method: string }): boolean => method !== 'GET';

/** A service port that lets `judge` answer instead, or change what the service answered. */
function between(
  judge: (request: PortRequest) => PortAnswer | undefined,
  change: (request: PortRequest, given: PortAnswer) => PortAnswer = (_request, given) => given,
): (port: ServicePort) => ServicePort {
  return (port) => ({
    send: async (request) => judge(request) ?? change(request, await port.send(request)),
  });
}

function answer(status: number, body: unknown, headers: Record<string, string> = {}): PortAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  };
}

function serviceWrites(world: World): number {
  return world.sandbox.admin.calls().filter(isWrite).length;
}

function readyAll(world: World): boolean {
  return (['Connection', 'Box', 'PolicyBox', 'Instance', 'InstanceLease'] as const).every((kind) =>
    world
      .list(kind)
      .every((object) =>
        object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
      ),
  );
}

async function withReferences(world: World): Promise<void> {
  await world.apply(`${CONNECTION}---${BOX_AND_POLICY}`);
  await world.until(
    () => world.ready('Box', 'plain') === 'True' && world.ready('PolicyBox', 'small') === 'True',
  );
}

describe('B01', () => {
  it('a status write that conflicts straight after the create makes no second record', async () => {
    let conflicts = 0;
    let created = false;
    const world = start({
      kubePort: (port) => ({
        request: (request) => {
          const claims = JSON.stringify(request.body ?? '').includes('boxwright.dev/claim');
          const status = created && request.path.endsWith('/instances/one/status');
          if (request.method === 'PATCH' && (claims || status) && conflicts < 4) {
            if (request.path.includes('/instances/one')) {
              conflicts++;
              const body = { kind: 'Status', status: 'Failure', reason: 'Conflict', code: 409 };
              return Promise.resolve({ status: 409, headers: {}, body });
            }
          }
          return port.request(request);
        },
        watch: (request) => port.watch(request),
      }),
      servicePort: between((request) => {
        created ||= request.method === 'POST' && request.path === '/services/instances';
        return undefined;
      }),
    });
    await withReferences(world);
    await world.apply(instance('one'));
    await world.until(() => world.ready('Instance', 'one') === 'True');
    expect(conflicts).toBe(4);
    const records = world.sandbox.admin.records('instances');
    expect(records).toHaveLength(1);
    expect(world.get('Instance', 'one')?.status?.id).toBe(records[0]?.id);
  });
});

describe('B02 and B09', () => {
  it('what is settled writes nothing for half an hour, whatever the service adds and reorders', async () => {
    const writes: string[] = [];
    const world = start({
      kubePort: countingKube(writes),
      servicePort: between(() => undefined, untidy),
    });
    await world.apply(`${CONNECTION}\n---\n${examples()}`);
    await world.until(() => readyAll(world));
    await world.advance(MINUTE);
    const before = {
      kube: writes.length,
      service: serviceWrites(world),
      calls: world.sandbox.admin.calls().length,
    };
    await world.advance(30 * MINUTE);
    expect(writes.slice(before.kube)).toEqual([]);
    expect(serviceWrites(world) - before.service).toBe(0);
    expect(world.sandbox.admin.calls().length).toBeGreaterThan(before.calls);
  });
});

function untidy(_request: PortRequest, given: PortAnswer): PortAnswer {
  const text = Buffer.from(given.body).toString('utf8');
  if (given.status >= 300 || !/^[[{]/.test(text)) return given;
  return answer(given.status, untidied(JSON.parse(text)), given.headers);
}

/** Lists the other way round, text trimmed, and members that nobody knows. */
function untidied(value: unknown): unknown {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) {
    const plain = value.every((member) => typeof member === 'string' || isVariable(member));
    return (plain ? value.toReversed() : value).map(untidied);
  }
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value)
    .toReversed()
    .map(([key, member]) => [key, untidied(member)]);
  const tidy = Object.fromEntries(entries) as object;
  return 'id' in value && 'schema' in value ? { ...tidy, icon_metadata: {}, categories: ['added'] } : tidy;
}

function isVariable(value: unknown): boolean {
  return value !== null && typeof value === 'object' && 'name' in value && 'type' in value;
}

describe('B03', () => {
  it('many resources at a slow service settle without triggering themselves', async () => {
    const writes: string[] = [];
    const world = start({ kubePort: countingKube(writes), sandbox: { latency: 1_500 } });
    await world.apply(
      CONNECTION.replace(
        'credentialsRef:',
        'pace: {requestsPerSecond: 500, burst: 500, inFlight: 64}\n  credentialsRef:',
      ),
    );
    const boxes = Array.from(
      { length: 200 },
      (_, at) =>
        `\n---\n{apiVersion: boxwright.dev/v1alpha1, kind: Box, metadata: {name: box-${at}}, spec: {connectionRef: {name: main}}}`,
    );
    await world.apply(boxes.join(''));
    await world.until(() => readyAll(world));
    await world.advance(MINUTE);
    const before = writes.length;
    await world.advance(15 * MINUTE);
    expect(writes.slice(before)).toEqual([]);
  }, 120_000);
});

describe('B04', () => {
  it('a deletion without credentials says so after a restart, and ends when the Secret returns', async () => {
    const world = start();
    await withReferences(world);
    await world.stop();
    await world.delete('Secret', 'deploy-login');
    world.start();
    await world.delete('Box', 'plain');
    await world.until(() => world.condition('Box', 'plain', 'Ready')?.reason === 'CredentialsMissing');
    expect(world.condition('Box', 'plain', 'Ready')?.message).toMatch(
      /Bring the connection and its Secret back.*Orphan/,
    );
    await world.advance(10 * MINUTE);
    expect(world.get('Box', 'plain')).toBeDefined();
    // The way out without credentials.
    await world.delete('PolicyBox', 'small');
    await world.edit('PolicyBox', 'small', { deletionPolicy: 'Orphan' });
    await world.until(() => world.get('PolicyBox', 'small') === undefined, MINUTE);
    // The way out with them.
    await world.apply(CONNECTION);
    await world.until(() => world.get('Box', 'plain') === undefined, 2 * MINUTE);
    expect(world.sandbox.admin.records('boxes')).toHaveLength(1);
  });
});

describe('B05', () => {
  it('the resource outlives its record while the delete fails', async () => {
    const world = start();
    await withReferences(world);
    const match = { method: 'DELETE', route: '/services/boxes/{box_id}' };
    world.sandbox.admin.addFault({ match, status: 500, times: 10 });
    await world.delete('Box', 'plain');
    let outlived = true;
    await world.until(() => {
      const gone = world.get('Box', 'plain') === undefined;
      const record = world.sandbox.admin
        .records('boxes')
        .some(({ id }) => id !== world.get('PolicyBox', 'small')?.status?.id);
      if (gone && record) outlived = false;
      return gone;
    }, 60 * MINUTE);
    expect(outlived).toBe(true);
    expect(world.sandbox.admin.calls().filter(({ method }) => method === 'DELETE').length).toBeGreaterThan(
      10,
    );
  });
});

describe('B06', () => {
  it('what the service refused to make is deleted at once, and nothing else is', async () => {
    const world = start();
    await withReferences(world);
    const match = { method: 'POST', route: '/services/instances' };
    world.sandbox.admin.addFault({ match, status: 400, message: 'no' });
    await world.apply(instance('refused'));
    await world.until(() => world.condition('Instance', 'refused', 'Ready')?.reason === 'Refused');
    await world.delete('Instance', 'refused');
    await world.until(() => world.get('Instance', 'refused') === undefined, 10_000);
    expect(world.sandbox.admin.calls().filter(({ method }) => method === 'DELETE')).toEqual([]);
  });
});

describe('B08', () => {
  it('a watch that has gone silent is noticed, and a change acted upon', async () => {
    let silent = false;
    const world = start({
      kubePort: (port) => ({
        request: (request) => port.request(request),
        watch: async (request) => {
          const watch = await port.watch(request);
          if (!request.path.endsWith('/boxes')) return watch;
          return { ...watch, events: muted(watch.events, () => silent, request.signal) };
        },
      }),
    });
    await withReferences(world);
    silent = true;
    await world.edit('Box', 'plain', { description: 'Changed in silence' });
    await world.advance(MINUTE);
    const described = (): boolean =>
      JSON.stringify(world.sandbox.admin.records('boxes')).includes('Changed in silence');
    expect(described()).toBe(false);
    await world.until(() => {
      if (world.clock.monotonic() > 3 * MINUTE) silent = false; // the next watch is a sound one
      return described();
    }, 6 * MINUTE);
  });
});

/** A watch of which nothing comes any more, as behind a router that forgot the connection. */
async function* muted(
  events: AsyncIterable<WatchLine>,
  silent: () => boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchLine> {
  for await (const event of events) {
    if (silent()) {
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    }
    yield event;
  }
}

describe('B10', () => {
  it('a service that takes few writes gets few, and its Retry-After is kept', async () => {
    const limit = 20;
    let taken = 0;
    let windowEnds = 0;
    let early = 0;
    const world = start({
      servicePort: between((request) => {
        if (!isWrite(request) || !request.path.startsWith('/services/instances')) return undefined;
        const now = world.clock.monotonic();
        if (now >= windowEnds) [taken, windowEnds] = [0, now + MINUTE];
        if (taken < limit) {
          taken++;
          return undefined;
        }
        early++;
        const wait = Math.ceil((windowEnds - now) / 1_000);
        return answer(429, { message: 'slower' }, { 'retry-after': String(wait) });
      }),
    });
    await withReferences(world);
    const before = serviceWrites(world);
    await world.apply(Array.from({ length: 100 }, (_, at) => instance(`one-${at}`)).join('---'));
    await world.until(() => readyAll(world), 30 * MINUTE);
    expect(world.sandbox.admin.records('instances')).toHaveLength(100);
    // One create each: what was refused is not counted by the service.
    expect(serviceWrites(world) - before).toBe(100);
    // Those under way when the first refusal came, once a window at most.
    expect(early).toBeLessThanOrEqual(5 * 16);
  }, 120_000);
});

describe('B12', () => {
  it('a rotated credential is taken up within a minute, without a restart', async () => {
    const world = start();
    await withReferences(world);
    const { admin } = world.sandbox;
    admin.revokeTokens({ token: 'token-of-ops' });
    const token = admin.issueToken('ops@example.com');
    await world.user.mergePatch(
      typeOfKind('Secret'),
      { namespace: 'shop', name: 'deploy-login' },
      { data: { token: Buffer.from(token).toString('base64') } },
    );
    await world.apply(instance('after'));
    await world.until(() => world.ready('Instance', 'after') === 'True', MINUTE);
    expect(admin.records('instances')).toHaveLength(1);
  });
});

describe('an InstanceLease', () => {
  it('that comes between the intent and the create of its instance is deployed with it', async () => {
    const world = start();
    await withReferences(world);
    await world.apply(
      instance('one') +
        `
---
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: nights}
spec: {instanceRef: {name: one}, operation: Shutdown, after: 8h}
`,
    );
    await world.until(
      () => world.ready('Instance', 'one') === 'True' && world.ready('InstanceLease', 'nights') === 'True',
      MINUTE,
    );
    expect(world.get('Instance', 'one')?.status?.lease).toMatchObject({
      operation: 'Shutdown',
      source: { name: 'nights' },
    });
  });
});
