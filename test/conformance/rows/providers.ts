import { answers, assert, has, holds, isList, isOneOf, isText } from '../assert.ts';
import { reading, row, type Row } from '../row.ts';
import type { Record_, World } from '../world.ts';

const SECRET = 'conf-secret';

const registered = (mark: string, type: string, kind: string, fields: Record<string, unknown>): Row =>
  row('4.5', mark, `${type}: its required fields, and no secret in answers`, async (world) => {
    const created = await world.provider(kind, type, fields);
    assert.equal(created.type, type);
    assert.equal(created.schema, `${await world.base()}/${kind}/provider`);
    assert.equal(JSON.stringify(created).includes(SECRET), false);
    assert.equal(JSON.stringify(await world.get(created.uri)).includes(SECRET), false);
    for (const name of Object.keys(fields)) {
      const { [name]: _left, ...rest } = fields;
      const body = { schema: created.schema, type, name: world.name(), ...rest };
      answers(await world.call('POST', '/services/providers', body), 400);
    }
  });

const google = (fields: object): Record<string, unknown> => ({
  project_id: 'p',
  email: 'e@example.com',
  credentials: { refresh_token: SECRET },
  ...fields,
});

async function refused(world: World, fields: object): Promise<void> {
  const body = {
    schema: `${await world.base()}/gce/provider`,
    type: 'Google Compute',
    name: world.name(),
    ...google({}),
    ...fields,
  };
  answers(await world.call('POST', '/services/providers', body), 400);
}

/** A provider that is ready. */
function ready(world: World): Promise<Record_> {
  return world.once('softlayer', async () => {
    const { uri } = await world.provider('softlayer', 'SoftLayer', { username: 'u', api_key: SECRET });
    return world.until(uri, (provider) => provider.state === 'ready');
  });
}

const login = { username: 'u', password: SECRET };

export const providerRows: readonly Row[] = [
  reading('1', 'b9ad559b', 'providers are accounts on which instances run', async (world) => {
    isText((await world.testProvider()).id);
  }),
  row('2.8', 'caa4d7ab 99c39dac', 'the common fields of a provider', async (world) => {
    const provider = await ready(world);
    const names =
      'id uri name description icon schema type owner organization created updated deleted services';
    has(provider, ...names.split(' '), 'members', 'state', 'admin_boxes');
    isList(provider.admin_boxes, provider.members, provider.services);
    assert.equal(provider.uri, `/services/providers/${provider.id}`);
  }),
  row('2.8', '68d02075 283704da ca426224', 'the states of a provider', async (world) => {
    assert.equal((await ready(world)).state, 'ready');
    const { uri } = await world.provider('softlayer', 'SoftLayer', { username: 'u', api_key: 'invalid' });
    const after = await world.until(uri, (provider) => provider.state !== 'initializing');
    assert.equal(after.state, 'unavailable');
  }),
  row('2.8', '7c9a1c6c ceaa554a a1d00e96', 'a new provider is initializing, with 202', async (world) => {
    assert.equal(
      (await world.provider('softlayer', 'SoftLayer', { username: 'u', api_key: 'k' })).state,
      'initializing',
    );
  }),
  row('2.8', 'd35fa69b 91020180', 'services with locations, ECS ones with clusters', async (world) => {
    const { uri } = await world.awsProvider();
    const { services } = await world.until(uri, (provider) => provider.state === 'ready');
    const names = services.map((service: Record_) => service.name);
    for (const name of ['Linux Compute', 'Windows Compute', 'S3 Bucket', 'ECS Service']) {
      assert.ok(names.includes(name), name);
    }
    const ecs = services.find((service: Record_) => service.name === 'ECS Service');
    has(ecs.locations[0].clusters[0], 'name', 'arn');
  }),
  row('2.8', 'bc08b8e1 8f0caafd', 'unknown provider types are refused', async (world) => {
    await refused(world, { type: 'Mainframe' });
  }),
  row('2.8', '36937192', 'Dimension Data cannot be registered', async (world) => {
    await refused(world, { type: 'Dimension Data' });
  }),
  row('2.8', 'df2c4199 ecad1e0e 0d4c5942 d1b612e3', 'the schema has to fit the type', async (world) => {
    await refused(world, { schema: `${await world.base()}/aws/provider` });
  }),
  reading('4.5', 'c7545224', 'GET providers: a list with the common fields', async (world) => {
    const [provider] = await world.get('/services/providers');
    const names = 'updated description created uri name services state members owner type id icon schema';
    has(provider, ...names.split(' '));
  }),
  row('4.5', '82a1b161', 'GET provider', async (world) => {
    const { uri, id } = await ready(world);
    assert.equal((await world.get(uri)).id, id);
    answers(await world.outsider.call('GET', uri), 403, 404);
    answers(await world.call('GET', '/services/providers/none'), 404);
  }),
  row('4.5', 'b3387763', 'PUT provider', async (world) => {
    const provider = await ready(world);
    const put = await world.expect(200, 'PUT', provider.uri, { ...provider, description: 'new' });
    assert.equal(put.description, 'new');
  }),
  row('4.5', 'b4d1c53c', 'DELETE provider, unless it is used', async (world) => {
    const { uri } = await world.provider('softlayer', 'SoftLayer', { username: 'u', api_key: 'k' });
    answers(await world.call('DELETE', uri), 202);
    for (let status = 200; status !== 404;) {
      const answer = await world.call('GET', uri);
      isOneOf(answer.status, 200, 404);
      status = answer.status;
    }
  }),
  row('4.5', '80a03631 5d389710', 'sync', async (world) => {
    const { uri } = await world.provider('softlayer', 'SoftLayer', { username: 'u', api_key: 'k' });
    const before = await world.until(uri, (provider) => provider.state === 'ready');
    answers(await world.call('PUT', `${uri}/sync`), 202);
    const after = await world.until(uri, (provider) => provider.state === 'ready');
    assert.notEqual(after.updated, before.updated);
  }),
  row('4.5', '7ba98e0f', 'logs', async (world) => {
    const [entry] = await world.get(`${(await ready(world)).uri}/logs`);
    has(entry, 'text', 'level', 'created');
  }),
  row('4.5', '1065268c d1984ac1', 'images come and go', async (world) => {
    const { uri, services } = await ready(world);
    const location = services[0].locations[0].name;
    const answer = await world.call('POST', `${uri}/images`, { location, name: 'golden', description: 'd' });
    answers(answer, 202);
    answers(await world.call('DELETE', `${uri}/images/${answer.body.id}?location=${location}`), 202);
  }),
  row('4.5', '7cf97ecc 3cd1b57a bfeda840', 'POST providers needs schema, type and name', async (world) => {
    for (const name of ['schema', 'type', 'name']) await refused(world, { [name]: undefined });
    await refused(world, { owner: 'nobody-owns-this' });
    const icon = '/i.png';
    const created = await world.provider('gce', 'Google Compute', google({ description: 'd', icon }));
    holds(created, { description: 'd', icon, owner: (await world.personal()).id });
  }),
  registered('6155fb4d', 'Amazon Web Services', 'aws', { credentials: { key: 'AK', secret: SECRET } }),
  row('4.5', '6155fb4d', 'Amazon Web Services with a role', async (world) => {
    await world.provider('aws', 'Amazon Web Services', { credentials: { role: 'deployer' } });
  }),
  registered('83e3b15b', 'Amazon Web Services GovCloud', 'aws', {
    credentials: { key: 'AK', secret: SECRET },
  }),
  registered('c61961f7', 'Openstack', 'openstack', { ...login, identity_url: 'https://x', project: 'p' }),
  registered('c61961f7', 'Rackspace', 'openstack', { ...login, identity_url: 'https://x', project: 'p' }),
  registered('99903328', 'VMware vSphere', 'vsphere', {
    username: 'u',
    secret: SECRET,
    endpoint: 'https://x',
  }),
  registered('44e077ba', 'VMware vCloud Director', 'vcloud', { ...login, url: 'https://x', vorg: 'o' }),
  registered('5e68b694', 'Google Compute', 'gce', google({})),
  registered('3cb583d5', 'Microsoft Azure', 'azure', { subscription_id: 's' }),
  registered('885e8e08', 'Cloudstack', 'cloudstack', {
    url: 'https://x',
    api_key: SECRET,
    secret_key: SECRET,
  }),
  registered('57e37fc1', 'SoftLayer', 'softlayer', { username: 'u', api_key: SECRET }),
  row(
    '4.5',
    'a9b468a9',
    'Google credentials come back in the form in which they were given',
    async (world) => {
      const token = await world.provider('gce', 'Google Compute', google({}));
      has(token.credentials, 'refresh_token');
      const key = await world.provider('gce', 'Google Compute', google({ credentials: { key: SECRET } }));
      has(key.credentials, 'key');
    },
  ),
  row('8', '5dbdd074', 'limits of Google providers', async (world) => {
    const long = 'x'.repeat(4097);
    await refused(world, { credentials: { key: long } });
    await refused(world, { credentials: { refresh_token: long } });
    await refused(world, { credentials: { refresh_token: 'x', access_token: long } });
    await refused(world, { email: 'x'.repeat(2049) });
    await refused(world, { project_id: 'x'.repeat(2049) });
    await refused(world, { icon: 'x'.repeat(257) });
  }),
  row('8', '48149951', 'the token form of credentials needs a refresh_token', async (world) => {
    await refused(world, { credentials: { access_token: 'x' } });
  }),
];
