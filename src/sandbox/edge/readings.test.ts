import { expect, test } from 'vitest';
import { startFixture, type Answered, type Fixture } from '../fixture.ts';
import { READINGS, type ReadingName } from './readings.ts';

/** Asks something whose answer the reading is about. */
type Probe = (fixture: Fixture) => Promise<Answered>;

const LEASE = { operation: 'shutdown', expire: '2999-01-01 10:20:30.400000' };

async function online({ clock, deployable, deploy }: Fixture, more: object = {}): Promise<Answered['body']> {
  const instance = await deploy(await deployable(), more);
  await clock.advance(10_000);
  return instance;
}

/** One for each reading: a reading without a probe does not compile. */
const PROBES = {
  terminate: async (fixture) => {
    const { uri } = await fixture.deploy(await fixture.deployable());
    return fixture.call('DELETE', `${uri}?operation=terminate`);
  },
  bareDelete: async (fixture) => fixture.call('DELETE', (await online(fixture)).uri),
  operationStatus: async (fixture) => fixture.call('PUT', `${(await online(fixture)).uri}/shutdown`),
  gone: async (fixture) => {
    const { uri } = await online(fixture);
    await fixture.call('DELETE', `${uri}?operation=terminate`);
    await fixture.clock.advance(10_000);
    await fixture.call('DELETE', `${uri}?operation=delete`);
    return fixture.call('GET', uri);
  },
  login: ({ call }) =>
    call('POST', '/services/security/token', { email: 'ops@example.com', password: 'secret-1' }),
  secondPhase: async (fixture) => {
    const { uri } = await online(fixture);
    await fixture.call('PUT', `${uri}/shutdown`);
    await fixture.clock.advance(10_000);
    return fixture.call('GET', uri);
  },
  noLease: async (fixture) => fixture.call('GET', (await online(fixture)).uri),
  leaseDropped: async (fixture) =>
    fixture.call('PUT', (await online(fixture, { lease: LEASE })).uri, { tags: [] }),
  leaseAlwaysOn: async (fixture) => {
    const { uri } = await online(fixture, { lease: LEASE });
    return fixture.call('PUT', uri, { lease: { operation: 'alwayson' } });
  },
  leasePrecision: async (fixture) => fixture.call('GET', (await online(fixture, { lease: LEASE })).uri),
  boxPut: async ({ call, deployable }) => {
    const { box } = await deployable();
    return call('PUT', box.uri, { visibility: 'public' });
  },
  boxPost: ({ call, sandbox }) =>
    call('POST', '/services/boxes', {
      schema: `${sandbox.schemaBase}/boxes/script`,
      name: 'one post',
      requirements: ['Linux'],
      variables: [{ name: 'A', type: 'Text', value: '1' }],
    }),
  nameLength: async ({ call, deployable, sandbox }) => {
    const { box, policy } = await deployable();
    return call('POST', '/services/instances', {
      schema: `${sandbox.schemaBase}/deploy-instance-request`,
      name: policy.id,
      box: { id: box.id },
      policy_box: { id: policy.id },
    });
  },
  passwords: async ({ call, deployable }) => {
    const { box } = await deployable({}, { variables: [{ name: 'P', type: 'Password', value: 'secret' }] });
    return call('GET', box.uri);
  },
  listEntries: async (fixture) => {
    await online(fixture);
    return fixture.call('GET', '/services/instances');
  },
  unknownFields: async ({ call, deployable }) => call('PUT', (await deployable()).box.uri, { colour: 'red' }),
  ids: ({ call }) => call('GET', '/services/workspaces?ids=ops'),
  release: ({ call }) => call('GET', '/services/boxes', undefined, { 'service-release': '9.9' }),
  workspaceCreated: ({ call, sandbox }) =>
    call('POST', '/services/workspaces', { schema: `${sandbox.schemaBase}/workspaces/team`, name: 'New' }),
  deployVersions: async ({ call, deployable, sandbox }) => {
    const { box, policy } = await deployable();
    const version = await call('PUT', box.uri, { version: { number: { major: 1, minor: 0, patch: 0 } } });
    return call('POST', '/services/instances', {
      schema: `${sandbox.schemaBase}/deploy-instance-request`,
      box: { id: version.body.id },
      policy_box: { id: policy.id },
    });
  },
  reboot: async (fixture) => {
    const { uri } = await fixture.deploy(await fixture.deployable({ install: 'exit 100' }));
    await fixture.clock.advance(60_000);
    return fixture.call('GET', uri);
  },
} satisfies Record<ReadingName, Probe>;

// V3
test.each(Object.keys(READINGS) as ReadingName[])(
  'each value of the reading %s answers in its own way',
  async (name) => {
    const values = Object.keys(READINGS[name].values);
    const answers = new Set<string>();
    for (const value of values) {
      const fixture = await startFixture({ readings: { [name]: value } });
      const { status, headers, body } = await PROBES[name](fixture);
      await fixture.sandbox.stop();
      answers.add(JSON.stringify([status, headers['content-type'], body]));
    }
    expect(answers.size).toBe(values.length);
  },
);

test('PUT of a box that would change what it cannot is refused, or says so; unchanged fields pass', async () => {
  for (const [boxPut, status] of [
    ['interface', 200],
    ['refuse', 400],
  ] as const) {
    const { call, deployable } = await startFixture({ readings: { boxPut } });
    const { box, policy } = await deployable();
    expect((await call('PUT', policy.uri, policy)).status).toBe(200);
    expect((await call('PUT', policy.uri, policy)).headers['warning']).toBeUndefined();
    for (const [record, change] of [
      [box, { visibility: 'public' }],
      [box, { owner: 'shop' }],
      [box, { automatic_updates: 'minor' }],
      [policy, { claims: ['Windows'] }],
      [policy, { profile: { ...policy.profile, flavor: 'test.small' } }],
      [policy, { lifespan: { operation: 'terminate', interval: 'hours', quantity: 1 } }],
      [policy, { readme: { url: '/readme' } }],
    ]) {
      const answer = await call('PUT', record.uri, { ...record, ...change });
      expect(answer.status).toBe(status);
      expect(answer.headers['warning'] ?? answer.body.message).toContain(Object.keys(change)[0]);
      expect((await call('GET', record.uri)).body).toMatchObject(
        Object.fromEntries(Object.keys(change).flatMap((key) => (key in record ? [[key, record[key]]] : []))),
      );
    }
  }
});
