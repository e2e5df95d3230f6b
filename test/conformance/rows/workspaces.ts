import { answers, assert, has, holds, isBoolean, isList, isOneOf, isText, isTimestamp } from '../assert.ts';
import { reading, row, type Row } from '../row.ts';
import type { Record_, World } from '../world.ts';
import { newTeam } from './instances.ts';

const team = (world: World): Promise<Record_> => world.once('team', () => newTeam(world));

const memberId = async (world: World): Promise<string> =>
  (await world.member.call('GET', '/services/workspaces')).body[0].id;

export const workspaceRows: readonly Row[] = [
  reading('1', 'b75b751c d3cdcf79', 'there is one personal workspace', async (world) => {
    const all = await world.get('/services/workspaces');
    const personal = all.filter((entry: Record_) => entry.schema.endsWith('/personal'));
    assert.equal(personal.length, 1);
  }),
  row('1', 'c32c2b64', 'a team workspace has members', async (world) => {
    isList((await team(world)).members);
  }),
  reading('2', '371ecedb 22a16d4f c2ca2fcb', 'workspace ids are short names', async (world) => {
    assert.match((await world.personal()).id, /^\S{1,64}$/);
  }),
  reading('2.9', 'c5c6f57f 2d967d6c 60152a85 909e601a', 'id, uri, name and icon', async (world) => {
    const workspace = await world.personal();
    isText(workspace.id, workspace.name);
    assert.equal(workspace.uri, `/services/workspaces/${workspace.id}`);
    has(workspace, 'icon');
  }),
  row('2.9', '71ebab23', 'the two schemas of workspaces', async (world) => {
    const base = await world.base();
    assert.equal((await world.personal()).schema, `${base}/workspaces/personal`);
    assert.equal((await team(world)).schema, `${base}/workspaces/team`);
  }),
  reading('2.9', '0a12c6e3', 'created, updated, deleted', async (world) => {
    const workspace = await world.personal();
    isTimestamp(workspace.created);
    isTimestamp(workspace.updated);
    assert.equal(workspace.deleted, null);
  }),
  row('2.9', '2e410edb', 'a team workspace has organizations', async (world) => {
    assert.deepEqual((await team(world)).organizations, [(await world.personal()).organization]);
  }),
  reading('2.9', '26fc1507', 'a personal workspace has one organization', async (world) => {
    isText((await world.personal()).organization);
  }),
  row('2.9', '6af5a4e4', 'members are collaborators by workspace', async (world) => {
    const members = [{ role: 'collaborator', workspace: await memberId(world) }];
    const { uri } = await newTeam(world);
    assert.deepEqual((await world.expect(200, 'PUT', uri, { members })).members, members);
    answers(await world.member.call('GET', uri), 200);
  }),
  row('2.9', 'c6fabc92', 'a team workspace has an owner', async (world) => {
    assert.equal((await team(world)).owner, (await world.personal()).id);
  }),
  row('2.9', '7894aa25', 'a team workspace has LDAP groups', async (world) => {
    const groups = ['cn=ops,dc=example'];
    const { uri } = await newTeam(world);
    assert.deepEqual((await world.expect(200, 'PUT', uri, { ldap_groups: groups })).ldap_groups, groups);
  }),
  row('2.9', '5831f0a2', 'group_dns of a personal workspace cannot be changed', async (world) => {
    const personal = await world.personal();
    const put = await world.expect(200, 'PUT', personal.uri, { ...personal, group_dns: ['cn=x'] });
    assert.deepEqual(put.group_dns, personal.group_dns);
  }),
  row('2.9', '56d1811b', 'only personal workspaces have an email', async (world) => {
    assert.match((await world.personal()).email, /@/);
    assert.equal((await team(world)).email, undefined);
  }),
  row('2.9', 'b1d3e354 c199a945 4d024054', 'add_provider, deploy_instance and take_tour', async (world) => {
    await world.awsProvider();
    await world.running();
    const personal = await world.get((await world.personal()).uri);
    holds(personal, { add_provider: true, deploy_instance: true });
    isBoolean(personal.take_tour);
  }),
  reading('4.6', 'd51aeab0', 'GET workspaces: a list', async (world) => {
    isList(await world.get('/services/workspaces'));
  }),
  row('4.6', '7730cb45', 'POST workspaces creates a team workspace, or answers 400', async (world) => {
    const base = await world.base();
    const icon = '/i.png';
    const members = [{ role: 'collaborator', workspace: await memberId(world) }];
    const body = { schema: `${base}/workspaces/team`, name: world.name(), icon, members };
    const created = await world.expect(200, 'POST', '/services/workspaces', body);
    world.later(() => world.call('DELETE', created.uri));
    holds(created, { name: body.name, icon, members });
    const personal = `${base}/workspaces/personal`;
    answers(await world.call('POST', '/services/workspaces', { ...body, schema: personal }), 400);
    answers(await world.call('POST', '/services/workspaces', { ...body, name: undefined }), 400);
    const wrong = [{ role: 'king', workspace: 'x' }];
    answers(await world.call('POST', '/services/workspaces', { ...body, members: wrong }), 400);
  }),
  reading('4.6', '854f6c1b', 'GET workspace: 200, 404', async (world) => {
    const { uri, id } = await world.personal();
    assert.equal((await world.get(uri)).id, id);
    answers(await world.call('GET', '/services/workspaces/no-such'), 404);
  }),
  row('4.6', '7be8d8d2', 'PUT workspace: 200, 400, 404', async (world) => {
    const workspace = await newTeam(world);
    const name = world.name();
    assert.equal((await world.expect(200, 'PUT', workspace.uri, { ...workspace, name })).name, name);
    answers(await world.call('PUT', workspace.uri, { ...workspace, name: 7 }), 400);
    answers(await world.call('PUT', '/services/workspaces/no-such', workspace), 404);
    answers(await world.member.call('PUT', workspace.uri, workspace), 403, 404);
  }),
  row('4.6', '38ddddbd', 'DELETE workspace: 204, 403, 404', async (world) => {
    const { uri } = await newTeam(world);
    const members = [{ role: 'collaborator', workspace: await memberId(world) }];
    await world.expect(200, 'PUT', uri, { members });
    answers(await world.member.call('DELETE', uri), 403);
    answers(await world.call('DELETE', uri), 204);
    answers(await world.call('DELETE', uri), 404);
  }),
  reading('4.6', '859afd00 f02ab077', 'providers and boxes of a workspace', async (world) => {
    const { uri } = await world.personal();
    isList(await world.get(`${uri}/providers`), await world.get(`${uri}/boxes`));
  }),
  row('4.6', '859afd00 f02ab077', 'a workspace lists what it owns', async (world) => {
    const { uri, id } = await team(world);
    const box = await world.box('script', { owner: id });
    assert.deepEqual(
      (await world.get(`${uri}/boxes`)).map((entry: Record_) => entry.id),
      [box.id],
    );
    const mine = await world.get(`${(await world.personal()).uri}/providers`);
    assert.ok(mine.some((entry: Record_) => entry.type === 'Test Provider'));
  }),
  row('4.6', '6c52a9fb', 'instances of a workspace, filtered by service', async (world) => {
    const { uri } = await world.personal();
    const instance = await world.running();
    const all = await world.get(`${uri}/instances`);
    assert.ok(all.some((entry: Record_) => entry.id === instance.id));
    const some = await world.get(`${uri}/instances?service=${instance.service.id}`);
    assert.deepEqual(
      some.map((entry: Record_) => entry.id),
      [instance.id],
    );
    assert.deepEqual(await world.get(`${uri}/instances?service=eb-none`), []);
  }),
  reading('4.6', '869a81b7', 'profiles of a workspace are gone', async (world) => {
    answers(await world.call('GET', `${(await world.personal()).uri}/profiles`), 404);
  }),
  reading('2.9', '909e601a', 'personal and team workspaces are all there is', async (world) => {
    for (const { schema } of await world.get('/services/workspaces')) {
      isOneOf(String(schema).split('/').at(-1), 'personal', 'team');
    }
  }),
];
