import { expect, test } from 'vitest';
import { seeded, startFixture } from '../fixture.ts';

const LIST = '/services/boxes';

test.each([
  ['no token', { 'service-token': '' }, 401],
  ['a wrong token', { 'service-token': 'wrong' }, 401],
  [
    'a bearer token',
    { 'service-token': '', authorization: 'Bearer 11111111-2222-4333-8444-555555555555' },
    200,
  ],
  ['the cookie', { 'service-token': '', cookie: 'a=b; token=11111111-2222-4333-8444-555555555555' }, 200],
  ['another release', { 'service-release': '9.9' }, 200],
])('answers to %s', async (_, headers, status) => {
  const { call } = await startFixture();
  expect((await call('GET', LIST, undefined, headers)).status).toBe(status);
});

test('refuses other releases where that reading is chosen', async () => {
  const { call } = await startFixture({ readings: { release: 'strict' } });
  expect((await call('GET', LIST)).status).toBe(200);
  expect((await call('GET', LIST, undefined, { 'service-release': '9.9' })).status).toBe(400);
});

test.each([
  ['GET', '/services/nothing', undefined, 404],
  ['GET', '/services/profiles', undefined, 404],
  ['GET', '/services/boxes/', undefined, 200],
  ['GET', '/services/boxes?colour=red', undefined, 200],
  ['HEAD', '/services/boxes', undefined, 200],
  ['OPTIONS', '/services/boxes', undefined, 204],
  ['PATCH', '/services/boxes', undefined, 405],
  ['GET', '/services/boxes/%E0%A4%A', undefined, 400],
  ['POST', '/services/boxes', Buffer.from('{"name": '), 400],
  ['POST', '/services/boxes', Buffer.from('[]'), 400],
  ['POST', '/services/boxes', Buffer.from([0xff, 0xfe]), 400],
  ['POST', '/services/boxes', Buffer.alloc(4_000_001, 32), 413],
  ['POST', '/services/boxes', undefined, 400],
])('%s %s', async (method, path, body, status) => {
  const { call } = await startFixture();
  const answer = await call(method, path, body);
  expect(answer.status).toBe(status);
  const isError = status >= 400;
  expect(typeof answer.body.message === 'string').toBe(isError);
  expect(answer.headers['allow'] ?? '').toBe([204, 405].includes(status) ? 'GET, HEAD, POST, OPTIONS' : '');
  expect(answer.body === '').toBe(['HEAD', 'OPTIONS'].includes(method));
});

test('logs in with email and password, and tells wrong ones', async () => {
  const { call } = await startFixture();
  const login = { email: 'Ops@Example.com', password: 'secret-1' };
  const { status, body } = await call('POST', '/services/security/token', login, { 'service-token': '' });
  expect(status).toBe(200);
  expect((await call('GET', LIST, undefined, { 'service-token': body.token })).status).toBe(200);
  const wrong = await call('POST', '/services/security/token', { ...login, password: 'x' });
  expect(wrong).toMatchObject({ status: 401, body: { message: 'Invalid Username/Password' } });
  expect((await call('POST', '/services/security/token', { email: 'x' })).status).toBe(400);
});

test('the bare token as text, where that reading is chosen', async () => {
  const { call } = await startFixture({ readings: { login: 'text' } });
  const answer = await call('POST', '/services/security/token', {
    email: 'ops@example.com',
    password: 'secret-1',
  });
  expect(answer.body).toMatch(/^[0-9a-f-]{36}$/);
});

test('revoked tokens are refused, new ones work', async () => {
  const { call, sandbox } = await startFixture();
  expect(sandbox.admin.revokeTokens({ user: 'ops' })).toBe(1);
  expect((await call('GET', LIST)).status).toBe(401);
  const token = sandbox.admin.issueToken('ops@example.com');
  expect((await call('GET', LIST, undefined, { 'service-token': token })).status).toBe(200);
});

test('an answer lost after the effect leaves the effect, one lost before does not', async () => {
  const { call, sandbox } = await startFixture();
  const box = { schema: `${sandbox.schemaBase}/boxes/script`, name: 'web', requirements: [] };
  sandbox.admin.addFault({ match: { method: 'POST' }, lose: 'before', times: 1 });
  await expect(call('POST', LIST, box)).rejects.toMatchObject({ code: 'ConnectionLost', effect: 'before' });
  expect(sandbox.admin.records('boxes')).toHaveLength(0);
  sandbox.admin.addFault({ match: { method: 'POST' }, lose: 'after', times: 1 });
  await expect(call('POST', LIST, box)).rejects.toMatchObject({ code: 'ConnectionLost', effect: 'after' });
  expect(sandbox.admin.records('boxes')).toHaveLength(1);
  expect(sandbox.admin.calls().map((record) => record.lost)).toEqual(['before', 'after']);
  expect((await call('POST', LIST, box)).status).toBe(409);
});

test('error codes with Retry-After, for a route and a number of calls', async () => {
  const { call, sandbox } = await startFixture();
  sandbox.admin.addFault({
    match: { route: '/services/boxes', caller: 'ops' },
    skip: 1,
    status: 429,
    retryAfter: 7,
    times: 2,
  });
  const seen = [];
  for (let n = 0; n < 4; n++) seen.push(await call('GET', LIST));
  expect(seen.map((answer) => answer.status)).toEqual([200, 429, 429, 200]);
  expect(seen[1]?.headers['retry-after']).toBe('7');
  expect((await call('GET', '/services/workspaces')).status).toBe(200);
});

test.each([
  ['truncated', 200],
  ['html', 200],
  ['text', 200],
  ['empty', 200],
] as const)('spoils the body: %s', async (body, status) => {
  const { sandbox, call } = await startFixture();
  await call('GET', '/services/workspaces');
  sandbox.admin.addFault({ match: { route: '/services/workspaces' }, body });
  const answer = await sandbox.handle({
    method: 'GET',
    path: '/services/workspaces',
    headers: { 'service-token': sandbox.credentials.token ?? '' },
    body: new Uint8Array(),
  });
  expect(answer.status).toBe(status);
  expect(() => JSON.parse(Buffer.from(answer.body).toString())).toThrow(SyntaxError);
});

test('wrong types and extra fields in the body', async () => {
  const { sandbox, call } = await startFixture();
  const spoilt = sandbox.admin.addFault({ match: {}, body: 'wrong-types' });
  expect(typeof (await call('GET', '/services/workspaces')).body[0].id).toBe('number');
  sandbox.admin.removeFault(spoilt);
  sandbox.admin.addFault({ match: {}, body: 'extra-fields' });
  expect((await call('GET', '/services/workspaces')).body[0]).toMatchObject({ id: 'ops', friendly_id: 'x' });
});

test('latency holds the answer back, and the effect with it', async () => {
  const { call, clock, sandbox } = await startFixture({ latency: 200 });
  sandbox.admin.addFault({ match: {}, latency: [100, 101] });
  let answered = false;
  const answer = call('GET', LIST).then(() => (answered = true));
  await clock.advance(299);
  expect(answered).toBe(false);
  await clock.advance(2);
  await answer;
  expect(answered).toBe(true);
});

test('a call that hangs ends when its caller gives up', async () => {
  const { sandbox } = await startFixture();
  sandbox.admin.addFault({ match: {}, hang: 'before' });
  const caller = new AbortController();
  const answer = sandbox.handle({
    method: 'GET',
    path: LIST,
    headers: {},
    body: new Uint8Array(),
    signal: caller.signal,
  });
  caller.abort(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
});

test('lists trail by polls: a new record shows in the third look, a deleted one stays for two', async () => {
  const { call, sandbox, deployable } = await startFixture();
  sandbox.admin.setListLag({ polls: 2 });
  const { box } = await deployable();
  const look = async (): Promise<boolean> =>
    (await call('GET', LIST)).body.some((entry: { id: string }) => entry.id === box.id);
  expect([await look(), await look(), await look()]).toEqual([false, false, true]);
  expect((await call('GET', box.uri)).status).toBe(200);
  await call('DELETE', box.uri);
  expect([await look(), await look(), await look()]).toEqual([true, true, false]);
  sandbox.admin.setListLag({});
});

test('lists trail by time', async () => {
  const { call, clock, sandbox, deployable } = await startFixture();
  sandbox.admin.setListLag({ ms: 1000 });
  const { box } = await deployable();
  const look = async (): Promise<boolean> =>
    (await call('GET', LIST)).body.some((entry: { id: string }) => entry.id === box.id);
  expect(await look()).toBe(false);
  await clock.advance(1000);
  expect(await look()).toBe(true);
});

test('a new record answers 404 for as many reads as asked', async () => {
  const { call, sandbox, deployable, deploy } = await startFixture();
  const boxes = await deployable();
  sandbox.admin.hideCreated({ reads: 2 });
  const created = await deploy(boxes);
  const seen = [];
  for (let n = 0; n < 3; n++) seen.push((await call('GET', created.uri)).status);
  expect(seen).toEqual([404, 404, 200]);
});

test('keeps a record of all calls without a single secret', async () => {
  const { call, sandbox } = await startFixture();
  await call('POST', '/services/security/token', { email: 'ops@example.com', password: 'secret-1' });
  await call('GET', '/services/boxes/some-id?x=y');
  const calls = sandbox.admin.calls();
  expect(calls).toMatchObject([
    { method: 'POST', route: '/services/security/token', status: 200, bodyBytes: 49 },
    { route: '/services/boxes/{box_id}', path: '/services/boxes/some-id?x=y', caller: 'ops', status: 404 },
  ]);
  expect(calls[1]?.headerNames).toEqual(['service-release', 'service-token']);
  expect(JSON.stringify(calls)).not.toContain('secret-1');
  expect(sandbox.admin.calls({ since: 1 })).toHaveLength(1);
  sandbox.admin.clearCalls();
  expect(sandbox.admin.calls()).toEqual([]);
});

test('the same seed gives the same ids', async () => {
  const runs = [];
  for (let n = 0; n < 2; n++) {
    const { deployable, deploy } = await startFixture({ random: seeded(7) });
    runs.push((await deploy(await deployable())).id);
  }
  expect(runs[0]).toBe(runs[1]);
});

test('a restore brings the records of the snapshot back, with what runs', async () => {
  const { call, clock, sandbox, deployable, deploy } = await startFixture();
  const created = await deploy(await deployable());
  const before = sandbox.admin.snapshot();
  await clock.advance(4000);
  expect((await call('GET', created.uri)).body.state).toBe('done');
  const later = await deploy(await deployable());
  sandbox.admin.restore(before);
  expect((await call('GET', later.uri)).status).toBe(404);
  expect((await call('GET', created.uri)).body.state).toBe('done');
});

test('records can be changed and removed by hand', async () => {
  const { call, sandbox, deployable } = await startFixture();
  const { box } = await deployable();
  sandbox.admin.editRecord('boxes', box.id, { name: 'by hand' });
  const seen = (await call('GET', box.uri)).body;
  expect(seen.name).toBe('by hand');
  expect(seen.updated > box.updated).toBe(true);
  sandbox.admin.removeRecord('boxes', box.id);
  expect((await call('GET', box.uri)).status).toBe(404);
});

test('unknown fields are ignored, or refused where that reading is chosen; what was answered goes back', async () => {
  const { call, sandbox, deployable, deploy, clock } = await startFixture();
  const { box, policy } = await deployable();
  const instance = await deploy({ box, policy });
  await clock.advance(4000);
  const answered = (await call('GET', instance.uri)).body;
  expect((await call('PUT', box.uri, { ...box, colour: 'red' })).body.colour).toBeUndefined();
  sandbox.admin.setReadings({ unknownFields: 'refused' });
  const refused = await call('PUT', box.uri, { ...box, colour: 'red' });
  expect(refused).toMatchObject({ status: 400, body: { message: 'colour: is not a field of this request' } });
  for (const record of [box, policy, answered]) {
    expect((await call('PUT', record.uri, record)).status).toBe(200);
  }
});

test('a 400 tells what does not fit the description from what fits and cannot be', async () => {
  const { call, sandbox } = await startFixture();
  const schema = `${sandbox.schemaBase}/boxes/script`;
  const reasonOf = async (body: unknown): Promise<unknown> =>
    (await call('POST', '/services/boxes', body)).body.reason;
  expect(await reasonOf({ schema, name: '', requirements: [] })).toBe('invalid');
  expect(await reasonOf(Buffer.from('{'))).toBe('invalid');
  expect(await reasonOf({ schema, name: 'a', requirements: [], owner: 'nobody' })).toBe('refused');
  expect((await call('GET', '/services/nothing')).body.reason).toBeUndefined();
});
