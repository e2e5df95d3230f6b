import { expect, test } from 'vitest';
import { ok, startFixture } from '../fixture.ts';
import { formatTime } from '../time.ts';

const HOUR = 3_600_000;

test('a lease runs its operation when it expires, and shows that it was released', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const expire = formatTime(clock.now() + HOUR);
  const created = await deploy(await deployable(), { lease: { operation: 'shutdown', expire } });
  expect(created.lease).toEqual({ operation: 'shutdown', expire, released: false });
  await clock.advance(HOUR - 1);
  expect((await call('GET', created.uri)).body.state).toBe('done');
  await clock.advance(1);
  expect((await call('GET', created.uri)).body).toMatchObject({
    state: 'processing',
    operation: { event: 'shutdown' },
    lease: { released: true },
  });
  await clock.advance(2000);
  expect((await call('GET', created.uri)).body.operation.event).toBe('shutdown_service');
  const operations = await ok(call('GET', `${created.uri}/operations`));
  expect(operations.map((record: { operation: string }) => record.operation)).toEqual(['deploy', 'shutdown']);
});

test('a lease that expires while an operation runs waits for its end', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const expire = formatTime(clock.now() + 1000);
  const created = await deploy(await deployable(), { lease: { operation: 'terminate', expire } });
  await clock.advance(3999);
  expect((await call('GET', created.uri)).body).toMatchObject({
    operation: { event: 'deploy' },
    lease: { released: false },
  });
  await clock.advance(1);
  expect((await call('GET', created.uri)).body).toMatchObject({
    operation: { event: 'terminate' },
    lease: { released: true },
  });
});

test('a jump of the clock passes leases and operations, in order', async () => {
  const { call, clock, deployable, deploy, sandbox } = await startFixture();
  const expire = formatTime(clock.now() + HOUR);
  const created = await deploy(await deployable(), { lease: { operation: 'terminate', expire } });
  sandbox.admin.jump(24 * HOUR);
  const ended = await ok(call('GET', created.uri));
  expect(ended).toMatchObject({ state: 'done', operation: { event: 'terminate_service' } });
  expect(ended.updated.slice(0, 19)).toBe(formatTime(clock.now() + HOUR + 2000).slice(0, 19));
});

test('the lifespan of the policy box is the default lease', async () => {
  const { clock, deployable, deploy } = await startFixture();
  const lifespan = { operation: 'terminate', interval: 'hours', quantity: 2 };
  const boxes = await deployable({}, {}, { lifespan });
  const created = await deploy(boxes);
  expect(created.lease).toMatchObject({ operation: 'terminate', released: false });
  expect(created.lease.expire.slice(0, 19)).toBe(formatTime(clock.now() + 2 * HOUR).slice(0, 19));
  const own = await deploy(boxes, { lease: { operation: 'alwayson' } });
  expect(own.lease).toEqual({ operation: 'alwayson', released: false });
});

test('PUT sets, moves and takes off the lease', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const created = await deploy(await deployable());
  expect(created.lease.operation).toBe('alwayson');
  await clock.advance(4000);
  const lease = { operation: 'shutdown', expire: formatTime(clock.now() + HOUR) };
  expect((await ok(call('PUT', created.uri, { lease }))).lease).toEqual({ ...lease, released: false });
  const off = await ok(call('PUT', created.uri, { lease: { operation: 'alwayson' } }));
  expect(off.lease.operation).toBe('alwayson');
  await clock.advance(2 * HOUR);
  expect((await call('GET', created.uri)).body).toMatchObject({
    state: 'done',
    operation: { event: 'deploy' },
  });
});

// V8
test('schedule counts, also beside the lease as it was', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const created = await deploy(await deployable());
  await clock.advance(4000);
  const first = { operation: 'shutdown', expire: formatTime(clock.now() + HOUR) };
  const seen = await ok(call('PUT', created.uri, { schedule: first }));
  expect(seen.lease).toEqual({ ...first, released: false });
  const second = { operation: 'terminate', expire: formatTime(clock.now() + 2 * HOUR) };
  expect((await ok(call('PUT', created.uri, { ...seen, schedule: second }))).lease).toEqual({
    ...second,
    released: false,
  });
  const kept = await ok(call('GET', created.uri));
  expect((await ok(call('PUT', created.uri, { ...kept, schedule: null }))).lease.operation).toBe('terminate');
});

// V14
test.each(['2030-01-01 00:00:00', '2030-01-01 00:00:00.123', '2030-01-01T00:00:00.000000', 'tomorrow'])(
  'refuses to expire at %s',
  async (expire) => {
    const { call, clock, deployable, deploy } = await startFixture();
    const created = await deploy(await deployable());
    await clock.advance(4000);
    const answer = await call('PUT', created.uri, { lease: { operation: 'shutdown', expire } });
    expect(answer).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('not a time of the form') },
    });
  },
);
