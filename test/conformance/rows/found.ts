import { answers, assert, has, holds, isText } from '../assert.ts';
import { row, type Row } from '../row.ts';
import type { Record_, World } from '../world.ts';

const variable = (name: string, type: string, value: unknown): object => ({ name, type, value });

/** Bytes of a multipart form with one file of that type. */
const form = (type: string): Buffer =>
  Buffer.from(
    `--b\r\nContent-Disposition: form-data; name="blob"; filename="f"\r\nContent-Type: ${type}\r\n\r\nx\r\n--b--\r\n`,
  );
const FORM = { 'content-type': 'multipart/form-data; boundary=b' };

const member = (world: World, role: string): Promise<object> =>
  world.once(`member ${role}`, async () => {
    const { body } = await world.member.call('GET', '/services/workspaces');
    const own = body.find((workspace: Record_) => String(workspace.schema).endsWith('/personal'));
    return { role, workspace: own.id };
  });

/** A script box of the other user. */
async function theirs(world: World): Promise<Record_> {
  const body = { schema: `${await world.base()}/boxes/script`, name: world.name(), requirements: [] };
  const { status, body: box } = await world.member.call('POST', '/services/boxes', body);
  assert.equal(status, 200);
  world.later(() => world.member.call('DELETE', box.uri));
  return box;
}

/** What the trials of November 2026 found: statements that were not, or only half, kept. */
export const foundRows: readonly Row[] = [
  row(
    '9',
    'acd35618 bd924b0b',
    'token and release come under the names of an old client, by flags',
    async (world) => {
      const old = { 'service-token': null, 'service-release': null, 'x-old-release': '4.0' };
      const token = world.cast.classic?.token ?? '';
      answers(
        await world.classic('GET', '/services/boxes', undefined, { ...old, 'x-old-token': token }),
        200,
      );
      answers(await world.classic('GET', '/services/boxes', undefined, { ...old, 'x-old-token': 'no' }), 401);
    },
  ),
  row('4', 'ec5addac', 'logging in needs no release header, however strict it is', async (world) => {
    const none = { 'service-token': null, 'service-release': null };
    const { credentials } = world.cast;
    const login = await world.classic('POST', '/services/security/token', credentials, none);
    answers(login, 200);
    isText(login.body);
    answers(await world.classic('GET', '/services/security/providers', undefined, none), 200);
    answers(await world.classic('GET', '/services/boxes', undefined, { 'service-release': null }), 400);
  }),
  row('4.2', '815dc6b9', 'reconfigure takes no body', async (world) => {
    const { uri } = await world.online();
    answers(await world.call('PUT', `${uri}/reconfigure`), 200, 202);
    await world.settled(uri);
  }),
  row('4.2', '815dc6b9 6abc80bf', 'a body that contradicts the path is refused', async (world) => {
    const { uri, id } = await world.running();
    for (const body of [{ id: 'i-other1' }, { id, method: 'shutdown' }]) {
      answers(await world.call('PUT', `${uri}/reconfigure`, body), 400);
    }
    answers(await world.call('PUT', uri, { id: 'i-other1', tags: [] }), 400);
  }),
  row('4.1', 'b56e68bf', 'PUT that would change another field is refused, by the reading', async (world) => {
    const { body: made } = await world.classic('POST', '/services/boxes', {
      schema: `${await world.base()}/boxes/script`,
      name: world.name(),
      requirements: [],
    });
    answers(await world.classic('PUT', made.uri, made), 200);
    answers(await world.classic('PUT', made.uri, { ...made, visibility: 'public' }), 400);
  }),
  row('4.3', '08332fcb', 'a download is kept by a browser and runs nowhere', async (world) => {
    const { url } = await world.upload('page.html', '<script>1</script>');
    const { headers } = await world.call('GET', url);
    assert.match(headers['content-disposition'] ?? '', /^attachment/);
    assert.match(headers['content-security-policy'] ?? '', /sandbox/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
  }),
  row('5', '15c19278', 'the cookie does not count for a page of another origin', async (world) => {
    const cookie = { 'service-token': null, cookie: `token=${world.cast.main.token}` };
    const { uri } = await world.shared('script');
    const foreign = { ...cookie, origin: 'http://127.0.0.1:1' };
    answers(await world.call('PUT', uri, { description: '' }, foreign), 401);
    const own = { ...cookie, origin: world.cast.main.baseUrl };
    answers(await world.call('PUT', uri, { description: '' }, own), 200);
  }),
  row('4.1', 'b56e68bf', 'a collaborator sends a box with a nested box of its owner back', async (world) => {
    const inner = await world.box('script');
    const box = await world.boxWith('script', {
      variables: [variable('inner', 'Box', inner.id)],
      members: [await member(world, 'collaborator')],
    });
    const { body } = await world.member.call('GET', box.uri);
    answers(await world.member.call('PUT', box.uri, body), 200);
  }),
  row('4.2', '6abc80bf', 'schedule updates the lease, also beside the lease as it was', async (world) => {
    const expire = '2999-01-01 00:00:00.000000';
    const instance = await world.online({ lease: { operation: 'shutdown', expire } });
    const schedule = { operation: 'terminate', expire };
    const { body } = await world.call('PUT', instance.uri, { ...instance, schedule });
    holds(body.lease, schedule);
  }),
  row('2.2', '67953858', 'a masked value that comes back is unchanged', async (world) => {
    const { body: made } = await world.classic('POST', '/services/boxes', {
      schema: `${await world.base()}/boxes/script`,
      name: world.name(),
      requirements: [],
      variables: [variable('PW', 'Password', 'hunter2')],
    });
    assert.equal(made.variables[0].value, '********');
    answers(await world.classic('PUT', made.uri, made), 200);
    const other = { ...made, variables: [{ ...made.variables[0], value: 'hunter2' }] };
    assert.equal((await world.classic('PUT', `${made.uri}/diff`, other)).body.changed, false);
  }),
  row('2.1', '7424fb4a', 'an override reads no box that is not shared', async (world) => {
    const hidden = await theirs(world);
    const inner = await world.box('script');
    const box = await world.boxWith('script', { variables: [variable('inner', 'Box', inner.id)] });
    for (const type of ['Text', 'Box']) {
      const request = { box: { id: box.id, variables: [variable('inner', type, hidden.id)] } };
      answers(await world.call('POST', '/services/instances', await world.deployRequest(request)), 400);
    }
  }),
  row('2.6', '234863b8', 'a binding leads to no instance that is not shared', async (world) => {
    const { id } = await world.running();
    const box = await theirs(world);
    answers(await world.member.call('PUT', box.uri, { variables: [variable('db', 'Binding', id)] }), 400);
  }),
  row('4.3', '08332fcb', 'a file is read by who uploaded it or sees what it belongs to', async (world) => {
    const { url } = await world.upload('own.sh', 'x');
    answers(await world.member.call('GET', url), 403, 404);
    await world.boxWith('script', { events: { install: { url } }, members: [await member(world, 'read')] });
    answers(await world.member.call('GET', url), 200);
  }),
  row('4.1', '89e49404', 'what POST of a box leaves out is named in a Warning', async (world) => {
    const answer = await world.call('POST', '/services/boxes', {
      schema: `${await world.base()}/boxes/script`,
      name: world.name(),
      requirements: [],
      variables: [variable('A', 'Text', 'x')],
    });
    world.later(() => world.call('DELETE', answer.body.uri));
    assert.deepEqual(answer.body.variables, []);
    assert.match(String(answer.headers['warning']), /variables/);
  }),
  row('4.1', '89e49404', 'one POST makes a whole box, by the reading', async (world) => {
    const { body } = await world.classic('POST', '/services/boxes', {
      schema: `${await world.base()}/boxes/script`,
      name: world.name(),
      requirements: [],
      variables: [variable('A', 'Text', 'x')],
    });
    assert.equal(body.variables[0].name, 'A');
  }),
  row('4.2', '91ab5563', 'a name of 36 characters is refused, or taken by the reading', async (world) => {
    const name = '0123456789abcdef0123456789abcdef0123';
    const request = await world.deployRequest({ name });
    answers(await world.call('POST', '/services/instances', request), 400);
    const refused = await world.classic('POST', '/services/instances', request);
    assert.match(refused.body.message, /box/, 'the other service has not these boxes; the name is no reason');
  }),
  row(
    '2.1',
    '1b445089 1ea3024c 5b570d3c',
    'readme, dockerfile and icon are absent when they are not set',
    async (world) => {
      for (const kind of ['script', 'policy', 'docker']) {
        const box = await world.shared(kind);
        for (const name of ['readme', 'dockerfile', 'icon']) assert.ok(!(name in box), `${kind}: ${name}`);
      }
    },
  ),
  row(
    '2.5',
    'ff6e9e4b 1b91d711',
    'a cloudformation profile carries its schema, or is absent',
    async (world) => {
      const box = await world.shared('cloudformation');
      assert.ok(!('profile' in box));
      const body = { ...box, name: world.name(), profile: { instances: 1 } };
      answers(await world.call('POST', '/services/boxes', body), 400);
    },
  ),
  row('2.10', 'd064021b', 'LDAP sources show their default and no password', async (world) => {
    const { authentication } = await world.organization();
    const sources = [{ host: 'ldap.test', ldap_search_password: 'secret' }];
    const { body } = await world.changeOrganization({
      authentication: { ...authentication, ldap_config: { sources } },
    });
    assert.equal(body.authentication.ldap_config.ldap_group_sync, false);
    assert.notEqual(body.authentication.ldap_config.sources[0].ldap_search_password, 'secret');
  }),
  row('2.10', '046ae475', 'an organization keeps an administrator', async (world) => {
    answers(await world.changeOrganization({ administrators: [] }), 400);
  }),
  row(
    '2.9',
    '56d1811b 4d024054',
    'email and take_tour of a personal workspace can be updated',
    async (world) => {
      const { uri, email, take_tour } = await world.personal();
      world.later(() => world.call('PUT', uri, { take_tour }));
      const { body } = await world.call('PUT', uri, { email, take_tour: true });
      holds(body, { email, take_tour: true });
      answers(await world.call('PUT', uri, { email: 'none' }), 400);
    },
  ),
  row('8', '5dbdd074', 'organization and deleted of a Google account have limits', async (world) => {
    const google = { project_id: 'p', email: 'e', credentials: { key: 'k' } };
    const schema = `${await world.base()}/gce/provider`;
    for (const more of [{ organization: 'x'.repeat(257) }, { deleted: 'x'.repeat(2_049) }]) {
      const body = { schema, type: 'Google Compute', name: world.name(), ...google, ...more };
      answers(await world.call('POST', '/services/providers', body), 400);
    }
  }),
  row('4.5', '3cb583d5', 'Azure takes the name subscription', async (world) => {
    has(await world.provider('azure', 'Microsoft Azure', { subscription: 's' }), 'subscription_id');
  }),
  row('4.2', 'ef40a373', 'ipv4_address is an address', async (world) => {
    const request = await world.deployRequest({ ipv4_address: '999.1.1.1' });
    answers(await world.call('POST', '/services/instances', request), 400);
  }),
  row('2.6', '14e72f47', 'expire has a fraction of six digits', async (world) => {
    const lease = { operation: 'shutdown', expire: '2999-01-01 00:00:00' };
    answers(await world.call('POST', '/services/instances', await world.deployRequest({ lease })), 400);
  }),
  row(
    '4.2',
    '6abc80bf',
    'changed content of a box in PUT of an instance is said to be left out',
    async (world) => {
      const instance = await world.get((await world.running()).uri);
      const boxes = [{ ...instance.boxes[0], description: 'changed' }];
      const { headers } = await world.call('PUT', instance.uri, { ...instance, boxes });
      assert.match(String(headers['warning']), /description/);
    },
  ),
  row('4.2', 'eae72f95', 'who may only read an instance gets no tokens of its service', async (world) => {
    const { uri } = await world.online();
    answers(await world.call('PUT', uri, { members: [await member(world, 'read')] }), 200);
    const { status, text } = await world.member.call('GET', `${uri}/service`);
    assert.equal(status, 200);
    assert.ok(!text.includes('"token"'));
  }),
  row('4.3', '2052dfca', 'an upload without a body is refused', async (world) => {
    answers(await world.call('POST', '/services/blobs/upload/x'), 400);
  }),
  row('4.3', 'a577b7fe', 'a type that no download could carry is refused', async (world) => {
    answers(await world.call('POST', '/services/blobs/upload', form('text/plain\nx: y'), FORM), 400);
    answers(await world.call('POST', '/services/blobs/upload', form('text/plain'), FORM), 200);
  }),
  row('2.2', '67953858', 'nested boxes are judged in no time', async (world) => {
    let inner = await world.box('script');
    const start = performance.now();
    for (let level = 0; level < 7; level++) {
      inner = await world.boxWith('script', {
        variables: [variable('a', 'Box', inner.id), variable('b', 'Box', inner.id)],
      });
    }
    const outer = await world.box('script');
    const many = Array.from({ length: 20 }, (_, n) => variable(`n${n}`, 'Box', inner.id));
    answers(await world.call('PUT', outer.uri, { variables: many }), 400);
    assert.ok(performance.now() - start < 10_000);
  }),
  row('1', 'f64ff52e', 'a path of slashes is answered at once', async (world) => {
    const start = performance.now();
    answers(await world.call('GET', `/${'/'.repeat(15_000)}x`), 404);
    assert.ok(performance.now() - start < 1_000);
  }),
];
