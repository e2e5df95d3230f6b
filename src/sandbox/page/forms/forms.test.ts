import { expect, test } from 'vitest';
import { ok } from '../../fixture.ts';
import { visit } from '../visitor.ts';

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

test('binds to any instance, however many there are', async () => {
  const { call, clock, deploy, deployable, get, post } = await visit();
  const plain = await deployable();
  const first = await deploy(plain, { name: 'first' });
  const variables = [{ name: 'db', type: 'Binding', value: '' }];
  const { box, policy } = await deployable({}, { variables });
  const fieldIn = async (): Promise<string> => {
    const { body } = await get(`/page/boxes/${box.id}/deploy`);
    return /<(?:select|input)\s+name="v {2}db"[^]*?(?:<\/select>|\/>)/.exec(body)?.[0] ?? '';
  };
  expect(await fieldIn()).toContain(`first (${first.id})`);
  for (let n = 0; n < 501; n++) await deploy(plain);
  await clock.advance(10_000);
  expect(await fieldIn()).toContain('<input');
  const fields = { name: 'web', owner: 'ops', policy: policy.id, 'v  db': first.id };
  const made = await post(`/page/boxes/${box.id}/deploy`, fields);
  await clock.advance(10_000);
  const path = (made.headers['location'] ?? '').replace('/page/', '/services/');
  expect((await ok(call('GET', path))).bindings).toEqual([{ name: 'db', instance: first.id }]);
});

test('a form with very many variables is refused like one with too many, and holds nobody up', async () => {
  const { post } = await visit();
  const fields: [string, string][] = [['name', 'web']];
  for (let n = 0; n < 20_000; n++) fields.push(['variable-name', `V${n}`]);
  const start = performance.now();
  const refused = await post('/page/boxes/new', fields);
  expect(performance.now() - start).toBeLessThan(3_000);
  expect(refused.status).toBe(400);
  expect(refused.body).toContain('variables: must NOT have more than 2000 items');
});

test('what a button of the page calls is not told as a header that nothing reads', async () => {
  const { deploy, deployable, post, sandbox } = await visit();
  const created = await deploy(await deployable());
  expect((await post(`/page/instances/${created.id}/do/poweron`)).status).toBe(409);
  expect(sandbox.admin.unread()).toEqual([]);
});
