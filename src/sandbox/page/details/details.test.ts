import { expect, test } from 'vitest';
import { ok, type Answered } from '../../fixture.ts';
import { login, NOBODY, visit } from '../visitor.ts';

/** A part of a detail page. */
const partOf = (body: string, id: string): string =>
  (body.split(`<section id="${id}"`)[1] ?? '').split('</section>')[0] ?? '';

/** The rows of the table of a part, as they read. */
const rowsIn = (body: string, id: string): string[] =>
  partOf(body, id)
    .split('<tr>')
    .slice(2)
    .map((row) =>
      row
        .replaceAll(/<[^>]+>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );

const rowsOfList = (body: string): string => body.split('<tbody')[1] ?? '';

/** Nests the box `id` 25 times. */
const many = (id: string): object => ({
  variables: Array.from({ length: 25 }, (_, n) => ({ name: `n${n}`, type: 'Box', value: id })),
});

test('escapes everything that clients have sent', async () => {
  const { clock, deploy, deployable, get } = await visit();
  const boxes = await deployable({ install: 'echo "<b>hi</b>"' }, { name: '<script>alert(1)</script>' });
  const created = await deploy(boxes, { name: 'web & co', instance_tags: ['"><img src=x>'] });
  await clock.advance(4000);
  for (const path of [
    '/page/instances',
    `/page/instances/${created.id}`,
    '/page/boxes',
    `/page/boxes/${boxes.box.id}`,
    '/page/calls',
    '/page/blobs',
  ]) {
    const { body, status } = await get(path);
    expect(status).toBe(200);
    expect(body).not.toMatch(/<script>alert|<img src=x>|<b>hi/);
  }
  expect((await get('/page/instances')).body).toContain('web &amp; co');
  expect((await get('/page/instances?q=%22%3E%3Cscript%3E')).body).not.toContain('"><script>');
});

test('every page of every route answers something that one can read', async () => {
  const { clock, deploy, deployable, get } = await visit();
  const boxes = await deployable({ install: 'echo in', start: 'exit 3' });
  const created = await deploy(boxes);
  await clock.advance(4000);
  const blob = String(boxes.box.events.install.url).split('/')[4] ?? '';
  const paths = {
    '/page/instances': 'Instances',
    [`/page/instances/${created.id}`]: 'failed with exit code 3',
    [`/page/instances/${created.id}/log`]: '· install',
    '/page/boxes': 'New box',
    '/page/boxes/new': 'install',
    '/page/boxes/new?type=policy': 'Test Provider',
    [`/page/boxes/${boxes.box.id}`]: 'echo in',
    [`/page/boxes/${boxes.box.id}/deploy`]: 'Policy box',
    '/page/policy-boxes': boxes.policy.name,
    [`/page/policy-boxes/${boxes.policy.id}`]: 'test.micro',
    '/page/providers': 'Test Provider',
    '/page/providers/00000000-0000-4000-8000-000000000001': 'Simulated Location',
    '/page/workspaces': 'Shop Team',
    '/page/workspaces/ops': '1 instance',
    '/page/organization': 'you administer it',
    '/page/blobs': 'install.sh',
    [`/page/blobs/${blob}`]: boxes.box.name,
    '/page/calls': 'POST',
  };
  for (const [path, expected] of Object.entries(paths)) {
    const { status, body } = await get(path);
    expect([path, status]).toEqual([path, 200]);
    expect(body).toContain(expected);
  }
});

test('counts the instances of policy boxes and of nested boxes, not of main boxes only', async () => {
  const { call, deploy, deployable, get } = await visit();
  const inner = (await deployable()).box;
  const boxes = await deployable({}, { variables: [{ name: 'inner', type: 'Box', value: inner.id }] });
  await deploy(boxes);
  await deploy(boxes);
  const countOf = async (path: string, id: string): Promise<string | undefined> => {
    const row = (await get(path)).body.split(`id="row-${id}"`)[1]?.split('</tr>')[0] ?? '';
    return /class="num">\s*(\d+)/.exec(row)?.[1];
  };
  expect(await countOf('/page/policy-boxes', boxes.policy.id)).toBe('2');
  expect(await countOf('/page/boxes', boxes.box.id)).toBe('2');
  expect(await countOf('/page/boxes', inner.id)).toBe('2');
  const version = { number: { major: 1, minor: 0, patch: 0 }, description: '' };
  await ok(call('PUT', boxes.box.uri, { ...boxes.box, version }));
  expect((await get(`/page/boxes/${boxes.box.id}`)).body).toContain('1.0.0');
});

test('never shows a password', async () => {
  const { deploy, deployable, get } = await visit();
  const variables = [
    { name: 'PASS', type: 'Password', value: 'swordfish', required: false, visibility: 'public' },
  ];
  const boxes = await deployable({}, { variables });
  const box = { id: boxes.box.id, variables: [{ name: 'PASS', value: 'swordfish2' }] };
  const created = await deploy(boxes, { box });
  for (const path of [
    `/page/boxes/${boxes.box.id}`,
    `/page/boxes/${boxes.box.id}/deploy`,
    `/page/instances/${created.id}`,
  ]) {
    const { body } = await get(path);
    expect(body).toContain('PASS');
    expect(body).not.toContain('swordfish');
  }
});

test('shows the calls of clients with what became of them, and none that the page made', async () => {
  const { call, deploy, deployable, get, post, sandbox } = await visit();
  const created = await deploy(await deployable());
  await post(`/page/instances/${created.id}/do/force_terminate`);
  await call('GET', '/services/boxes/unknown');
  sandbox.admin.addFault({ match: { route: '/services/providers' }, lose: 'after', times: 1 });
  await expect(call('GET', '/services/providers')).rejects.toThrow('connection');
  await call('GET', '/services/instances', undefined, { 'service-token': 'wrong' });
  const { body } = await get('/page/calls');
  expect(body).toContain('/services/boxes/unknown');
  expect(body).toContain('connection lost after the effect');
  expect(body).toContain('>401<');
  expect(body).not.toContain('force_terminate');
  expect((await get('/page/calls?outcome=4xx')).body).toContain('2 calls, of');
});

test('shows every variable of an instance, and which of them were set for it', async () => {
  const { deploy, deployable, get } = await visit();
  const inner = (await deployable({}, { variables: [{ name: 'WORKERS', type: 'Number', value: '2' }] })).box;
  const boxes = await deployable(
    {},
    {
      variables: [
        { name: 'PORT', type: 'Port', value: '80' },
        { name: 'runtime', type: 'Box', value: inner.id },
      ],
    },
  );
  const box = { id: boxes.box.id, variables: [{ name: 'WORKERS', value: '7', scope: 'runtime' }] };
  const created = await deploy(boxes, { box });
  expect(rowsIn((await get(`/page/instances/${created.id}`)).body, 'variables')).toEqual([
    'PORT 80 Port its box',
    `runtime ${inner.name} Box its box`,
    'runtime. WORKERS 7 Number this instance',
  ]);
});

test.each(['__proto__', '-__proto__', 'constructor', '-toString', 'nothing'])(
  'sorts by what it always does where the address asks for %s',
  async (sort) => {
    const { deploy, deployable, get } = await visit();
    await deploy(await deployable());
    const { body, status } = await get(`/page/instances?sort=${sort}`);
    expect(status).toBe(200);
    expect(rowsOfList(body)).toBe(rowsOfList((await get('/page/instances')).body));
  },
);

test('shows a box that nests more than can be deployed, and says so', async () => {
  const { call, deployable, get, post } = await visit();
  const { box: leaf } = await deployable();
  const { box: middle } = await deployable();
  const { box: outer, policy } = await deployable({}, many(middle.id));
  await ok(call('PUT', middle.uri, many(leaf.id)));
  for (const path of [`/page/boxes/${outer.id}`, `/page/boxes/${outer.id}/deploy`]) {
    const { body, status } = await get(path);
    expect([path, status]).toEqual([path, 200]);
    expect(body).toContain(outer.name);
    expect(body).toContain('more than 500 boxes');
  }
  const fields = { name: 'big', owner: 'ops', policy: policy.id };
  const refused = await post(`/page/boxes/${outer.id}/deploy`, fields);
  expect(refused.status).toBe(400);
  expect(refused.body).toContain('more than 500 boxes');
});

test('shows a variable of a nested box as the box around it sets it', async () => {
  const { deploy, deployable, get } = await visit();
  const inner = (await deployable({}, { variables: [{ name: 'WORKERS', type: 'Number', value: '2' }] })).box;
  const variables = [
    { name: 'runtime', type: 'Box', value: inner.id },
    { name: 'WORKERS', type: 'Number', value: '5', scope: 'runtime' },
  ];
  const boxes = await deployable({}, { variables });
  const created = await deploy(boxes);
  expect(rowsIn((await get(`/page/instances/${created.id}`)).body, 'variables')).toContain(
    'runtime. WORKERS 5 Number its box',
  );
  const asked = (await get(`/page/boxes/${boxes.box.id}/deploy`)).body;
  expect(/name="v runtime WORKERS"[^>]*value="(\d)"/.exec(asked)?.[1]).toBe('5');
});

test('shows machines, tags, and bindings from both sides; a name only where it may be seen', async () => {
  const owner = await visit({
    accounts: [{ email: 'eve@example.com', password: 'p', organization: 'public' }],
  });
  const { call, clock, deploy, deployable, get } = owner;
  const database = await deployable();
  const db = await deploy(database, { name: 'orders' });
  await clock.advance(4000);
  const variables = [{ name: 'db', type: 'Binding', value: db.id }];
  const members = [{ role: 'read', workspace: 'eve' }];
  const web = await deploy(await deployable({}, { variables }), { name: 'web', instance_tags: ['blue'] });
  await clock.advance(4000);
  await ok(call('PUT', web.uri, { members }));
  const { body } = await get(`/page/instances/${web.id}`);
  const [machine] = (await ok(call('GET', `${web.uri}/service`))).machines;
  expect(rowsIn(body, 'machines')).toEqual([expect.stringContaining(machine.name)]);
  expect(partOf(body, 'tags')).toContain('blue');
  expect(partOf(body, 'bindings')).toContain(`<a href="/page/instances/${db.id}">orders</a>`);
  expect(partOf((await get(`/page/instances/${db.id}`)).body, 'bindings')).toContain('>web</a>');
  const cookie = await login(owner, 'eve@example.com', 'p');
  const eve = await call('GET', `/page/instances/${web.id}`, undefined, { ...NOBODY, cookie });
  expect(partOf(eve.body, 'bindings')).toContain(db.id);
  expect(eve.body).not.toContain('orders');
});

test('lists what somebody has uploaded before a box refers to it, to nobody else', async () => {
  const owner = await visit({
    accounts: [{ email: 'eve@example.com', password: 'p', organization: 'public' }],
  });
  const { call, get, upload } = owner;
  const { url } = await upload('early.sh', 'echo secret');
  const path = `/page/blobs/${url.split('/')[4] ?? ''}`;
  expect((await get('/page/blobs')).body).toContain('early.sh');
  expect((await get(path)).body).toContain('echo secret');
  const cookie = await login(owner, 'eve@example.com', 'p');
  const look = (at: string): Promise<Answered> => call('GET', at, undefined, { ...NOBODY, cookie });
  expect((await look('/page/blobs')).body).not.toContain('early.sh');
  expect((await look(path)).status).toBe(404);
  expect((await look(`${path}/file`)).status).toBe(404);
  const { body, headers } = await get(`${path}/file`);
  expect(body).toBe('echo secret');
  expect(headers).toMatchObject({
    'content-disposition': expect.stringContaining('attachment; filename="early.sh"'),
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
  });
});

test('the link to all instances of a box leads to all of them, of a nested box and of a policy box too', async () => {
  const { deploy, deployable, get } = await visit();
  const inner = (await deployable()).box;
  const boxes = await deployable({}, { variables: [{ name: 'inner', type: 'Box', value: inner.id }] });
  for (let n = 0; n < 21; n++) await deploy(boxes);
  await deploy(await deployable());
  for (const { id } of [inner, boxes.box, boxes.policy]) {
    const users = partOf((await get(`/page/boxes/${id}`)).body, 'users');
    const [, to = '', text] = /<a href="([^"]+)">(All [^<]+)/.exec(users) ?? [];
    expect(text).toBe('All 21 instances');
    expect((await get(to)).body).toContain('21 instances, of 22 in all');
  }
});

test('says of what is only shown in part that there is more', async () => {
  const { call, clock, get, sandbox } = await visit();
  const schema = `${sandbox.schemaBase}/aws/provider`;
  const account = { type: 'Amazon Web Services', name: 'account', credentials: { key: 'k', secret: 's' } };
  const provider = await ok(call('POST', '/services/providers', { schema, ...account }));
  await clock.advance(5_000);
  const logs = async (): Promise<unknown[]> => ok(call('GET', `${provider.uri}/logs`));
  while ((await logs()).length <= 210) {
    await ok(call('PUT', `${provider.uri}/sync`));
    await clock.advance(5_000);
  }
  const older = (await logs()).length - 200;
  const users = Array.from({ length: 250 }, (_, n) => `user-${n}@example.com`);
  for (const email of users) sandbox.admin.createAccount({ email, password: 'p' });
  expect(partOf((await get(`/page/providers/${provider.id}`)).body, 'logs')).toContain(`${older} older line`);
  expect(partOf((await get('/page/organization')).body, 'users')).toContain('51 more');
});
