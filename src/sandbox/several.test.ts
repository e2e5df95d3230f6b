import { expect, test } from 'vitest';
import { ok, startFixture, type Answered, type Fixture } from './fixture.ts';

/** A sandbox with a second user of the same organization. */
async function two(): Promise<Fixture & { eve: Fixture['call'] }> {
  const fixture = await startFixture({
    accounts: [{ email: 'eve@example.com', password: 'p', token: 'eve-token' }],
  });
  const eve: Fixture['call'] = (method, path, body, headers) =>
    fixture.call(method, path, body, { 'service-token': 'eve-token', ...headers });
  return { ...fixture, eve };
}

const COLLABORATOR = [{ role: 'collaborator', workspace: 'eve' }];
const READER = [{ role: 'read', workspace: 'eve' }];

const script = (base: string, name: string): object => ({
  schema: `${base}/boxes/script`,
  name,
  requirements: [],
});

// V6
test('a collaborator sends a box back that nests a box of somebody else, and may not add one', async () => {
  const { call, eve, deployable, upload } = await two();
  const { box: inner } = await deployable();
  const { box: other } = await deployable();
  const { url } = await upload('a.txt', 'x');
  const variables = [
    { name: 'inner', type: 'Box', value: inner.id },
    { name: 'conf', type: 'File', value: url },
  ];
  const { box } = await deployable({ install: 'echo 1' }, { variables, members: COLLABORATOR });
  const seen = await ok(eve('GET', box.uri));
  expect((await eve('PUT', box.uri, { ...seen, description: 'mine too' })).status).toBe(200);
  const more = [...seen.variables, { name: 'more', type: 'Box', value: other.id }];
  expect((await eve('PUT', box.uri, { ...seen, variables: more })).body.message).toContain(
    'that you can see',
  );
  const moved = seen.variables.map((variable: { name: string }) =>
    variable.name === 'inner' ? { ...variable, value: other.id } : variable,
  );
  expect((await eve('PUT', box.uri, { ...seen, variables: moved })).status).toBe(400);
  expect((await call('GET', box.uri)).body.description).toBe('mine too');
});

test('members and administrators that are gone do not stand in the way of an update', async () => {
  const { call, sandbox, clock } = await two();
  const base = sandbox.schemaBase;
  const gone = await ok(
    call('POST', '/services/workspaces', { schema: `${base}/workspaces/team`, name: 'Gone' }),
  );
  const members = [{ role: 'collaborator', workspace: gone.id }];
  const team = await ok(call('PUT', '/services/workspaces/shop', { members }));
  const soft = {
    schema: `${base}/softlayer/provider`,
    type: 'SoftLayer',
    name: 'S',
    username: 'u',
    api_key: 'k',
  };
  const { uri } = await ok(call('POST', '/services/providers', soft));
  await clock.advance(10_000);
  const provider = await ok(call('PUT', uri, { members }));
  expect((await call('DELETE', gone.uri)).status).toBe(204);
  expect((await call('PUT', team.uri, team)).status).toBe(200);
  expect((await call('PUT', uri, provider)).status).toBe(200);
});

// V10
test('an override cannot make a box of somebody else part of a deploy', async () => {
  const { eve, deployable, sandbox, clock } = await two();
  const secret = [{ name: 'KEY', type: 'Password', value: 'hunter2' }];
  const { box: hidden, policy } = await deployable({}, { variables: secret }, { visibility: 'organization' });
  const base = sandbox.schemaBase;
  const own = await ok(eve('POST', '/services/boxes', script(base, 'outer')));
  const inner = await ok(eve('POST', '/services/boxes', script(base, 'inner')));
  await ok(eve('PUT', own.uri, { variables: [{ name: 'inner', type: 'Box', value: inner.id }] }));
  for (const type of ['Text', 'Box', undefined]) {
    const variables = [{ name: 'inner', value: hidden.id, ...(type === undefined ? {} : { type }) }];
    const answer = await eve('POST', '/services/instances', {
      schema: `${base}/deploy-instance-request`,
      box: { id: own.id, variables },
      policy_box: { id: policy.id },
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('that you can see') },
    });
  }
  const deployed = await ok(
    eve('POST', '/services/instances', {
      schema: `${base}/deploy-instance-request`,
      box: { id: own.id },
      policy_box: { id: policy.id },
    }),
  );
  await clock.advance(10_000);
  const update = { variables: [{ name: 'inner', type: 'Text', value: hidden.id }] };
  expect((await eve('PUT', deployed.uri, update)).status).toBe(400);
  expect((await eve('GET', deployed.uri)).body.boxes).toHaveLength(2);
});

test('a box that nests one of somebody else shows that to nobody, and cannot be deployed with it', async () => {
  const { call, eve, deployable, sandbox } = await two();
  const { box: hidden, policy } = await deployable({}, {}, { visibility: 'public' });
  const variables = [
    { name: 'inner', type: 'Box', value: hidden.id },
    { name: 'db', type: 'Binding', value: hidden.id },
  ];
  const { box } = await deployable({}, { variables, members: COLLABORATOR });
  expect((await call('GET', `${box.uri}/stack`)).body).toHaveLength(2);
  expect((await eve('GET', `${box.uri}/stack`)).body).toHaveLength(1);
  expect((await eve('GET', `${box.uri}/bindings`)).body).toEqual([]);
  const answer = await eve('POST', '/services/instances', {
    schema: `${sandbox.schemaBase}/deploy-instance-request`,
    box: { id: box.id },
    policy_box: { id: policy.id },
  });
  expect(answer.body.message).toContain(`there is no box ${hidden.id} that you can see`);
});

test('who reinstalls an instance gets what was deployed, not the newest of what is not shared', async () => {
  const { call, eve, deployable, deploy, clock } = await two();
  const { box: inner } = await deployable({}, { description: 'first' });
  const { box, policy } = await deployable(
    {},
    { variables: [{ name: 'inner', type: 'Box', value: inner.id }] },
  );
  const { uri } = await deploy({ box, policy });
  await clock.advance(10_000);
  await ok(call('PUT', uri, { members: COLLABORATOR }));
  await ok(call('PUT', box.uri, { description: 'shared', members: READER }));
  await ok(call('PUT', inner.uri, { description: 'second' }));
  const reinstalled = await ok(eve('PUT', `${uri}/reinstall`));
  expect(reinstalled.boxes.map((shown: Answered['body']) => shown.description)).toEqual(['shared', 'first']);
  await clock.advance(10_000);
  await ok(call('PUT', `${uri}/reinstall`));
  expect((await call('GET', uri)).body.boxes[1].description).toBe('second');
});

test('a binding leads only to instances that the caller can see', async () => {
  const { eve, deployable, deploy, clock, sandbox } = await two();
  const { box, policy } = await deployable({}, {}, { visibility: 'public' });
  const target = await deploy({ box, policy });
  await clock.advance(10_000);
  const base = sandbox.schemaBase;
  const own = await ok(eve('POST', '/services/boxes', script(base, 'client')));
  const binding = { name: 'db', type: 'Binding', value: target.id };
  expect((await eve('PUT', own.uri, { variables: [binding] })).status).toBe(400);
  await ok(eve('PUT', own.uri, { variables: [{ ...binding, value: '' }] }));
  const request = (variables: object[]): object => ({
    schema: `${base}/deploy-instance-request`,
    box: { id: own.id, variables },
    policy_box: { id: policy.id },
  });
  for (const type of ['Binding', 'Text']) {
    const answer = await eve('POST', '/services/instances', request([{ ...binding, type }]));
    expect(answer).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('that you can see') },
    });
  }
  const deployed = await ok(eve('POST', '/services/instances', request([])));
  await clock.advance(10_000);
  expect((await eve('PUT', deployed.uri, { variables: [{ ...binding, type: 'Text' }] })).status).toBe(400);
  expect((await eve('GET', deployed.uri)).body.bindings).toEqual([]);
});

test('a file is read by who uploaded it, and by who sees something that it belongs to', async () => {
  const { call, eve, deployable, deploy, upload, clock, sandbox } = await two();
  const { url } = await upload('secret.sh', 'echo the secret');
  expect((await call('GET', url)).body).toBe('echo the secret');
  expect((await eve('GET', url)).status).toBe(404);
  const own = await ok(eve('POST', '/services/boxes', script(sandbox.schemaBase, 'thief')));
  expect((await eve('PUT', own.uri, { events: { install: { url } } })).status).toBe(400);
  const file = { name: 'f', type: 'File', value: url };
  expect((await eve('PUT', own.uri, { variables: [file] })).status).toBe(400);

  const { box, policy } = await deployable({}, { events: { install: { url } }, members: READER });
  expect((await eve('GET', url)).body).toBe('echo the secret');
  await ok(call('PUT', box.uri, { members: [] }));
  expect((await eve('GET', url)).status).toBe(404);
  const { uri } = await deploy({ box, policy });
  await clock.advance(10_000);
  await ok(call('PUT', uri, { members: READER }));
  expect((await eve('GET', url)).status).toBe(200);
});

test('versions are seen by who sees their box now', async () => {
  const { call, eve, deployable } = await two();
  const { box } = await deployable({}, { members: READER });
  const version = await ok(call('PUT', box.uri, { version: { number: { major: 1, minor: 0, patch: 0 } } }));
  expect((await eve('GET', version.uri)).status).toBe(200);
  await ok(call('PUT', box.uri, { members: [] }));
  expect((await eve('GET', version.uri)).status).toBe(403);
});

test('a published version that needs what the owner of an instance cannot see leaves the instance alone', async () => {
  const { call, eve, deployable, sandbox, clock } = await two();
  const { box: hidden, policy } = await deployable({}, {}, { visibility: 'public' });
  const { box } = await deployable({}, { members: READER });
  const request = {
    schema: `${sandbox.schemaBase}/deploy-instance-request`,
    box: { id: box.id },
    policy_box: { id: policy.id },
    automatic_updates: 'major',
  };
  const { uri } = await ok(eve('POST', '/services/instances', request));
  await clock.advance(10_000);
  const variables = [{ name: 'inner', type: 'Box', value: hidden.id }];
  const version = { number: { major: 1, minor: 0, patch: 0 } };
  await ok(call('PUT', box.uri, { variables, version }));
  expect((await eve('GET', uri)).body).toMatchObject({ state: 'done', boxes: [{ id: box.id }] });
  await ok(call('PUT', box.uri, { variables: [], version: { number: { major: 2, minor: 0, patch: 0 } } }));
  expect((await eve('GET', uri)).body.state).toBe('processing');
});

test('deleting a provider names only instances that the caller can see', async () => {
  const { call, eve, deployable, sandbox, clock } = await two();
  const base = sandbox.schemaBase;
  const soft = {
    schema: `${base}/softlayer/provider`,
    type: 'SoftLayer',
    name: 'S',
    username: 'u',
    api_key: 'k',
  };
  const provider = await ok(call('POST', '/services/providers', soft));
  await clock.advance(10_000);
  await ok(call('PUT', provider.uri, { members: READER }));
  const { policy } = await deployable({}, {}, { provider_id: provider.id, visibility: 'public' });
  const own = await ok(eve('POST', '/services/boxes', script(base, 'own')));
  const deployed = await ok(
    eve('POST', '/services/instances', {
      schema: `${base}/deploy-instance-request`,
      box: { id: own.id },
      policy_box: { id: policy.id },
    }),
  );
  const { status, body } = await call('DELETE', provider.uri);
  expect(status).toBe(400);
  expect(body.message).toContain('used by 1 instances');
  expect(body.message).not.toContain(deployed.id);
});

// V14
test('who may only read an instance gets no tokens of its service', async () => {
  const { call, eve, deployable, deploy, clock } = await two();
  const { uri } = await deploy(await deployable());
  await clock.advance(10_000);
  await ok(call('PUT', uri, { members: READER }));
  const own = await ok(call('GET', `${uri}/service`));
  expect(own.token).toMatch(/-/);
  expect(own.machines[0].token).toMatch(/-/);
  const seen = await ok(eve('GET', `${uri}/service`));
  expect(JSON.stringify(seen)).not.toContain('token');
  expect(seen.machines[0].name).toBe(own.machines[0].name);
});
