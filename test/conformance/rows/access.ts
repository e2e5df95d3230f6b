import { answers, assert, has, isText } from '../assert.ts';
import { reading, row, untestable, type Row } from '../row.ts';
import { NotHere, type World } from '../world.ts';

const LOGIN = '/services/security/token';
const ANONYMOUS = { 'service-token': null };

function credentials(world: World): { email: string; password: string } {
  const { credentials: given } = world.cast;
  if (given === undefined) throw new NotHere('needs --email and --password');
  return given;
}

/** Sections 4.3, 4.4, 5, 7 and 9: blobs, login, headers and errors. */
export const accessRows: readonly Row[] = [
  row('1', '056f9378', 'a blob is referenced by its url', async (world) => {
    const { url } = await world.upload('a.txt', 'x');
    assert.equal((await world.call('GET', url)).text, 'x');
  }),
  row('2.7', '96f7d2c3', 'the blob record', async (world) => {
    const record = await world.upload('a name.txt', 'four');
    assert.match(record.url, /^\/services\/blobs\/download\/[^/]+\/a%20name\.txt$/);
    assert.equal(record.length, 4);
    isText(record.upload_date);
    assert.equal(record.content_type, 'text/plain');
  }),
  row('4.3', 'a577b7fe', 'a multipart upload: 200, or 400', async (world) => {
    const body = Buffer.from(
      '--b\r\nContent-Disposition: form-data; name="blob"; filename="f.txt"\r\n' +
        'Content-Type: text/plain\r\n\r\nhello\r\n--b--\r\n',
    );
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    const answer = await world.call('POST', '/services/blobs/upload', body, type);
    answers(answer, 200);
    assert.equal((await world.call('GET', answer.body.url)).text, 'hello');
    answers(await world.call('POST', '/services/blobs/upload', Buffer.from('x'), type), 400);
  }),
  row('4.3', '2052dfca', 'an upload under a name in the path', async (world) => {
    assert.match((await world.upload('named.txt', 'x')).url, /\/named\.txt$/);
  }),
  row('4.3', '08332fcb', 'a download: 200, or 400', async (world) => {
    const { url } = await world.upload('a.txt', 'content');
    const answer = await world.call('GET', url);
    assert.deepEqual([answer.status, answer.text], [200, 'content']);
    assert.match(answer.headers['content-type'] ?? '', /^text\/plain/);
    answers(await world.call('GET', '/services/blobs/download/no-id/a.txt'), 400);
  }),
  row(
    '4.4',
    '19ce7472 5a181559 a2b6880d 4a5c5c1c a2c8b0ea',
    'the token endpoint: 200, 400, 401',
    async (world) => {
      const login = credentials(world);
      const answer = await world.call('POST', LOGIN, login, ANONYMOUS);
      answers(answer, 200);
      isText(typeof answer.body === 'string' ? answer.body : answer.body.token);
      answers(await world.call('POST', LOGIN, { ...login, password: 'wrong' }, ANONYMOUS), 401);
      answers(await world.call('POST', LOGIN, { ...login, email: 'nobody@example.com' }, ANONYMOUS), 401);
      answers(await world.call('POST', LOGIN, { email: login.email }, ANONYMOUS), 400);
    },
  ),
  reading('4.4', '1a803651 df903466 309c7049', 'the login providers, without a token', async (world) => {
    const answer = await world.call('GET', '/services/security/providers', undefined, ANONYMOUS);
    answers(answer, 200);
    isText(answer.body.organization);
    has(answer.body, 'github_url', 'google_url', 'password_url', 'icon');
    assert.match(answer.body.password_url, /\/services\/security\/token$/);
  }),
  reading('4', 'ec5addac acd35618', 'every other endpoint needs the token', async (world) => {
    for (const path of ['boxes', 'instances', 'providers', 'workspaces']) {
      answers(await world.call('GET', `/services/${path}`, undefined, ANONYMOUS), 401);
      answers(await world.call('GET', `/services/${path}`), 200);
    }
  }),
  reading('4', '6c17a95e bd924b0b', 'the three headers are taken on every request', async (world) => {
    const type = { 'content-type': 'application/json' };
    answers(await world.call('GET', '/services/boxes', undefined, type), 200);
  }),
  reading('5', '15c19278', 'the token works as a cookie', async (world) => {
    const cookie = { ...ANONYMOUS, cookie: `token=${world.cast.main.token}` };
    answers(await world.call('GET', '/services/boxes', undefined, cookie), 200);
  }),
  row('5', '1e5d95a0', 'an earlier token stays valid when a new one is made', async (world) => {
    const { body } = await world.call('POST', LOGIN, credentials(world), ANONYMOUS);
    const token = typeof body === 'string' ? body : body.token;
    answers(await world.call('GET', '/services/boxes', undefined, { 'service-token': token }), 200);
    answers(await world.call('GET', '/services/boxes'), 200);
  }),
  row('5', '9e0019ad', 'an organization switches its login methods', async (world) => {
    const { authentication } = await world.organization();
    const off = { ...authentication, google: false, github: false };
    answers(await world.changeOrganization({ authentication: off }), 200);
    const urls = await world.get('/services/security/providers');
    assert.deepEqual([urls.google_url, urls.github_url], [null, null]);
    answers(await world.changeOrganization({ authentication: { ...off, password: false } }), 200);
    answers(await world.call('POST', LOGIN, credentials(world), ANONYMOUS), 401, 403);
    answers(await world.changeOrganization({ authentication }), 200);
    answers(await world.call('POST', LOGIN, credentials(world), ANONYMOUS), 200);
  }),
  reading('7', '31d5d384 1d8e8e5b', 'errors are JSON objects with a message', async (world) => {
    const { status, body } = await world.call('GET', '/services/boxes/none');
    assert.equal(status, 404);
    isText(body.message);
  }),
  row('7', '31d5d384', 'data that are not valid give 400', async (world) => {
    for (const path of ['boxes', 'instances', 'workspaces', 'providers']) {
      const { status, body } = await world.call('POST', `/services/${path}`, { schema: 7 });
      assert.equal(status, 400);
      isText(body.message);
      answers(await world.call('POST', `/services/${path}`, Buffer.from('{"no json')), 400);
    }
  }),
  row('7', '4bb7e7d1', 'what is not shared gives 403', async (world) => {
    const box = await world.shared('script');
    const { uri } = await world.running();
    for (const path of [box.uri, `${box.uri}/versions`, uri]) {
      answers(await world.outsider.call('GET', path), 403);
    }
    answers(await world.outsider.call('PUT', box.uri, box), 403);
    answers(await world.outsider.call('DELETE', box.uri), 403);
  }),
  row('7', 'c8981f6e', 'what is not there gives 404', async (world) => {
    const box = await world.shared('script');
    for (const path of ['boxes/none', 'boxes/none/versions', 'instances/i-000000', 'workspaces/no-such']) {
      answers(await world.call('GET', `/services/${path}`), 404);
    }
    answers(await world.call('PUT', '/services/boxes/none', box), 404);
    answers(await world.call('DELETE', '/services/boxes/none'), 404);
  }),
  row('7', 'f2410372', 'a taken name gives 409', async (world) => {
    const { schema, name } = await world.shared('script');
    answers(await world.call('POST', '/services/boxes', { schema, name, requirements: [] }), 409);
  }),
  untestable(
    '7',
    'f2410372',
    '409 of POST workspaces and of GET workspace',
    'two workspaces may carry one name and ids are made unique, so nothing can be in conflict',
  ),
  row(
    '7',
    'a53cb1f7 44c2f263',
    'operations are refused with 409 by the state of the instance',
    async (world) => {
      const { uri } = await world.running();
      answers(await world.call('PUT', `${uri}/poweron`), 409);
      answers(await world.call('PUT', `${uri}/deploy`), 409);
      const busy = await world.deploy();
      const body = { id: busy.id, method: 'reconfigure' };
      for (const name of ['shutdown', 'reinstall', 'reconfigure']) {
        answers(
          await world.call('PUT', `${busy.uri}/${name}`, name === 'reconfigure' ? body : undefined),
          409,
        );
      }
    },
  ),
  row('8', 'eda3eca0', 'large uploads are refused with 413, small ones taken', async (world) => {
    const large = Buffer.alloc(10_000_001);
    const type = { 'content-type': 'application/octet-stream' };
    answers(await world.call('POST', '/services/blobs/upload/large.bin', large, type), 413);
  }),
  reading('9', '19aad5bd', 'another release, or none, is served or refused with 400', async (world) => {
    for (const release of ['9.9', null]) {
      answers(
        await world.call('GET', '/services/boxes', undefined, { 'service-release': release }),
        200,
        400,
      );
    }
  }),
  reading('4.8', 'f5914025 359992f9 b7c0a7a6', 'removed endpoints are gone', async (world) => {
    for (const method of ['GET', 'POST']) answers(await world.call(method, '/services/profiles'), 404);
    for (const method of ['GET', 'PUT', 'DELETE'])
      answers(await world.call(method, '/services/profiles/x'), 404);
  }),
  reading(
    '1',
    'f64ff52e',
    'nothing of the service is outside /services but the group sync',
    async (world) => {
      for (const path of ['/boxes', '/instances', '/workspaces']) answers(await world.call('GET', path), 404);
    },
  ),
];
