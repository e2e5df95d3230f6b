import { expect, test } from 'vitest';
import { ok, startFixture, type Answered, type Fixture } from '../fixture.ts';

const create = ({ call, sandbox }: Fixture, name: string, more: object = {}): Promise<Answered> =>
  call('POST', '/services/workspaces', { schema: `${sandbox.schemaBase}/workspaces/team`, name, ...more });

test.each([
  ['Blue Team', 'blue'],
  ['Shop again', 'shop2'],
  ['Ops', 'ops2'],
  ['Über alles', 'über'],
  ['!!!', 'workspace'],
])('the id of "%s" is %s: the first word, with a number when that is taken', async (name, id) => {
  const fixture = await startFixture();
  expect((await create(fixture, name)).body).toMatchObject({ id, name, owner: 'ops', members: [] });
});

test('two workspaces can carry one name', async () => {
  const fixture = await startFixture();
  await create(fixture, 'Twin');
  expect((await create(fixture, 'Twin')).body).toMatchObject({ id: 'twin2', name: 'Twin' });
});

test('a member sees the workspace and what it owns; readers change nothing; others see nothing', async () => {
  const fixture = await startFixture();
  const { call, sandbox } = fixture;
  for (const user of ['reader', 'writer', 'other']) {
    sandbox.admin.createAccount({ email: `${user}@example.com`, password: 'p', token: user });
  }
  const members = [
    { role: 'read', workspace: 'reader' },
    { role: 'collaborator', workspace: 'writer' },
  ];
  const team = await ok(create(fixture, 'Team', { members }));
  const status = async (user: string, method: string, body?: object): Promise<number> =>
    (await call(method, team.uri, body, { 'service-token': user })).status;
  expect([
    await status('reader', 'GET'),
    await status('writer', 'GET'),
    await status('other', 'GET'),
  ]).toEqual([200, 200, 404]);
  expect(await status('reader', 'PUT', { name: 'x' })).toBe(403);
  expect(await status('writer', 'PUT', { name: 'x' })).toBe(200);
  expect(await status('writer', 'DELETE')).toBe(403);
  const schema = `${sandbox.schemaBase}/boxes/script`;
  const post = async (user: string, name: string): Promise<number> => {
    const body = { schema, name, requirements: [], owner: team.id };
    return (await call('POST', '/services/boxes', body, { 'service-token': user })).status;
  };
  expect([await post('reader', 'a'), await post('writer', 'b')]).toEqual([400, 200]);
});

test('a workspace that still owns something, and a personal one, cannot be removed', async () => {
  const fixture = await startFixture();
  const { call, sandbox } = fixture;
  const team = await ok(create(fixture, 'Team'));
  const box = { schema: `${sandbox.schemaBase}/boxes/script`, name: 'b', requirements: [], owner: team.id };
  const owned = await ok(call('POST', '/services/boxes', box));
  expect(await call('DELETE', team.uri)).toMatchObject({
    status: 403,
    body: { message: 'workspace team still owns 1 boxes; remove them first' },
  });
  await call('DELETE', owned.uri);
  expect((await call('DELETE', team.uri)).status).toBe(204);
  expect((await call('DELETE', '/services/workspaces/ops')).status).toBe(403);
});

test('ids filters the lists of workspaces and instances, or not, by the reading', async () => {
  const { call, deployable, deploy, sandbox } = await startFixture();
  const boxes = await deployable();
  const wanted = await deploy(boxes);
  await deploy(boxes);
  const paths = [
    `/services/workspaces/ops/instances?ids=${wanted.id},i-none,`,
    '/services/workspaces?ids=shop,',
  ];
  for (const path of paths) expect(await ok(call('GET', path))).toHaveLength(1);
  sandbox.admin.setReadings({ ids: 'boxes' });
  for (const path of paths) expect(await ok(call('GET', path))).toHaveLength(2);
});

test('list entries are lean where that reading is chosen', async () => {
  const { call, deployable, deploy } = await startFixture({ readings: { listEntries: 'lean' } });
  const created = await deploy(await deployable());
  const [entry] = await ok(call('GET', '/services/workspaces/ops/instances'));
  expect(entry).toMatchObject({ id: created.id, state: 'processing', updated: created.updated });
  for (const part of ['boxes', 'policy_box']) expect(entry[part]).toBeUndefined();
  expect(entry.service.machines).toBeUndefined();
});

// V14
test('a user changes the own email and tour; what cannot change is said', async () => {
  const { call, sandbox } = await startFixture();
  sandbox.admin.createAccount({ email: 'taken@example.com', password: 'p' });
  const path = '/services/workspaces/ops';
  const seen = await ok(call('GET', path));
  expect((await call('PUT', path, seen)).headers['warning']).toBeUndefined();
  const changed = await call('PUT', path, { ...seen, email: 'New@example.com', take_tour: true });
  expect(changed.body).toMatchObject({ email: 'new@example.com', take_tour: true });
  const login = { email: 'new@example.com', password: 'secret-1' };
  expect((await call('POST', '/services/security/token', login)).status).toBe(200);
  expect((await call('PUT', path, { email: 'taken@example.com' })).status).toBe(409);
  expect((await call('PUT', path, { email: 'none' })).status).toBe(400);
  const kept = await call('PUT', path, { group_dns: ['cn=x'], add_provider: true });
  expect(kept.headers['warning']).toContain('group_dns was not changed');
  expect(kept.headers['warning']).toContain('add_provider was not changed');
  expect(kept.body).toMatchObject({ group_dns: [], add_provider: false });
});
