import { afterEach, expect, test } from 'vitest';
import { ok, startFixture, type Answered, type Fixture } from '../fixture.ts';
import type { SandboxOptions } from '../sandbox.ts';

const HOST = '127.0.0.1:8420';
const NOBODY = { 'service-token': '', host: HOST, 'sec-fetch-site': 'same-origin' };

/** A browser that has logged in: its cookie, and nothing else that a client would send. */
interface Visitor extends Fixture {
  get: (path: string, headers?: Record<string, string>) => Promise<Answered>;
  post: (
    path: string,
    fields?: Record<string, string>,
    headers?: Record<string, string>,
  ) => Promise<Answered>;
}

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

const started: Fixture[] = [];
afterEach(async () => {
  for (const { sandbox } of started.splice(0)) await sandbox.stop();
});

const form = (fields: Record<string, string>): Uint8Array =>
  Buffer.from(new URLSearchParams(fields).toString());

async function login({ call }: Fixture, email: string, password: string): Promise<string> {
  const answer = await call('POST', '/page/login', form({ email, password }), NOBODY);
  return (answer.headers['set-cookie'] ?? '').split(';')[0] ?? '';
}

async function visit(
  options: Omit<SandboxOptions, 'clock'> = {},
  email = 'ops@example.com',
  password = 'secret-1',
): Promise<Visitor> {
  const fixture = await startFixture(options);
  started.push(fixture);
  const cookie = await login(fixture, email, password);
  return {
    ...fixture,
    get: (path, headers) => fixture.call('GET', path, undefined, { ...NOBODY, cookie, ...headers }),
    post: (path, fields = {}, headers = {}) =>
      fixture.call('POST', path, form(fields), { ...NOBODY, cookie, ...headers }),
  };
}

test('asks who comes, and lets in with a cookie that neither scripts nor the service can use', async () => {
  const fixture = await startFixture();
  started.push(fixture);
  const { call } = fixture;
  const first = await call('GET', '/page/instances', undefined, NOBODY);
  expect(first).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(first.body).toContain('action="/page/login"');
  expect(first.headers['content-security-policy']).toContain("default-src 'none'");
  expect(first.headers['content-security-policy']).not.toContain('unsafe');
  const wrong = await call('POST', '/page/login', form({ email: 'ops@example.com', password: 'no' }), NOBODY);
  expect(wrong.status).toBe(401);
  expect(wrong.body).toContain('Wrong email or password');
  const right = await call(
    'POST',
    '/page/login',
    form({ email: 'ops@example.com', password: 'secret-1' }),
    NOBODY,
  );
  expect(right).toMatchObject({ status: 303, headers: { location: '/page/instances' } });
  const cookie = right.headers['set-cookie'] ?? '';
  expect(cookie).toMatch(/^boxwright-page-8420=[0-9a-f-]{36}; Path=\/page; HttpOnly; SameSite=Strict$/);
  const inside = { ...NOBODY, cookie: cookie.split(';')[0] ?? '' };
  expect((await call('GET', '/page/instances', undefined, inside)).body).toContain(
    'There are no instances yet',
  );
  expect((await call('GET', '/services/instances', undefined, inside)).status).toBe(401);
});

test('comes back after the login to the link that was followed', async () => {
  const { call } = await visit();
  const asked = await call('GET', '/page/boxes?q=a&owner=ops', undefined, NOBODY);
  expect(asked.body).toContain('name="next" value="/page/boxes?q=a&amp;owner=ops"');
  const fields = { email: 'ops@example.com', password: 'secret-1', next: '/page/boxes?q=a&owner=ops' };
  const let_in = await call('POST', '/page/login', form(fields), NOBODY);
  expect(let_in.headers['location']).toBe('/page/boxes?q=a&owner=ops');
});

test('logs out for good: the cookie is worth nothing afterwards', async () => {
  const { get, post } = await visit();
  expect((await get('/page/boxes')).body).toContain('There are no boxes yet');
  expect(await post('/page/logout')).toMatchObject({ status: 303 });
  expect((await get('/page/boxes')).body).toContain('action="/page/login"');
});

test('does not log in by a password where the organization does not allow it', async () => {
  const fixture = await visit();
  const { call } = fixture;
  const organization = await ok(call('GET', '/services/organizations/public'));
  const authentication = { ...organization.authentication, password: false };
  await ok(call('PUT', '/services/organizations/public', { ...organization, authentication }));
  expect(await login(fixture, 'ops@example.com', 'secret-1')).toBe('');
});

test('takes no form of another page of the same browser', async () => {
  const { call, deploy, deployable, post, sandbox } = await visit();
  const created = await deploy(await deployable());
  const path = `/page/instances/${created.id}/do/force_terminate`;
  expect((await post(path, {}, { 'sec-fetch-site': 'same-site' })).status).toBe(403);
  expect((await ok(call('GET', created.uri))).operation.event).toBe('deploy');
  expect(sandbox.admin.calls({ method: 'DELETE' })).toEqual([]);
  expect((await post(path)).status).toBe(303);
  expect((await ok(call('GET', created.uri))).operation.event).toBe('terminate');
});

test('the link of a run logs in once, on this machine, and not when a browser only looks ahead', async () => {
  const { call, sandbox } = await visit();
  expect(() => sandbox.loginLink()).toThrow('loopback');
  await sandbox.start();
  const { pathname, host } = new URL(sandbox.loginLink());
  const headers = { ...NOBODY, host, 'sec-fetch-site': 'none' };
  const follow = (more: Record<string, string> = {}, method = 'GET'): Promise<Answered> =>
    call(method, pathname, undefined, { ...headers, ...more });
  expect((await follow({}, 'HEAD')).status).toBe(403);
  expect((await follow({ 'sec-purpose': 'prefetch;prerender' })).status).toBe(403);
  expect((await follow({ host: 'evil.example' })).status).toBe(403);
  const first = await follow();
  expect(first).toMatchObject({ status: 303, headers: { location: '/page/instances' } });
  const cookie = (first.headers['set-cookie'] ?? '').split(';')[0] ?? '';
  expect((await call('GET', '/page/boxes', undefined, { ...headers, cookie })).body).toContain('Log out');
  const second = await follow();
  expect(second.status).toBe(403);
  expect(second.headers['set-cookie']).toBeUndefined();
  expect(second.body).toContain('used already');
});

test('gives no such link for a service that others can reach', async () => {
  const { sandbox } = await visit();
  await sandbox.start({ host: '0.0.0.0' });
  expect(() => sandbox.loginLink()).toThrow('only a service that listens on loopback');
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

test('shows nothing of what belongs to others, and says that a link leads nowhere', async () => {
  const owner = await visit();
  const { call, deploy, deployable, sandbox } = owner;
  const boxes = await deployable({ install: 'exit 0' }, { name: 'private box' });
  const created = await deploy(boxes, { name: 'private one' });
  sandbox.admin.createAccount({ email: 'eve@example.com', password: 'p' });
  const cookie = await login(owner, 'eve@example.com', 'p');
  const paths = [
    `/page/instances/${created.id}`,
    `/page/instances/${created.id}/log`,
    `/page/boxes/${boxes.box.id}`,
    `/page/boxes/${boxes.box.id}/deploy`,
    `/page/policy-boxes/${boxes.policy.id}`,
    '/page/workspaces/ops',
    '/page/instances/i-unknown',
    '/page/boxes/unknown',
    '/page/providers/unknown',
    '/page/blobs/unknown',
    '/page/nothing/at/all',
  ];
  for (const path of paths) {
    const answer = await call('GET', path, undefined, { ...NOBODY, cookie });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.body).toContain('that you can see');
    expect(answer.body).not.toContain('private');
  }
  for (const path of [
    '/page/instances',
    '/page/boxes',
    '/page/policy-boxes',
    '/page/workspaces',
    '/page/blobs',
    '/page/calls',
  ]) {
    const { body } = await call('GET', path, undefined, { ...NOBODY, cookie });
    expect(body).not.toMatch(/private|>ops</);
  }
  const post = `/page/instances/${created.id}/do/force_terminate`;
  expect((await call('POST', post, form({}), { ...NOBODY, cookie })).status).toBe(404);
  expect((await ok(call('GET', created.uri))).operation.event).toBe('deploy');
});

test('leads links of earlier versions to the instance that they name', async () => {
  const { get } = await visit();
  expect(await get('/?instance=i-unknown')).toMatchObject({
    status: 303,
    headers: { location: '/page/instances/i-unknown' },
  });
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

test('is in nobody’s way and nothing is in its way: no calls, no faults, no latency, no release', async () => {
  const { clock, get, sandbox } = await visit({ readings: { release: 'strict' } });
  sandbox.admin.addFault({ match: { path: '*' }, status: 503 });
  sandbox.admin.addFault({ match: {}, hang: 'before' });
  sandbox.admin.setLatency(60_000);
  sandbox.admin.clearCalls();
  const { status, body } = await get('/page/calls');
  expect(status).toBe(200);
  expect(body).toContain('No client has called yet');
  expect(sandbox.admin.calls()).toEqual([]);
  expect(clock.untilNext()).toBeUndefined();
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

test('answers nothing new with 304', async () => {
  const { get } = await visit();
  const { headers } = await get('/page/boxes');
  const again = await get('/page/boxes', { 'if-none-match': headers['etag'] ?? '' });
  expect(again).toMatchObject({ status: 304, body: '' });
});

test('says what the service said against an action, beside what it is about', async () => {
  const { clock, deploy, deployable, post, sandbox } = await visit();
  const created = await deploy(await deployable(), { name: 'web' });
  const refused = await post(`/page/instances/${created.id}/do/poweron`);
  expect(refused.status).toBe(409);
  expect(refused.body).toContain('role="alert"');
  expect(refused.body).toContain('poweron: not possible while instance');
  await clock.advance(4000);
  sandbox.admin.addFault({ match: { route: '/services/instances/*' }, lose: 'after', times: 1 });
  const lost = await post(`/page/instances/${created.id}/do/shutdown`);
  expect(lost.status).toBe(502);
  expect(lost.body).toContain('the connection broke after the call took effect');
  expect((await post(`/page/instances/${created.id}/do/dance`)).status).toBe(404);
});

test('renews a lease, counted from now', async () => {
  const { call, clock, deploy, deployable, get, post } = await visit();
  const created = await deploy(await deployable());
  await clock.advance(4000);
  const to = `/page/instances/${created.id}/do/lease`;
  await post(to, { lease: 'shutdown', 'lease-number': '3', 'lease-unit': 'days' });
  const { lease } = await ok(call('GET', created.uri));
  expect(lease.operation).toBe('shutdown');
  expect(Date.parse(`${lease.expire.replace(' ', 'T')}Z`) - clock.now()).toBe(3 * 86_400_000);
  expect((await get(`/page/instances/${created.id}`)).body).toContain('shutdown in 3 d 0 h');
  await post(to, { lease: 'alwayson' });
  expect((await ok(call('GET', created.uri))).lease.operation).toBe('alwayson');
  const huge = { lease: 'terminate', 'lease-number': '1e300', 'lease-unit': 'weeks' };
  expect((await post(to, huge)).status).toBe(303);
});

test('makes a box of a form, and deploys it with what another form says', async () => {
  const { call, clock, get, post } = await visit();
  const fields = { type: 'policy', name: 'two', requirements: 'Linux', instances: '2', flavor: 'test.small' };
  const schema = 'http://sandbox.boxwright.dev/schemas/test/compute/profile';
  const provider = '00000000-0000-4000-8000-000000000001';
  const policy = await post('/page/boxes/new', { ...fields, provider, 'profile-schema': schema });
  expect(policy).toMatchObject({
    status: 303,
    headers: { location: /^\/page\/policy-boxes\/[0-9a-f-]{36}$/ },
  });
  const script = {
    type: 'script',
    name: 'web',
    requirements: 'Linux, Amd64',
    'variable-name': 'PORT',
    'variable-type': 'Port',
    'variable-value': '80',
    'variable-required': 'yes',
    'event-install': 'echo "one"\r\necho "two"',
  };
  const made = await post('/page/boxes/new', script);
  const id = (made.headers['location'] ?? '').split('/').at(-1) ?? '';
  const box = await ok(call('GET', `/services/boxes/${id}`));
  expect(box).toMatchObject({
    requirements: ['Linux', 'Amd64'],
    variables: [{ name: 'PORT', type: 'Port', value: '80', required: true }],
  });
  expect((await call('GET', box.events.install.url)).body).toBe('echo "one"\necho "two"\n');
  const asked = (await get(`/page/boxes/${id}/deploy`)).body;
  expect(asked).toContain('name="v  PORT"');
  const policyId = policy.headers['location']?.split('/').at(-1) ?? '';
  const deployed = await post(`/page/boxes/${id}/deploy`, {
    name: 'web-1',
    owner: 'shop',
    policy: policyId,
    'v  PORT': '8080',
  });
  const instance = await ok(
    call('GET', (deployed.headers['location'] ?? '').replace('/page/', '/services/')),
  );
  expect(instance).toMatchObject({
    name: 'web-1',
    owner: 'shop',
    variables: [{ name: 'PORT', value: '8080' }],
  });
  await clock.advance(4000);
  expect((await get(deployed.headers['location'] ?? '')).body).toContain('two');
});

test('makes a box whole or not at all, and keeps what was filled in', async () => {
  const { call, post } = await visit();
  const refused = await post('/page/boxes/new', {
    type: 'script',
    name: 'half',
    'variable-name': 'PORT',
    'variable-type': 'Port',
    'variable-value': 'eighty',
    'event-install': 'echo "kept"',
  });
  expect(refused.status).toBe(400);
  expect(refused.body).toContain('is not a port');
  expect(refused.body).toContain('value="half"');
  expect(refused.body).toContain('echo &quot;kept&quot;');
  expect(await ok(call('GET', '/services/boxes'))).toEqual([]);
});

test('says on a form why a deploy was refused', async () => {
  const { deployable, post } = await visit();
  const variables = [{ name: 'NAME', type: 'Text', value: '', required: true, visibility: 'public' }];
  const { box, policy } = await deployable({}, { variables });
  const refused = await post(`/page/boxes/${box.id}/deploy`, {
    name: 'my web',
    owner: 'ops',
    policy: policy.id,
  });
  expect(refused.status).toBe(400);
  expect(refused.body).toContain('&quot;NAME&quot; is required and has no value');
  expect(refused.body).toContain('value="my web"');
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

test('leaves every address but its own to the service', async () => {
  const { call, get } = await visit();
  for (const path of ['/instances', '/boxes', '/login', '/organizations/public', '/page.css', '/pages/x']) {
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  }
  expect((await call('PUT', '/organizations/public/sync_groups')).status).not.toBe(404);
  expect(await get('/')).toMatchObject({ status: 303, headers: { location: '/page/instances' } });
});

test.each(['__proto__', '-__proto__', 'constructor', '-toString', 'nothing'])(
  'sorts by what it always does where the address asks for %s',
  async (sort) => {
    const { deploy, deployable, get } = await visit();
    await deploy(await deployable());
    const rowsOf = (body: string): string => body.split('<tbody')[1] ?? '';
    const { body, status } = await get(`/page/instances?sort=${sort}`);
    expect(status).toBe(200);
    expect(rowsOf(body)).toBe(rowsOf((await get('/page/instances')).body));
  },
);

test.each(['/page/instances/%zz', '/page/logout', '/page/boxes/x/delete'])(
  'says on a page that the link %s leads nowhere',
  async (path) => {
    const { get } = await visit();
    const { body, headers, status } = await get(path);
    expect(status).toBe(404);
    expect(headers['content-type']).toContain('text/html');
    expect(body).toContain('that you can see');
  },
);

test('shows a box that nests more than can be deployed, and says so', async () => {
  const { call, deployable, get, post } = await visit();
  const many = (id: string): object => ({
    variables: Array.from({ length: 25 }, (_, n) => ({ name: `n${n}`, type: 'Box', value: id })),
  });
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
});
