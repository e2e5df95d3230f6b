import { expect, test } from 'vitest';
import { ok, startFixture, type Fixture } from '../../fixture.ts';

const DONE = 60_000;

/** Brings a new instance to a pair of state and event. */
async function instanceIn(fixture: Fixture, pair: string): Promise<{ uri: string; id: string }> {
  const { call, clock, deployable, deploy, sandbox } = fixture;
  const fail = pair.startsWith('unavailable') ? pair.split('+')[1] : undefined;
  if (fail === 'deploy') sandbox.admin.addOperationFault({ effect: 'fail', times: 1 });
  const created = await deploy(await deployable());
  if (pair === 'processing+deploy') return created;
  await clock.advance(DONE);
  const operations: Record<string, () => Promise<unknown>> = {
    poweron: async () => {
      await ok(call('PUT', `${created.uri}/shutdown`));
      await clock.advance(DONE);
      return ok(call('PUT', `${created.uri}/poweron`));
    },
    reinstall: () => ok(call('PUT', `${created.uri}/reinstall`)),
    reconfigure: () =>
      ok(call('PUT', `${created.uri}/reconfigure`, { id: created.id, method: 'reconfigure' })),
    shutdown: () => ok(call('PUT', `${created.uri}/shutdown`)),
    terminate: () => ok(call('DELETE', `${created.uri}?operation=terminate`)),
  };
  const event = pair.split('+')[1] ?? '';
  if (fail !== undefined && fail !== 'deploy') {
    sandbox.admin.addOperationFault({ operation: fail, effect: 'fail', times: 1 });
  }
  await operations[event]?.();
  if (!pair.startsWith('processing')) await clock.advance(DONE);
  return created;
}

// service-behaviour.md 2.2: what is accepted in each pair.
const TABLE: readonly [string, readonly string[]][] = [
  ['done+deploy', ['reconfigure', 'reinstall', 'shutdown', 'terminate', 'force_terminate', 'put']],
  ['done+poweron', ['reconfigure', 'reinstall', 'shutdown', 'terminate', 'force_terminate', 'put']],
  ['done+reinstall', ['reconfigure', 'reinstall', 'shutdown', 'terminate', 'force_terminate', 'put']],
  ['done+reconfigure', ['reconfigure', 'reinstall', 'shutdown', 'terminate', 'force_terminate', 'put']],
  ['done+shutdown', ['poweron', 'force_terminate', 'put']],
  ['done+terminate', ['delete', 'put']],
  ['unavailable+deploy', ['deploy', 'force_terminate', 'put']],
  ['unavailable+reconfigure', ['reconfigure', 'reinstall', 'force_terminate', 'put']],
  ['unavailable+reinstall', ['reinstall', 'force_terminate', 'put']],
  ['unavailable+shutdown', ['force_terminate', 'put']],
  ['unavailable+terminate', ['terminate', 'force_terminate', 'put']],
  ['processing+deploy', ['force_terminate']],
  ['processing+shutdown', ['force_terminate']],
];
const ALL = [
  'deploy',
  'poweron',
  'shutdown',
  'reinstall',
  'reconfigure',
  'terminate',
  'force_terminate',
  'delete',
  'put',
];

test.each(TABLE)('in the pair %s accepts %j and answers 409 to the rest', async (pair, accepted) => {
  const fixture = await startFixture();
  const { sandbox, call } = fixture;
  const { uri } = await instanceIn(fixture, pair);
  const before = sandbox.admin.snapshot();
  const seen: Record<string, number> = {};
  for (const operation of ALL) {
    sandbox.admin.restore(before);
    const deletion = ['terminate', 'force_terminate', 'delete'].includes(operation);
    const answer =
      operation === 'put'
        ? await call('PUT', uri, { tags: ['x'] })
        : deletion
          ? await call('DELETE', `${uri}?operation=${operation}`)
          : await call('PUT', `${uri}/${operation}`, operation === 'reconfigure' ? {} : undefined);
    seen[operation] = answer.status;
  }
  const expected = Object.fromEntries(
    ALL.map((operation) => [
      operation,
      accepted.includes(operation) ? (operation === 'put' ? 200 : 202) : 409,
    ]),
  );
  expect(seen).toEqual(expected);
});

test('shutdown and terminate have two phases under one operation record', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const created = await deploy(await deployable({ stop: 'echo bye' }));
  await clock.advance(DONE);
  const accepted = await ok(call('PUT', `${created.uri}/shutdown`));
  expect(accepted).toMatchObject({ state: 'processing', operation: { event: 'shutdown' } });
  const events: string[] = [];
  for (let i = 0; i < 20; i++) {
    await clock.advance(100);
    const { state, operation } = await ok(call('GET', created.uri));
    const pair = `${state}+${operation.event}`;
    if (events.at(-1) !== pair) events.push(pair);
  }
  expect(events).toEqual(['processing+shutdown', 'processing+shutdown_service', 'done+shutdown_service']);
  const operations = await ok(call('GET', `${created.uri}/operations`));
  expect(operations.map((record: { operation: string }) => record.operation)).toEqual(['deploy', 'shutdown']);
});

test('deletes a terminated instance with its logs and operations', async () => {
  const { call, clock, deployable, deploy, sandbox } = await startFixture();
  const created = await deploy(await deployable({ install: 'echo x' }));
  await clock.advance(DONE);
  await ok(call('DELETE', `${created.uri}?operation=terminate`));
  await clock.advance(DONE);
  const ended = await ok(call('GET', created.uri));
  expect(ended).toMatchObject({ state: 'done', operation: { event: 'terminate_service' } });
  expect(ended.service.machines).toEqual([]);
  expect((await call('DELETE', created.uri)).status).toBe(202);
  expect((await call('GET', created.uri)).status).toBe(404);
  expect(sandbox.admin.records('operations')).toEqual([]);
  sandbox.admin.setReadings({ gone: '403' });
  expect((await call('GET', created.uri)).status).toBe(403);
});

test('force_terminate cuts off what runs and runs no scripts', async () => {
  const { call, clock, deployable, deploy, sandbox } = await startFixture();
  sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'stuck' });
  const created = await deploy(await deployable({ dispose: 'exit 1' }));
  await clock.advance(3_600_000);
  expect((await call('GET', created.uri)).body.state).toBe('processing');
  await ok(call('DELETE', `${created.uri}?operation=force_terminate`));
  await clock.advance(DONE);
  expect((await call('GET', created.uri)).body).toMatchObject({
    state: 'done',
    operation: { event: 'terminate_service' },
  });
  const operations = await ok(call('GET', `${created.uri}/operations`));
  expect(operations.map((record: { state: string }) => record.state)).toEqual(['unavailable', 'done']);
});

test('an unknown operation of DELETE is 400', async () => {
  const { call, deployable, deploy } = await startFixture();
  const created = await deploy(await deployable());
  expect((await call('DELETE', `${created.uri}?operation=explode`)).status).toBe(400);
});

test('a bare DELETE means delete, or terminate where that reading is chosen', async () => {
  const { call, clock, deployable, deploy, sandbox } = await startFixture();
  const created = await deploy(await deployable());
  await clock.advance(DONE);
  expect((await call('DELETE', created.uri)).status).toBe(409);
  sandbox.admin.setReadings({ bareDelete: 'terminate' });
  expect((await call('DELETE', created.uri)).status).toBe(202);
  expect((await call('GET', created.uri)).body.operation.event).toBe('terminate');
});

test('terminate in any state, where that reading is chosen', async () => {
  const { call, deployable, deploy } = await startFixture({ readings: { terminate: 'always' } });
  const created = await deploy(await deployable());
  expect((await call('DELETE', `${created.uri}?operation=terminate`)).status).toBe(202);
});

test('pull applies a version by a reinstall, and refuses versions of another box', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const boxes = await deployable({ install: 'echo v0' });
  const other = await deployable();
  const version = { description: 'first', number: { major: 1, minor: 0, patch: 0 } };
  const first = await ok(call('PUT', boxes.box.uri, { ...boxes.box, version }));
  const foreign = await ok(call('PUT', other.box.uri, { ...other.box, version }));
  const created = await deploy(boxes);
  await clock.advance(DONE);
  expect((await call('PUT', `${created.uri}/pull`, { box_id: foreign.id })).status).toBe(400);
  expect((await call('PUT', `${created.uri}/pull`, { box_id: first.id })).status).toBe(202);
  expect((await call('GET', created.uri)).body).toMatchObject({
    state: 'processing',
    operation: { event: 'reinstall' },
  });
  await clock.advance(DONE);
  const { box, boxes: stack } = await ok(call('GET', created.uri));
  expect(box).toBe(boxes.box.id);
  expect(stack[0].id).toBe(first.id);
});

test('bindings are resolved by id and by tags, and seen from the other side', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const target = await deploy(await deployable(), { name: 'db', instance_tags: ['db', 'blue'] });
  const binding = { type: 'Binding', value: '', required: true, visibility: 'public' };
  const boxes = await deployable(
    {},
    {
      variables: [
        { ...binding, name: 'one' },
        { ...binding, name: 'two' },
      ],
    },
  );
  const created = await deploy(boxes, {
    box: {
      id: boxes.box.id,
      variables: [
        { name: 'one', value: target.id },
        { name: 'two', tags: ['blue', 'db'] },
      ],
    },
  });
  expect(created.bindings).toEqual([
    { name: 'one', instance: target.id },
    { name: 'two', instance: target.id },
  ]);
  await clock.advance(DONE);
  expect((await call('GET', `${target.uri}/binding_instances`)).body).toMatchObject([{ id: created.id }]);
  const blank = [
    { name: 'one', value: target.id },
    { name: 'two', type: 'Binding', tags: [] },
  ];
  expect((await ok(call('PUT', created.uri, { variables: blank }))).bindings).toHaveLength(1);
});
