import { expect, test } from 'vitest';
import { ok, startFixture } from '../fixture.ts';
import { bundledReadings } from './bundles.ts';
import { compileRules } from './readings.ts';

const TOKEN = '11111111-2222-4333-8444-555555555555';
const NO_TOKEN = { 'service-token': '', 'service-release': '' };
const COOKIE = { ...NO_TOKEN, cookie: `token=${TOKEN}`, host: '127.0.0.1:8420' };

// V1
test('takes token and release under other names too, and the own ones first', async () => {
  const headers = { token: ['X-Old-Token', 'Other-Token'], release: ['X-Old-Release'] };
  const { call } = await startFixture({ headers, readings: { release: 'strict' } });
  const ask = async (sent: Record<string, string>): Promise<number> =>
    (await call('GET', '/services/boxes', undefined, { ...NO_TOKEN, ...sent })).status;
  expect(await ask({ 'x-old-token': TOKEN, 'x-old-release': '4.0' })).toBe(200);
  expect(await ask({ 'other-token': TOKEN, 'service-release': '4.0' })).toBe(200);
  expect(await ask({ 'x-old-token': TOKEN, 'x-old-release': '3.0' })).toBe(400);
  expect(await ask({ 'service-token': 'wrong', 'x-old-token': TOKEN, 'x-old-release': '4.0' })).toBe(401);
  expect(await ask({ 'third-token': TOKEN, 'x-old-release': '4.0' })).toBe(401);
});

test('says when a header name is none', async () => {
  await expect(async () => startFixture({ headers: { token: ['a name'] } })).rejects.toThrow(
    'header token=a name: "a name" is not the name of a header',
  );
});

// V2
test.each(['shutdown', 'reinstall', 'reconfigure'])('takes %s without a body', async (operation) => {
  const { call, clock, deployable, deploy } = await startFixture();
  const { uri } = await deploy(await deployable());
  await clock.advance(10_000);
  expect((await call('PUT', `${uri}/${operation}`)).status).toBe(202);
});

test.each([
  ['shutdown', { method: 'reinstall' }, 'method: "reinstall" is not the shutdown of the path'],
  ['reconfigure', { method: 'shutdown' }, 'method: "shutdown" is not the reconfigure of the path'],
  ['reconfigure', { id: 'i-other1', method: 'reconfigure' }, 'id: "i-other1" is not the'],
  ['pull', { id: 'i-other1', box_id: 'x' }, 'id: "i-other1" is not the'],
])('refuses %s with a body that contradicts the path: %j', async (operation, body, message) => {
  const { call, clock, deployable, deploy } = await startFixture();
  const { uri } = await deploy(await deployable());
  await clock.advance(10_000);
  const answer = await call('PUT', `${uri}/${operation}`, body);
  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain(message);
  expect((await call('GET', uri)).body.state).toBe('done');
});

test('refuses the update of a record with another one in the body; a diff compares two', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const { box, policy } = await deployable();
  const instance = await deploy({ box, policy });
  await clock.advance(10_000);
  const other = { id: 'other' };
  for (const uri of [box.uri, instance.uri, '/services/workspaces/shop']) {
    expect((await call('PUT', uri, other)).body.message).toContain('id: "other" is not the');
  }
  expect((await call('PUT', `${box.uri}/diff`, policy)).status).toBe(200);
});

// V5
test.each([
  ['no origin, as a program that is no browser', {}, 'PUT', 200],
  ['the own origin', { origin: 'http://127.0.0.1:8420' }, 'PUT', 200],
  [
    'the origin that a proxy tells',
    { origin: 'https://cda.test', 'x-forwarded-host': 'cda.test' },
    'PUT',
    200,
  ],
  ['another port of the host', { origin: 'http://127.0.0.1:9000' }, 'PUT', 401],
  ['an origin that is kept secret', { origin: 'null' }, 'PUT', 401],
  ['a request of another port that tells no origin', { 'sec-fetch-site': 'same-site' }, 'GET', 401],
  ['a link on another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' }, 'GET', 200],
  ['a form on another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' }, 'PUT', 401],
])('the cookie with %s', async (_, headers, method, status) => {
  const { call, deployable } = await startFixture();
  const { box } = await deployable();
  const sent = { ...COOKIE, ...headers };
  const body = method === 'PUT' ? { description: 'changed' } : undefined;
  expect((await call(method, box.uri, body, sent)).status).toBe(status);
});

test('a token in a header counts whatever the origin', async () => {
  const { call } = await startFixture();
  expect((await call('GET', '/services/boxes', undefined, { origin: 'http://elsewhere.test' })).status).toBe(
    200,
  );
});

test.each(['/page/login', '/page/logout'])('a page elsewhere sends no form to %s', async (path) => {
  const { call } = await startFixture();
  const form = Buffer.from('email=ops%40example.com&password=secret-1');
  const foreign = { ...COOKIE, origin: 'http://127.0.0.1:9000' };
  expect((await call('POST', path, form, foreign)).status).toBe(403);
  expect((await call('POST', path, form, { ...COOKIE, origin: 'http://127.0.0.1:8420' })).status).toBe(303);
});

// V7
test('a strict release is not asked of login, login providers, the page and the description', async () => {
  const { call } = await startFixture({ readings: { release: 'strict' } });
  const login = { email: 'ops@example.com', password: 'secret-1' };
  const { token } = await ok(call('POST', '/services/security/token', login, NO_TOKEN));
  for (const path of ['/services/security/providers', '/openapi.json', '/page/boxes', '/page/style.css']) {
    expect((await call('GET', path, undefined, { ...NO_TOKEN, cookie: `token=${token}` })).status).toBe(200);
  }
  for (const path of ['/services/boxes', '/services/organizations/public']) {
    expect((await call('GET', path, undefined, { 'service-release': '' })).status).toBe(400);
  }
  expect(
    (await call('PUT', '/organizations/public/sync_groups', undefined, { 'service-release': '' })).status,
  ).toBe(400);
});

// V15
test('a path of nothing but slashes takes no time', async () => {
  const { call } = await startFixture();
  const start = performance.now();
  const path = `/${'/'.repeat(200_000)}x`;
  expect((await call('GET', path, undefined, NO_TOKEN)).status).toBe(404);
  expect(performance.now() - start).toBeLessThan(500);
});

test('a body nested without end is refused', async () => {
  const { call } = await startFixture();
  const deep = Buffer.from(`{"a":${'['.repeat(300_000)}${']'.repeat(300_000)}}`);
  const answer = await call('POST', '/services/boxes', deep);
  expect(answer).toMatchObject({
    status: 400,
    body: { message: 'the body is nested deeper than 64 levels' },
  });
  const text = { schema: 'x', name: '[[[['.repeat(60) };
  expect((await call('POST', '/services/boxes', text)).body.message).toContain('schema:');
});

// V11, V12
test('classic is a bundle of readings that exist, and a reading of its own wins', () => {
  expect(compileRules(bundledReadings(['classic']))).toMatchObject({ boxPostComplete: true, nameLimit: 256 });
  const chosen = { ...bundledReadings(['classic']), boxPost: 'empty' } as const;
  expect(compileRules(chosen).boxPostComplete).toBe(false);
  for (const name of ['modern', 'constructor']) {
    expect(() => bundledReadings([name])).toThrow(
      `no readings are bundled as "${name}": choose one of classic`,
    );
  }
});

test('paths and headers that nothing answers or reads are told once, and counted, without a value', async () => {
  const told: unknown[] = [];
  const { call, sandbox } = await startFixture({
    headers: { token: ['X-Old-Token'] },
    log: (message, fields) => void told.push([message, fields]),
  });
  const old = { 'x-old-token': TOKEN, 'x-old-release': '4.0', 'user-agent': 'old', 'x-forwarded-for': '::1' };
  for (let n = 0; n < 2; n++) {
    await call('GET', `/services/profiles/${TOKEN}`, undefined, old);
    await call('PATCH', '/services/boxes', undefined, old);
    await call('GET', '/services/boxes', undefined, { ...NO_TOKEN, 'older-token': 'secret' });
  }
  expect(sandbox.admin.unread()).toEqual([
    { kind: 'path', name: 'GET /services/profiles/{id}', count: 2, status: 404 },
    { kind: 'header', name: 'x-old-release', count: 4, status: 405 },
    { kind: 'path', name: 'PATCH /services/boxes', count: 2, status: 405 },
    { kind: 'header', name: 'older-token', count: 2, status: 401 },
  ]);
  expect(told).toHaveLength(4);
  expect(told[0]).toEqual([
    'nothing answers here',
    { kind: 'path', name: 'GET /services/profiles/{id}', count: 1, status: 404 },
  ]);
});
