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
  [
    'an unknown event',
    { events: { explode: { url: 'x' } } },
    'events.explode: is not a field of this request',
  ],
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
    { id: bound.box.id, uri: bound.box.uri, name: bound.box.name },
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

// V9
test('a mask that comes back means the value that was there, in boxes, deploys and instances', async () => {
  const { call, clock, deployable, sandbox } = await startFixture({ readings: { passwords: 'masked' } });
  const secret = { ...variable('PW'), type: 'Password', value: 'hunter2' };
  const { box, policy } = await deployable({}, { variables: [secret] });
  const seen = await ok(call('GET', box.uri));
  expect(seen.variables[0].value).toBe('********');
  const { changed } = (await call('PUT', `${box.uri}/diff`, seen)).body;
  expect(changed).toBe(false);
  await ok(call('PUT', box.uri, { ...seen, description: 'x' }));
  const request = (variables: object[]): object => ({
    schema: `${sandbox.schemaBase}/deploy-instance-request`,
    box: { id: box.id, variables },
    policy_box: { id: policy.id },
  });
  const inherits = await ok(call('POST', '/services/instances', request(seen.variables)));
  expect(inherits.variables).toEqual([]);
  const own = await ok(call('POST', '/services/instances', request([{ name: 'PW', value: 'own' }])));
  await clock.advance(10_000);
  const shown = await ok(call('GET', own.uri));
  expect(shown.variables[0].value).toBe('********');
  await ok(call('PUT', own.uri, { ...shown, tags: ['t'] }));
  sandbox.admin.setReadings({ passwords: 'plain' });
  expect((await call('GET', box.uri)).body).toMatchObject({
    description: 'x',
    variables: [{ value: 'hunter2' }],
  });
  expect((await call('GET', own.uri)).body).toMatchObject({ tags: ['t'], variables: [{ value: 'own' }] });
});

test('a mask that stands for nothing is refused, and a diff shows no value that is not shown', async () => {
  const { call, deployable } = await startFixture({ readings: { passwords: 'masked' } });
  const secret = { ...variable('PW'), type: 'Password', value: 'hunter2' };
  const { box } = await deployable({}, { variables: [secret] });
  const fresh = { ...variable('NEW'), type: 'Password', value: '********' };
  const refused = await call('PUT', box.uri, { variables: [fresh] });
  expect(refused).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('send the value') },
  });
  const diff = await call('PUT', `${box.uri}/diff`, { variables: [{ ...secret, value: 'other' }] });
  expect(diff.body.changed).toBe(true);
  expect(JSON.stringify(diff.body)).not.toMatch(/hunter2|other/);
});

// V11
const wholeBox = (base: string, url: string): object => ({
  schema: `${base}/boxes/script`,
  name: 'whole',
  requirements: ['Linux'],
  variables: [variable('A')],
  events: { install: { url } },
  files: [{ name: 'f' }],
  claims: ['Linux'],
});

test('one POST makes a whole box where that reading is chosen; otherwise a Warning names what was left out', async () => {
  const empty = await startFixture();
  const { url } = await empty.upload('i.sh', 'exit 0');
  const left = await empty.call('POST', '/services/boxes', wholeBox(empty.sandbox.schemaBase, url));
  expect(left).toMatchObject({ status: 200, body: { variables: [], events: {} } });
  for (const name of ['variables', 'events', 'files', 'claims'])
    expect(left.headers['warning']).toContain(name);
  const whole = await startFixture({ readings: { boxPost: 'complete' } });
  const file = await whole.upload('i.sh', 'exit 0');
  const base = whole.sandbox.schemaBase;
  const made = await whole.call('POST', '/services/boxes', wholeBox(base, file.url));
  expect(made.body).toMatchObject({
    variables: [{ name: 'A' }],
    events: { install: { url: file.url } },
    files: [{ name: 'f' }],
  });
  expect(made.headers['warning']).not.toContain('variables');
  const wrong = {
    ...wholeBox(base, file.url),
    name: 'wrong',
    variables: [{ name: 'P', type: 'Port', value: 'x' }],
  };
  expect((await whole.call('POST', '/services/boxes', wrong)).status).toBe(400);
  const lost = wholeBox(base, `/services/blobs/download/${'0'.repeat(24)}/x`);
  expect((await whole.call('POST', '/services/boxes', { ...lost, name: 'lost' })).status).toBe(400);
});

// V13
test('what is not set is absent: readme, dockerfile, profile and icon', async () => {
  const { call, deployable, sandbox } = await startFixture();
  const base = sandbox.schemaBase;
  const { box, policy } = await deployable();
  const docker = {
    schema: `${base}/boxes/docker`,
    name: 'd',
    requirements: [],
    dockerfile: null,
    icon: null,
  };
  const records = [box, policy, await ok(call('POST', '/services/boxes', docker))];
  records.push(...(await ok(call('GET', '/services/boxes'))));
  for (const record of records) {
    for (const name of ['readme', 'dockerfile', 'icon']) expect(Object.keys(record)).not.toContain(name);
  }
  expect((await call('PUT', box.uri, { icon: '/i.png' })).body.icon).toBe('/i.png');
  expect(Object.keys((await call('PUT', box.uri, { icon: '' })).body)).not.toContain('icon');
});

// V14
test('the profile of a cloudformation box carries its schema, or is not there', async () => {
  const { call, clock, sandbox } = await startFixture({ readings: { boxPut: 'more' } });
  const base = sandbox.schemaBase;
  const aws = {
    schema: `${base}/aws/provider`,
    type: 'Amazon Web Services',
    name: 'a',
    credentials: { role: 'r' },
  };
  const provider = await ok(call('POST', '/services/providers', aws));
  await clock.advance(10_000);
  const body = {
    schema: `${base}/boxes/cloudformation`,
    name: 'c',
    type: 'S3 Bucket',
    provider_id: provider.id,
    requirements: [],
  };
  const box = await ok(call('POST', '/services/boxes', body));
  expect(Object.keys(box)).not.toContain('profile');
  const profile = { instances: 1 };
  for (const answer of [
    await call('POST', '/services/boxes', { ...body, name: 'd', profile }),
    await call('PUT', box.uri, { profile }),
  ]) {
    expect(answer).toMatchObject({ status: 400, body: { message: 'profile.schema: is required' } });
  }
  const full = { schema: `${base}/aws/compute/profile` };
  expect((await call('PUT', box.uri, { profile: full })).body.profile).toEqual(full);
  const other = { provider_id: '00000000-0000-4000-8000-000000000001' };
  expect((await call('PUT', box.uri, other)).body.message).toContain('needs an AWS provider');
});

test('a Warning header has an end, whatever is in a profile', async () => {
  const { call, sandbox } = await startFixture();
  const base = sandbox.schemaBase;
  const odd = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`${'x'.repeat(500)}${n}`, 1]));
  const { status, headers } = await call('POST', '/services/boxes', {
    schema: `${base}/boxes/policy`,
    name: 'p',
    provider_id: '00000000-0000-4000-8000-000000000001',
    claims: [],
    profile: { schema: `${base}/test/compute/profile`, ...odd },
  });
  expect(status).toBe(200);
  expect(headers['warning']).toContain('and 4990 more');
  expect(headers['warning']?.length).toBeLessThan(4_000);
});
