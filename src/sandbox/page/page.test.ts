import { expect, test } from 'vitest';
import { ok, type Answered } from '../fixture.ts';
import { form, login, NOBODY, visit } from './visitor.ts';

test('asks who comes, and lets in with a cookie that neither scripts nor the service can use', async () => {
  const { call } = await visit();
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

test('answers nothing new with 304', async () => {
  const { get } = await visit();
  const { headers } = await get('/page/boxes');
  const again = await get('/page/boxes', { 'if-none-match': headers['etag'] ?? '' });
  expect(again).toMatchObject({ status: 304, body: '' });
});

test('leaves every address but its own to the service', async () => {
  const { call, get } = await visit();
  for (const path of ['/instances', '/boxes', '/login', '/organizations/public', '/page.css', '/pages/x']) {
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  }
  expect((await call('PUT', '/organizations/public/sync_groups')).status).not.toBe(404);
  expect(await get('/')).toMatchObject({ status: 303, headers: { location: '/page/instances' } });
});

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
