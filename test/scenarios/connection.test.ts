import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import type { ServicePort } from '../../src/service/index.ts';
import { CONNECTION, World } from '../support/world.ts';
import { BOXES, HOUR, instance, Shop } from './shop.ts';

const [, LOGIN = ''] = CONNECTION.split('---');
const secret = (data: string): string => `
apiVersion: v1
kind: Secret
metadata: {name: deploy-login}
stringData: {${data}}
`;
const BOX = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec:
  connectionRef: {name: main}
`;

const reasonOf = (world: World, kind: 'Connection' | 'Box', name: string): string =>
  `${world.ready(kind, name)} ${world.condition(kind, name, 'Ready')?.reason}`;

describe('a connection', () => {
  let world: World;
  const reason = (): string => reasonOf(world, 'Connection', 'main');

  beforeEach(() => {
    world = new World();
    world.start();
  });

  it('says step by step what its credentials lack, and follows a rotation within half a minute', async () => {
    await world.apply(LOGIN);
    await world.apply(BOX);
    await world.until(() => reason() === 'False WaitingForSecret');
    expect(world.condition('Connection', 'main', 'Ready')?.message).toContain('does not exist');
    await world.apply(secret('username: x'));
    await world.until(
      () => world.condition('Connection', 'main', 'Ready')?.message.includes('only username') === true,
    );
    await world.apply(secret('email: ops@example.com, password: wrong-password'));
    await world.until(() => reason() === 'False CredentialsRejected');
    expect(world.condition('Connection', 'main', 'CredentialsValid')?.status).toBe('False');
    expect(reasonOf(world, 'Box', 'web')).toBe('False WaitingForConnection');
    await world.apply(secret('email: ops@example.com, password: secret-password'));
    await world.until(() => reason() === 'True Settled', 40_000);
    await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled');
    world.sandbox.admin.revokeTokens();
    await world.advance(1_200_000);
    expect(reason()).toBe('True Settled');
  });

  it('does not try a refused credential again and again', async () => {
    await world.apply(CONNECTION.replace('token: token-of-ops', 'email: ops@example.com, password: wrong'));
    await world.until(() => reason() === 'False CredentialsRejected');
    const calls = (): number => world.sandbox.admin.calls({}).length;
    const before = calls();
    await world.advance(590_000);
    expect(calls()).toBe(before);
  });

  // H4
  it('that is refused once is doubted: asked again within seconds, and nobody waits for it meanwhile', async () => {
    await world.apply(CONNECTION);
    await world.apply(BOX);
    await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled');
    world.sandbox.admin.addFault({ match: { route: '/services/workspaces' }, status: 403, times: 1 });
    await world.advance(700_000);
    await world.until(() => reason() === 'True Settled', 10_000);
    expect(reasonOf(world, 'Box', 'web')).toBe('True Settled');
    expect(world.events.filter(({ reason: why }) => why === 'CredentialsRejected')).toEqual([]);
    expect(world.events.some(({ note }) => note.includes('asks once more'))).toBe(true);
  });

  it('that is refused again is asked at once on request, and when its Secret is touched', async () => {
    await world.apply(CONNECTION);
    await world.until(() => reason() === 'True Settled');
    world.sandbox.admin.addFault({ match: { route: '/services/workspaces' }, status: 403 });
    await world.annotate('Connection', 'main', { 'boxwright.dev/requested-at': '1' });
    await world.until(() => reason() === 'False CredentialsRejected', 10_000);
    expect(world.condition('Connection', 'main', 'Ready')?.message).toContain('may read workspace');
    await world.advance(30_000);
    const calls = (): number => world.sandbox.admin.calls({}).length;
    let before = calls();
    await world.annotate('Connection', 'main', { 'boxwright.dev/requested-at': '2' });
    await world.advance(2_000);
    expect(calls()).toBeGreaterThan(before);
    await world.advance(30_000);
    before = calls();
    await world.advance(300_000);
    expect(calls()).toBe(before);
    world.sandbox.admin.removeFault();
    await world.apply(secret('token: token-of-ops').replace('{name', '{labels: {touched: "yes"}, name'));
    await world.until(() => reason() === 'True Settled', 35_000);
  });

  // B6
  it('is looked at when a person asks, though it was looked at a moment ago', async () => {
    await world.apply(CONNECTION);
    await world.until(() => reason() === 'True Settled');
    await world.advance(15_000);
    const before = world.sandbox.admin.calls({}).length;
    await world.annotate('Connection', 'main', { 'boxwright.dev/requested-at': '1' });
    await world.annotate('Connection', 'main', { 'boxwright.dev/requested-at': '2' });
    await world.advance(1_000);
    expect(world.get('Connection', 'main')?.status?.['lastHandledRequest']).toBe('2');
    expect(world.sandbox.admin.calls({}).length).toBeGreaterThan(before);
    await world.advance(12_000);
    const after = world.sandbox.admin.calls({}).length;
    await world.advance(300_000);
    expect(world.sandbox.admin.calls({}).length).toBe(after);
  });

  // H9
  it('says within seconds that the calls of its users fail, and that they work again', async () => {
    await world.apply(CONNECTION);
    await world.apply(BOX);
    await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled');
    const reachable = (): string | undefined => world.condition('Connection', 'main', 'Reachable')?.status;
    expect(reachable()).toBe('True');
    world.sandbox.admin.addFault({ match: {}, status: 503 });
    await world.edit('Box', 'web', { description: 'Another' });
    await world.until(() => reachable() === 'False', 15_000);
    expect(world.condition('Connection', 'main', 'Reachable')?.message).toContain('answered 503');
    expect(reasonOf(world, 'Box', 'web')).toBe('False ServiceUnavailable');
    await world.advance(120_000);
    expect(reachable()).toBe('False');
    world.sandbox.admin.removeFault();
    await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled', 400_000);
    await world.until(() => reachable() === 'True' && reason() === 'True Settled', 2_000);
  });

  it('says that an endpoint answers with a page instead of the service', async () => {
    world.sandbox.admin.addFault({ match: {}, body: 'html' });
    await world.apply(CONNECTION);
    await world.until(() => reason() === 'False Unknown');
    expect(world.condition('Connection', 'main', 'Ready')?.message).toContain('spec.endpoint');
    world.sandbox.admin.removeFault();
    await world.until(() => reason() === 'True Settled', 120_000);
  });

  it('stays while others use it, names them, and goes with the last of them', async () => {
    await world.apply(CONNECTION);
    await world.apply(BOX);
    await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled');
    await world.delete('Connection', 'main');
    await world.until(() => reason() === 'False InUse');
    expect(world.condition('Connection', 'main', 'Ready')?.message).toContain('Box/web');
    await world.delete('Box', 'web');
    await world.until(() => world.get('Connection', 'main') === undefined);
    expect(world.sandbox.admin.records('boxes')).toEqual([]);
  });

  it('lets everything go that was deleted with its credentials', async () => {
    await world.apply(CONNECTION);
    await world.apply(BOX);
    await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled');
    await world.delete('Secret', 'deploy-login');
    await world.delete('Connection', 'main');
    await world.advance(60_000);
    await world.delete('Box', 'web');
    await world.until(() => world.list('Box').length + world.list('Connection').length === 0);
    expect(world.sandbox.admin.records('boxes')).toEqual([]);
  });

  it('after a restart without the credentials says so, and Orphan is the way out', async () => {
    await world.apply(CONNECTION);
    await world.apply(BOX);
    await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled');
    await world.delete('Secret', 'deploy-login');
    world.kill();
    await world.delete('Box', 'web');
    world.start();
    await world.until(() => reasonOf(world, 'Box', 'web') === 'False CredentialsMissing');
    expect(world.condition('Box', 'web', 'Ready')?.message).toContain('Orphan');
    // H7
    expect(world.condition('Box', 'web', 'Ready')?.message).toContain('a namespace that is being deleted');
    await world.advance(600_000);
    await world.edit('Box', 'web', { deletionPolicy: 'Orphan' });
    await world.until(() => world.get('Box', 'web') === undefined);
    expect(world.sandbox.admin.records('boxes')).toHaveLength(1);
  });

  it('that points to another service proves nothing about records of the one before', async () => {
    await world.apply(CONNECTION);
    await world.apply(BOX);
    await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled');
    await world.edit('Connection', 'main', { endpoint: 'https://other.test' });
    world.sandbox.admin.addFault({ match: { route: '/services/boxes/{box_id}' }, status: 404 });
    world.sandbox.admin.setListLag({ polls: 1_000 });
    await world.delete('Box', 'web');
    await world.advance(1_200_000);
    expect(world.get('Box', 'web')?.metadata.finalizers).toHaveLength(1);
    expect(world.condition('Box', 'web', 'Ready')?.message).toContain('Orphan');
  });
});

it('is ready though its first status write meets a conflict', async () => {
  let conflicts = 1;
  const world = new World({
    kubePort: (port) => ({
      ...port,
      watch: (request) => port.watch(request),
      request: async (request) => {
        const status = request.path.endsWith('connections/main/status');
        if (status && JSON.stringify(request.body ?? '').includes('schemaBase') && conflicts-- > 0) {
          return {
            status: 409,
            headers: {},
            body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 409, reason: 'Conflict' },
          };
        }
        return port.request(request);
      },
    }),
  });
  world.start();
  await world.apply(CONNECTION);
  await world.until(() => world.ready('Connection', 'main') === 'True', 5_000);
  await world.apply(BOX);
  await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled', 10_000);
  expect(conflicts).toBeLessThanOrEqual(0);
});

it('whose token is refused at a create does not make what was declared refused', async () => {
  let refuse = true;
  const servicePort = (port: ServicePort): ServicePort => ({
    ...port,
    send: async (request) =>
      refuse && request.method === 'POST' && request.path.startsWith('/services/boxes')
        ? { status: 401, headers: {}, body: new Uint8Array() }
        : port.send(request),
  });
  const world = new World({ servicePort });
  world.start();
  await world.apply(CONNECTION);
  await world.until(() => world.ready('Connection', 'main') === 'True');
  await world.apply(BOX);
  await world.until(() => reasonOf(world, 'Box', 'web') === 'False WaitingForConnection');
  refuse = false;
  await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled', 120_000);
  expect(world.sandbox.admin.records('boxes')).toHaveLength(1);
});

it('whose account is refused at one write alone, by 401, sends it slowly, and the other calls go on', async () => {
  let sends = 0;
  const shop = new Shop();
  shop.judge = ({ method, path }) => {
    if (method !== 'PUT' || !/^\/services\/instances\/[^/]+$/.test(path)) return undefined;
    sends += 1;
    return { status: 401, headers: {}, body: new Uint8Array() };
  };
  // The login of this test holds the account's address, which status shows.
  shop.world.judges.excuse('secrecy');
  shop.world.start();
  const login = 'stringData: {email: ops@example.com, password: secret-password}';
  await shop.world.apply(CONNECTION.replace('stringData: {token: token-of-ops}', login));
  await shop.world.apply(BOXES);
  await shop.world.apply(instance('  variables: [{name: PORT, type: Port, value: "80"}]'));
  await shop.online();
  await shop.world.edit('Instance', 'web-eu', { variables: [{ name: 'PORT', type: 'Port', value: '81' }] });
  await shop.world.until(() => shop.ready() === 'False Refused');
  expect(sends).toBeLessThanOrEqual(3);
  await shop.world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
  await shop.world.until(() => shop.status().phase === 'ShutDown');
  await shop.world.advance(24 * HOUR);
  expect(sends).toBeLessThanOrEqual(12);
  expect(shop.ready('main', 'Connection')).toBe('True Settled');
  await shop.close();
});

it('that does not fit its schema any more goes when it is deleted', async () => {
  const shop = new Shop();
  shop.world.start();
  await shop.world.apply(CONNECTION);
  await shop.world.until(() => shop.ready('main', 'Connection') === 'True Settled');
  const stored = shop.world.get('Connection', 'main');
  if (stored === undefined) throw new Error('no connection');
  shop.seed('Connection', { ...stored, spec: { ...stored.spec, endpoint: 'no URL' } });
  await shop.world.until(() => shop.ready('main', 'Connection') === 'False NeedsUser');
  await shop.world.delete('Connection', 'main');
  await shop.world.until(() => shop.world.get('Connection', 'main') === undefined, 60_000);
  expect(shop.world.get('Connection', 'main')).toBeUndefined();
  await shop.close();
});

// M9
it('that moved to a service without the records names both endpoints, and is looked at slowly', async () => {
  const clock = new VirtualClock();
  const other = createSandbox({
    clock,
    data: ':memory:',
    account: { email: 'ops@example.com', password: 'secret-password', token: 'token-of-ops' },
  });
  const world = new World({ clock, others: { 'https://other.test': other } });
  world.start();
  await world.apply(CONNECTION);
  await world.apply(BOX);
  await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled');
  await world.edit('Connection', 'main', { endpoint: 'https://other.test' });
  await world.until(() => reasonOf(world, 'Box', 'web') === 'False NeedsUser', 15 * 60_000);
  const message = world.condition('Box', 'web', 'Ready')?.message;
  expect(message).toContain('last found at https://service.test with ops@example.com');
  expect(message).toContain('the connection is to https://other.test');
  const calls = (): number => other.admin.calls({}).length;
  await world.advance(3_600_000);
  const before = calls();
  await world.advance(3_600_000);
  expect(calls() - before).toBeLessThanOrEqual(20);
  await world.edit('Connection', 'main', { endpoint: 'https://service.test' });
  await world.until(() => reasonOf(world, 'Box', 'web') === 'True Settled', 60_000);
});

// B12
it('says that the clocks differ while they do, and how leases are affected', async () => {
  let skewMs = 7_200_000;
  const servicePort = (port: ServicePort): ServicePort => ({
    ...port,
    send: async (request) => {
      const answer = await port.send(request);
      const date = new Date(world.clock.now() + skewMs).toUTCString();
      return { ...answer, headers: { ...answer.headers, date } };
    },
  });
  const world = new World({ servicePort });
  world.start();
  await world.apply(CONNECTION);
  await world.until(() => world.condition('Connection', 'main', 'ClockSkew')?.status === 'True');
  expect(world.condition('Connection', 'main', 'ClockSkew')?.message).toContain(
    "about 2h ahead of the operator's: leases end that much early",
  );
  expect(reasonOf(world, 'Connection', 'main')).toBe('True Settled');
  skewMs = 0;
  await world.until(() => world.condition('Connection', 'main', 'ClockSkew') === undefined, 900_000);
});
