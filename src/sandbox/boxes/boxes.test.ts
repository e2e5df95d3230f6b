import { expect, test } from 'vitest';
import { TEST_PROVIDER_ID } from '../index.ts';
import { ok, startFixture } from '../fixture.ts';

test('a new script box has the defaults, and no variables or events whatever was sent', async () => {
  const { call, sandbox } = await startFixture();
  const created = await ok(
    call('POST', '/services/boxes', {
      schema: `${sandbox.schemaBase}/boxes/script`,
      name: 'web',
      requirements: ['Linux'],
      variables: [{ name: 'PORT', type: 'Port', value: '80' }],
    }),
  );
  expect(created).toMatchObject({
    uri: `/services/boxes/${created.id}`,
    owner: 'ops',
    organization: 'public',
    visibility: 'workspace',
    automatic_updates: 'off',
    variables: [],
    events: {},
    members: [],
    deleted: null,
  });
  expect(created.created).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
});

test.each([
  ['without requirements', 'script', { requirements: undefined }, 'requirements: is required'],
  ['without claims', 'policy', { claims: undefined }, 'claims: is required'],
  ['without a provider', 'policy', { provider_id: undefined }, 'provider_id: is required'],
  ['with an unknown provider', 'policy', { provider_id: 'x' }, 'provider_id: there is no provider x'],
  ['without a profile', 'policy', { profile: undefined }, 'profile: is required'],
  ['of an unknown type', 'cloudformation', { type: 'Mainframe' }, 'type: must be one of'],
  ['with a removed parameter', 'script', { service: 'Linux' }, 'service: was removed'],
  ['with a wrong visibility', 'script', { visibility: 'secret' }, 'visibility: must be one of'],
  ['of no known schema', 'nothing', {}, 'is not a box type'],
])('refuses a box %s', async (_, kind, change, message) => {
  const { call, sandbox } = await startFixture();
  const answer = await call('POST', '/services/boxes', {
    schema: `${sandbox.schemaBase}/boxes/${kind}`,
    name: 'b',
    requirements: [],
    claims: [],
    provider_id: TEST_PROVIDER_ID,
    profile: { schema: 'x' },
    type: 'S3 Bucket',
    ...change,
  });
  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain(message);
});

test('a name is taken once per workspace, over all types', async () => {
  const { call, sandbox } = await startFixture();
  const box = { schema: `${sandbox.schemaBase}/boxes/script`, name: 'web', requirements: [] };
  const first = await ok(call('POST', '/services/boxes', box));
  const docker = { ...box, schema: `${sandbox.schemaBase}/boxes/docker` };
  expect((await call('POST', '/services/boxes', docker)).status).toBe(409);
  expect((await call('POST', '/services/boxes', { ...docker, owner: 'shop' })).status).toBe(200);
  const other = await ok(call('POST', '/services/boxes', { ...box, name: 'other' }));
  expect((await call('PUT', other.uri, { ...other, name: 'web' })).status).toBe(409);
  expect((await call('PUT', first.uri, first)).status).toBe(200);
});

test('PUT changes the listed fields and keeps the others', async () => {
  const { call, deployable, upload } = await startFixture();
  const { box, policy } = await deployable();
  const install = await upload('install.sh', 'echo');
  const changed = await ok(
    call('PUT', box.uri, {
      ...box,
      name: 'new name',
      description: 'd',
      requirements: ['Windows'],
      variables: [{ name: 'PORT', type: 'Port', value: '80', required: true, visibility: 'public' }],
      events: { install },
      members: [{ workspace: 'shop', role: 'read' }],
      visibility: 'public',
      automatic_updates: 'major',
    }),
  );
  expect(changed).toMatchObject({
    name: 'new name',
    requirements: ['Windows'],
    variables: [{ name: 'PORT', value: '80' }],
    events: { install: { url: install.url } },
    members: [{ workspace: 'shop', role: 'read' }],
    visibility: 'workspace',
    automatic_updates: 'off',
  });
  const kept = await ok(call('PUT', policy.uri, { ...policy, claims: ['Other'] }));
  expect(kept.claims).toEqual(['Linux']);
});

test('PUT changes more, where that reading is chosen', async () => {
  const { call, deployable } = await startFixture({ readings: { boxPut: 'more' } });
  const { policy } = await deployable();
  const changed = await ok(call('PUT', policy.uri, { ...policy, claims: ['Other'], visibility: 'public' }));
  expect(changed).toMatchObject({ claims: ['Other'], visibility: 'public' });
});

test('a cloudformation box needs an AWS provider', async () => {
  const { call, sandbox, clock } = await startFixture();
  const box = {
    schema: `${sandbox.schemaBase}/boxes/cloudformation`,
    name: 'db',
    requirements: [],
    type: 'MySQL Database Service',
  };
  expect((await call('POST', '/services/boxes', { ...box, provider_id: TEST_PROVIDER_ID })).status).toBe(400);
  const provider = await ok(
    call('POST', '/services/providers', {
      schema: `${sandbox.schemaBase}/aws/provider`,
      type: 'Amazon Web Services',
      name: 'aws',
      credentials: { role: 'r' },
    }),
  );
  const created = await ok(call('POST', '/services/boxes', { ...box, provider_id: provider.id }));
  await clock.advance(2000);
  // Box and policy box carry the same id.
  const instance = await ok(
    call('POST', '/services/instances', {
      schema: `${sandbox.schemaBase}/deploy-instance-request`,
      box: { id: created.id },
      policy_box: { id: created.id },
    }),
  );
  await clock.advance(4000);
  const done = await ok(call('GET', instance.uri));
  expect(done).toMatchObject({ state: 'done', service: { type: 'MySQL Database Service', machines: [] } });
});

test.each([
  ['the same variable twice', { variables: [variable('A'), variable('A')] }, '"A" is there twice'],
  ['a port that is none', { variables: [{ ...variable('P'), type: 'Port', value: '99999' }] }, 'not a port'],
  ['an unknown box', { variables: [{ ...variable('B'), type: 'Box', value: 'x' }] }, 'there is no box x'],
  [
    'an event without a file',
    { events: { install: { url: '/services/blobs/download/0123456789abcdef01234567/a' } } },
    'events.install.url: there is no uploaded file',
  ],
  ['an unknown event', { events: { explode: { url: 'x' } } }, 'must NOT have additional properties'],
])('refuses %s', async (_, change, message) => {
  const { call, deployable } = await startFixture();
  const { box } = await deployable();
  const answer = await call('PUT', box.uri, { ...box, ...change });
  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain(message);
});

function variable(name: string): Record<string, unknown> {
  return { name, type: 'Text', value: '', required: false, visibility: 'public' };
}

test('refuses a box that would contain itself', async () => {
  const { call, deployable } = await startFixture();
  const inner = await deployable();
  const outer = await deployable(
    {},
    { variables: [{ ...variable('inner'), type: 'Box', value: inner.box.id }] },
  );
  const answer = await call('PUT', inner.box.uri, {
    ...inner.box,
    variables: [{ ...variable('outer'), type: 'Box', value: outer.box.id }],
  });
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.body.message).toContain('contain itself');
});

const version = (minor: number): object => ({
  description: `n${minor}`,
  number: { major: 1, minor, patch: 0 },
});

test('versions are records of their own, newest first, and never change', async () => {
  const { call, deployable } = await startFixture();
  const { box } = await deployable();
  expect((await call('GET', `${box.uri}/versions`)).body).toEqual([]);
  const first = await ok(call('PUT', box.uri, { ...box, version: version(0) }));
  const second = await ok(call('PUT', box.uri, { ...box, version: version(1), description: 'later' }));
  expect(first).toMatchObject({ version: { box: box.id, number: { major: 1 }, workspace: 'ops' } });
  const listed = await ok(call('GET', `${box.uri}/versions`));
  expect(listed.map((entry: { id: string }) => entry.id)).toEqual([second.id, first.id]);
  expect((await call('GET', box.uri)).body).toMatchObject({ draft_from: second.id, description: '' });
  expect((await call('PUT', first.uri, { ...first, description: 'x' })).status).toBe(400);
  expect((await call('PUT', box.uri, { ...box, version: version(1) })).status).toBe(400);
  const boxes = await ok(call('GET', '/services/boxes'));
  expect(boxes.map((entry: { id: string }) => entry.id)).not.toContain(first.id);
});

test('ids filters the lists, a trailing comma included; what is not visible is left out', async () => {
  const { call, deployable } = await startFixture();
  const a = await deployable();
  await deployable();
  for (const path of ['/services/boxes', '/services/workspaces/ops/boxes']) {
    const found = await ok(call('GET', `${path}?ids=${a.box.id},nothing,`));
    expect(found.map((entry: { id: string }) => entry.id)).toEqual([a.box.id]);
  }
});

test('stack and bindings list what the box refers to', async () => {
  const { call, deployable } = await startFixture();
  const child = await deployable();
  const bound = await deployable();
  const { box } = await deployable(
    {},
    {
      variables: [
        { ...variable('child'), type: 'Box', value: child.box.id },
        { ...variable('db'), type: 'Binding', value: bound.box.id },
      ],
    },
  );
  const stack = await ok(call('GET', `${box.uri}/stack`));
  expect(stack.map((entry: { id: string }) => entry.id)).toEqual([box.id, child.box.id]);
  expect((await call('GET', `${box.uri}/bindings`)).body).toEqual([
    { id: bound.box.id, uri: bound.box.uri, name: bound.box.name, icon: '' },
  ]);
});

test('shows Password values masked, where that reading is chosen', async () => {
  const { call, deployable, sandbox } = await startFixture();
  const secret = { ...variable('PW'), type: 'Password', value: 'hunter2' };
  const { box } = await deployable({}, { variables: [secret] });
  expect((await call('GET', box.uri)).body.variables[0].value).toBe('hunter2');
  sandbox.admin.setReadings({ passwords: 'masked' });
  expect((await call('GET', box.uri)).body.variables[0].value).toBe('********');
});

test('who may see and change a box', async () => {
  const { call, deployable, sandbox } = await startFixture();
  sandbox.admin.createAccount({ email: 'eve@example.com', password: 'p', token: 'eve' });
  const eve = { 'service-token': 'eve' };
  const { box } = await deployable();
  expect((await call('GET', box.uri, undefined, eve)).status).toBe(403);
  expect((await call('GET', '/services/boxes/none', undefined, eve)).status).toBe(404);
  await ok(call('PUT', box.uri, { members: [{ workspace: 'eve', role: 'read' }] }));
  expect((await call('GET', box.uri, undefined, eve)).status).toBe(200);
  expect((await call('PUT', box.uri, { description: 'x' }, eve)).status).toBe(403);
  await ok(call('PUT', box.uri, { members: [{ workspace: 'eve', role: 'collaborator' }] }));
  expect((await call('PUT', box.uri, { description: 'x' }, eve)).status).toBe(200);
  expect((await call('GET', '/services/workspaces/ops/boxes', undefined, eve)).status).toBe(404);
});

test('a profile may hold anything; what looks wrong in a known family is said in a Warning header', async () => {
  const { call, sandbox } = await startFixture();
  const post = (name: string, profile: object) =>
    call('POST', '/services/boxes', {
      schema: `${sandbox.schemaBase}/boxes/policy`,
      name,
      provider_id: TEST_PROVIDER_ID,
      profile,
      claims: [],
    });
  const schema = `${sandbox.schemaBase}/test/compute/profile`;
  const good = await post('good', { schema, instances: 1, flavor: 'test.micro' });
  expect([good.status, good.headers['warning']]).toEqual([200, undefined]);
  const odd = await post('odd', { schema, instances: 'many', colour: 'red' });
  expect(odd.status).toBe(200);
  expect(odd.headers['warning']).toBe(
    '299 - "profile.instances should be a whole number", 299 - "profile.colour is no known property"',
  );
  expect((await post('open', { schema: 'x/y/profile', anything: 1 })).headers['warning']).toBeUndefined();
});
