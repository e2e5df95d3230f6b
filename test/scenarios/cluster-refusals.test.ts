import { afterEach, describe, expect, it } from 'vitest';
import type { KindName } from '../../src/api/kinds.ts';
import type { KubeAnswer, KubePort, KubeRequest } from '../../src/kube/index.ts';
import { CONNECTION, World } from '../support/world.ts';
import { BOXES, HOUR, instance, leaseOf, MINUTE, Shop } from './shop.ts';

const DENIED =
  'ValidatingAdmissionPolicy "tidy" with binding "tidy" denied request: no annotations of others';

function refusal(code: number, reason: string, message: string): KubeAnswer {
  return { status: code, headers: {}, body: { kind: 'Status', status: 'Failure', code, reason, message } };
}

/** As the API server words it, with names that may say anything. */
function missingRight({ path }: KubeRequest): string {
  const plural = path.split('/')[6] ?? '';
  return `${plural}.boxwright.dev "quota-policy" is forbidden: User "x" cannot patch resource "${plural}"`;
}

/** Puts the answers of `judge` in front of an API server. */
function guarded(judge: (request: KubeRequest) => KubeAnswer | undefined): (port: KubePort) => KubePort {
  return (port) => ({
    watch: (request) => port.watch(request),
    request: async (request) => judge(request) ?? port.request(request),
  });
}

const patchOf =
  (kinds: string, part: 'metadata' | 'status') =>
  (request: KubeRequest): boolean =>
    request.method === 'PATCH' &&
    request.path.includes(`/${kinds}/`) &&
    request.path.endsWith('/status') === (part === 'status');

const EVERYTHING = [
  ['Instance', 'web-eu'],
  ['Box', 'web'],
  ['PolicyBox', 'small'],
  ['Connection', 'main'],
] as const;

// B3
describe('a write that the API server refuses', () => {
  let shop: Shop;
  let refuse: (request: KubeRequest) => KubeAnswer | undefined;
  let tries = 0;
  const open = async (): Promise<void> => {
    tries = 0;
    refuse = () => undefined;
    shop = await Shop.open({ kubePort: guarded((request) => counted(refuse(request))) });
  };
  const counted = (given: KubeAnswer | undefined): KubeAnswer | undefined => {
    if (given !== undefined) tries += 1;
    return given;
  };
  const reconciling = (kind: KindName, name: string): string => {
    const said = shop.world.condition(kind, name, 'Reconciling');
    return `${said?.reason}: ${said?.message}`;
  };
  /** What is refused here looks to these two judges like a fault of the operator. */
  const EXPECTED = /^(own schema|generations) /;
  afterEach(async () => {
    shop.world.kill();
    shop.world.judges.end();
    await shop.world.sandbox.stop();
    const said = shop.world.judges.said().filter((text) => !EXPECTED.test(text));
    if (said.length > 0) throw new Error(`the judges object:\n${said.join('\n')}`);
  });

  for (const [what, code, reason, message, way] of [
    ['a policy', 422, 'Invalid', DENIED, 'Exempt the service account'],
    [
      'a missing right',
      403,
      'Forbidden',
      'instances.boxwright.dev "web-eu" is forbidden: User "x" cannot patch resource "instances"',
      'Grant the operator',
    ],
    ['a quota', 403, 'Forbidden', 'exceeded quota: objects', 'Raise the quota'],
    [
      'a limit',
      422,
      'Invalid',
      'metadata.annotations: Too long: may not be more than 262144 bytes',
      'Remove annotations',
    ],
  ] as const) {
    it(`for ${what} is quoted with the way out, and tried slowly`, async () => {
      await open();
      const isMetadata = patchOf('instances', 'metadata');
      refuse = (request) => (isMetadata(request) ? refusal(code, reason, message) : undefined);
      await shop.world.apply(instance());
      await shop.world.until(() => reconciling('Instance', 'web-eu').startsWith('RefusedByCluster'), MINUTE);
      expect(reconciling('Instance', 'web-eu')).toContain(message);
      expect(reconciling('Instance', 'web-eu')).toContain(way);
      expect(shop.world.get('Instance', 'web-eu')?.status?.observedGeneration).toBe(1);
      // Nobody tells when a right is granted: it is tried soon at first.
      const atFirst = way === 'Grant the operator' ? 10 : 0;
      await shop.world.advance(HOUR);
      expect(tries).toBeLessThanOrEqual(5 + atFirst);
      await shop.world.advance(23 * HOUR);
      expect(tries).toBeLessThanOrEqual(12 + atFirst);
      expect(shop.records()).toEqual([]);
      refuse = () => undefined;
      await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': 'now' });
      await shop.online();
    });
  }

  it('leaves a settled resource Ready, and holds neither its deletion nor a change back once it passes', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    const isStatus = patchOf('instances', 'status');
    refuse = (request) =>
      isStatus(request) && JSON.stringify(request.body).includes('ShuttingDown')
        ? refusal(422, 'Invalid', DENIED)
        : undefined;
    await shop.world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await shop.world.until(() => reconciling('Instance', 'web-eu').startsWith('RefusedByCluster'), MINUTE);
    expect(reconciling('Instance', 'web-eu')).toContain('status');
    refuse = () => undefined;
    await shop.world.edit('Instance', 'web-eu', { tags: ['blue'] });
    await shop.world.until(() => shop.ready() === 'True ShutDown', 5 * MINUTE);
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
  });

  it('to status, whatever it says, is told by an event and not tried at the pace of a second', async () => {
    await open();
    const isStatus = patchOf('instances', 'status');
    refuse = (request) => (isStatus(request) ? refusal(403, 'Forbidden', missingRight(request)) : undefined);
    await shop.world.apply(instance());
    await shop.world.advance(HOUR);
    // Each try is followed by one to say so.
    expect(tries).toBeLessThanOrEqual(2 * 13);
    const told = shop.world.events.find(({ reason }) => reason === 'RefusedByCluster');
    expect(told?.note).toContain('Grant the operator the rights of its chart');
    expect(shop.records().length).toBeLessThanOrEqual(1);
  });

  it('to release a deleted resource is quoted', async () => {
    await open();
    const isMetadata = patchOf('boxes', 'metadata');
    refuse = (request) => (isMetadata(request) ? refusal(422, 'Invalid', DENIED) : undefined);
    await shop.world.delete('Box', 'web');
    await shop.world.until(() => reconciling('Box', 'web').includes(DENIED), 10 * MINUTE);
    expect(tries).toBeLessThanOrEqual(2);
  });

  it('for want of a right keeps nothing from its end for long once the right is there', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    refuse = (request) =>
      request.method === 'PATCH' ? refusal(403, 'Forbidden', missingRight(request)) : undefined;
    for (const [kind, name] of EVERYTHING) await shop.world.delete(kind, name);
    await shop.world.advance(700);
    refuse = () => undefined;
    await shop.world.until(
      () => EVERYTHING.every(([kind, name]) => shop.world.get(kind, name) === undefined),
      MINUTE,
    );
    expect(shop.records()).toEqual([]);
  });

  it('as a conflict for ever is tried ever more slowly, and leaves the service in peace', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    const isStatus = patchOf('instances', 'status');
    refuse = (request) => (isStatus(request) ? refusal(409, 'Conflict', 'somebody was faster') : undefined);
    const before = shop.mark();
    await shop.world.edit('Instance', 'web-eu', { tags: ['blue'] });
    await shop.world.advance(HOUR);
    expect(tries).toBeLessThanOrEqual(60);
    expect(shop.world.sandbox.admin.calls({ since: before }).length).toBeLessThanOrEqual(150);
    refuse = () => undefined;
    await shop.world.until(() => shop.record().tags.includes('blue'), 10 * MINUTE);
  });

  it('to a lease is told, and the instance keeps its end', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    const isStatus = patchOf('instanceleases', 'status');
    refuse = (request) => (isStatus(request) ? refusal(422, 'Invalid', DENIED) : undefined);
    await shop.world.apply(leaseOf('nights', 'operation: Shutdown, after: 1h'));
    await shop.world.advance(3 * HOUR);
    expect(tries).toBeLessThanOrEqual(20);
    expect(shop.world.events.some(({ reason }) => reason === 'RefusedByCluster')).toBe(true);
    expect(shop.pair()).toMatch(/^done\+shutdown/);
  });

  it('to a Connection is told there, and whoever uses it is sent there', async () => {
    shop = new Shop({
      kubePort: guarded((request) =>
        patchOf('connections', 'metadata')(request) ? refusal(422, 'Invalid', DENIED) : undefined,
      ),
    });
    shop.world.start();
    await shop.world.apply(CONNECTION);
    await shop.world.apply(instance());
    await shop.world.until(
      () => shop.message().includes('could not be reconciled: see its conditions'),
      MINUTE,
    );
    expect(reconciling('Connection', 'main')).toContain(DENIED);
  });

  it('never shows as a service that takes its time', async () => {
    const said = new Set<string>();
    await open();
    shop.world.kube.store.listen(({ object }) => {
      const { conditions = [] } =
        (object as { status?: { conditions?: { message: string }[] } }).status ?? {};
      for (const { message } of conditions) said.add(message);
    });
    const isMetadata = patchOf('instances', 'metadata');
    refuse = (request) =>
      isMetadata(request) ? refusal(503, 'ServiceUnavailable', 'failed calling webhook "w"') : undefined;
    await shop.world.apply(instance());
    await shop.world.until(
      () => reconciling('Instance', 'web-eu').includes('failed calling webhook'),
      10 * MINUTE,
    );
    expect([...said].filter((text) => /answer of the service|service takes/i.test(text))).toEqual([]);
    refuse = () => undefined;
    await shop.online();
  });
});

it('a webhook that takes the claim off again makes no loop at the pace of the machine', async () => {
  let patches = 0;
  const shop = await Shop.open({
    kubePort: (port) => ({
      watch: (request) => port.watch(request),
      request: (request) => {
        if (!patchOf('instances', 'metadata')(request)) return port.request(request);
        patches += 1;
        return port.request({ ...request, body: withoutClaim(request.body) });
      },
    }),
  });
  await shop.world.apply(instance());
  await shop.world.advance(MINUTE);
  const atFirst = patches;
  await shop.world.advance(HOUR);
  expect(patches - atFirst).toBeLessThanOrEqual(300);
  expect(shop.records()).toHaveLength(1);
  shop.world.kill();
  await shop.world.sandbox.stop();
});

function withoutClaim(body: unknown): unknown {
  const { metadata = {} } = body as { metadata?: { annotations?: Record<string, unknown> } };
  const kept = Object.entries(metadata.annotations ?? {}).filter(
    ([name]) => !/(external-id|claim)$/.test(name),
  );
  return { ...(body as object), metadata: { ...metadata, annotations: Object.fromEntries(kept) } };
}

// R15
it('resources that go while they are handled leave no error, no failed pass and no stack', async () => {
  const lines: string[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (...line: unknown[]) => void lines.push(JSON.stringify(line)),
    error: (...line: unknown[]) => void lines.push(JSON.stringify(line)),
    child: () => log,
  };
  const world = new World({ log });
  // The watch tells of them when they are gone already.
  world.kube.watchLagMs = 2_000;
  world.start();
  await world.advance(MINUTE);
  const all = [CONNECTION, BOXES, instance(), leaseOf('nights', 'operation: Shutdown, after: 1h')];
  for (const manifests of all) await world.apply(manifests);
  await world.delete('InstanceLease', 'nights');
  await world.delete('Instance', 'web-eu');
  for (const [kind, name] of [
    ['Box', 'web'],
    ['PolicyBox', 'small'],
    ['Connection', 'main'],
  ] as const) {
    await world.delete(kind, name);
  }
  await world.advance(10 * MINUTE);
  expect(lines).toEqual([]);
  world.kill();
  await world.sandbox.stop();
});
