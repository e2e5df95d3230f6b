import { answers, assert, has, holds, isBoolean, isList, isText, isTimestamp } from '../assert.ts';
import { reading, row, untestable, type Row } from '../row.ts';
import type { Record_, World } from '../world.ts';

const TAG_TYPES = [
  'Location',
  'Custom',
  'Workspace',
  'Workspace name',
  'Workspace ID',
  'Provider',
  'Provider name',
  'Environment',
  'Box',
  'Box name',
  'User ID',
  'Email',
  'User email',
  'Service Instance ID',
  'Service ID',
  'Instance ID',
];

const PROVIDER_TYPES = [
  'Amazon Web Services',
  'Amazon Web Services GovCloud',
  'Cloudstack',
  'Google Compute',
  'Microsoft Azure',
  'Rackspace',
  'SoftLayer',
  'Openstack',
  'Test Provider',
  'VMware vCloud Director',
  'VMware vSphere',
];

const refused = async (world: World, ...changes: object[]): Promise<void> => {
  for (const change of changes) answers(await world.changeOrganization(change), 400);
};

const changed = async (world: World, change: object): Promise<Record_> => {
  const answer = await world.changeOrganization(change);
  answers(answer, 200);
  return answer.body;
};

const long = (length: number): string => 'x'.repeat(length);
const center = (more: object): object => ({ cost_centers: [{ name: 'c', ...more }] });
const ldap = async (world: World, source: object): Promise<object> => {
  const { authentication } = await world.organization();
  const sources = [{ host: 'ldap.example', ...source }];
  return { authentication: { ...authentication, ldap_config: { ldap_group_sync: true, sources } } };
};

const deployed = async (world: World): Promise<Record_[]> => {
  const seen: Record_[] = [];
  const url = await world.receiver((hook) => {
    seen.push(hook);
    const network = { ipv4_address: '10.9.8.7', subnet_mask: '255.0.0.0', default_gateway: '10.0.0.1' };
    return hook.instance.operation === 'terminate'
      ? {}
      : { ...hook.machine, customization: { instance_networks: [network] } };
  });
  await changed(world, { webhooks: [url] });
  const profile = { schema: `${await world.base()}/test/compute/profile`, network: 'lan' };
  const instance = await world.online({ policy_box: { id: (await world.box('policy', { profile })).id } });
  const { machines } = await world.get(`${instance.uri}/service`);
  await world.expect(202, 'DELETE', `${instance.uri}?operation=terminate`);
  await world.settled(instance.uri);
  await changed(world, { webhooks: [] });
  return [...seen, { machines }];
};

const hooks = (world: World): Promise<Record_[]> => world.once('hooks', () => deployed(world));

/** Sections 2.10, 4.7, 6 (webhooks) and 8. */
export const organizationRows: readonly Row[] = [
  reading(
    '1',
    'bfe31606',
    'an organization holds settings, providers, tags, centers and webhooks',
    async (world) => {
      has(await world.organization(), 'authentication', 'providers', 'tags', 'cost_centers', 'webhooks');
    },
  ),
  reading('2.10', 'ec485780 b5622246 6b86408f', 'schema, names and stamps', async (world) => {
    const organization = await world.organization();
    assert.equal(organization.schema, `${await world.base()}/organization`);
    isText(organization.name, organization.icon, organization.theme);
    isTimestamp(organization.created);
    isTimestamp(organization.updated);
  }),
  row('2.10', '659555ab', 'setup is read-only', async (world) => {
    const { setup } = await world.organization();
    isBoolean(setup);
    assert.equal((await changed(world, { setup: !setup })).setup, setup);
  }),
  reading('2.10', '046ae475 c90cd914', 'administrators and domains are lists of text', async (world) => {
    const { administrators, domains } = await world.organization();
    isList(administrators, domains);
    isText(...administrators, ...domains);
  }),
  row('2.10', '3c4d13f9', 'authentication needs its four booleans', async (world) => {
    const { authentication } = await world.organization();
    for (const name of ['github', 'google', 'password', 'ldap']) {
      isBoolean(authentication[name]);
      await refused(world, { authentication: { ...authentication, [name]: undefined } });
    }
    has(authentication, 'ldap_config');
  }),
  row('2.10', 'd064021b ed9ad7b4 f5fa14e6', 'ldap sources and their limits', async (world) => {
    const { authentication } = await changed(world, await ldap(world, { groups_dn: 'ou=x' }));
    assert.equal(authentication.ldap_config.sources[0].groups_dn, 'ou=x');
    await refused(world, await ldap(world, { host: undefined }));
    await refused(world, await ldap(world, { host: long(257) }));
    await refused(world, await ldap(world, { email_field: long(257) }));
    for (const name of ['groups_dn', 'group_dn_filter', 'base_dn_filter']) {
      await refused(world, await ldap(world, { [name]: long(513) }));
    }
    await changed(world, {});
  }),
  row(
    '2.10',
    '7cfc87f7 24684682 27deb4d4',
    'group sync at its odd path sets the stamp and the groups',
    async (world) => {
      assert.equal((await world.organization()).ldap_last_sync_completed, null);
      const { name } = await changed(world, await ldap(world, { groups_dn: 'ou=ops,dc=x' }));
      answers(await world.call('PUT', `/organizations/${name}/sync_groups`), 200, 202, 204);
      const path = `/services/organizations/${name}`;
      const synced = await world.until(path, (body) => body.ldap_last_sync_completed !== null);
      isTimestamp(synced.ldap_last_sync_completed);
      has(synced.ldap_groups[0], 'dn', 'name');
      await changed(world, {});
    },
  ),
  row('2.10', 'e9759280', 'features need four booleans', async (world) => {
    const { features } = await world.organization();
    for (const name of ['provider_sharing', 'cost_center', 'onboard_checklist', 'reporting']) {
      await refused(world, { features: { ...features, [name]: undefined } });
    }
    isBoolean(features.custom_pricing);
  }),
  row(
    '2.10',
    '3a0410a0 30b4b909 c89ddbf5 08eda097',
    'providers by type, disabled by default',
    async (world) => {
      const price = { platform: 'Linux', price: 7, region: 'r', flavor: 'f', schema: 'x' };
      const providers = PROVIDER_TYPES.map((type) => ({ type, description: 'd', pricing: [price] }));
      const { providers: stored } = await changed(world, { providers });
      assert.equal(stored.length, PROVIDER_TYPES.length);
      holds(stored[0], { enabled: false, description: 'd', pricing: [price] });
      answers(await world.call('POST', '/services/instances', await world.deployRequest()), 400);
      await refused(world, { providers: [{ type: 'Mainframe' }] });
      await refused(world, { providers: [{ type: 'SoftLayer', description: long(257) }] });
      await changed(world, {});
    },
  ),
  row(
    '2.10',
    'b9a0eb8d a6eab9ff 59290348 cc9a8a93 a9d36524 4af30f2c',
    'tags of sixteen types',
    async (world) => {
      const tags = TAG_TYPES.map((type) => ({ name: type, type, value: 'v' }));
      const { tags: stored } = await changed(world, { tags });
      for (const tag of stored) assert.equal(tag.value, tag.type === 'Custom' ? 'v' : null);
      assert.equal(stored.length, 16);
      await refused(
        world,
        { tags: [{ name: 'a', type: 'Colour' }] },
        { tags: [{ name: '', type: 'Custom' }] },
        { tags: [{ name: long(126), type: 'Custom' }] },
        { tags: [{ name: 'a', type: 'Custom', value: long(255) }] },
      );
      await changed(world, { tags: [{ name: long(125), type: 'Custom', value: long(254) }] });
      await changed(world, {});
    },
  ),
  row('2.10', 'e22a4384 b7e12730 f6695279', 'webhooks are URLs of 1 to 512 characters', async (world) => {
    const { webhooks } = await changed(world, { webhooks: [`http://127.0.0.1/${long(495)}`] });
    isText(...webhooks);
    await refused(world, { webhooks: [''] }, { webhooks: [long(513)] });
    await changed(world, {});
  }),
  row(
    '2.10',
    'd3a75abe 86f7406f 2daeaa85 20bc0309',
    'cost centers refuse deploys over an enforced quota',
    async (world) => {
      const { features } = await world.organization();
      const provider = (await world.testProvider()).id;
      const { id } = await world.personal();
      const resources = {
        cpu: 100,
        disk: { quantity: 1, unit: 'Tb' },
        ram: { quantity: 100, unit: 'Gb' },
      };
      const quotas = [{ cost: 15, provider, resources }];
      const enforced = { name: 'c', enforce: true, workspaces: [id], quotas };
      await changed(world, { features: { ...features, cost_center: true }, cost_centers: [enforced] });
      await world.deploy();
      answers(await world.call('POST', '/services/instances', await world.deployRequest()), 400);
      const [{ quotas: after }] = (await world.organization()).cost_centers;
      const names = 'instance_id instances started flavor region service_type terminated';
      has(after[0].allocated[0], ...names.split(' '));
      await refused(
        world,
        center({ quotas: [{ provider, cost: 1.5 }] }),
        center({ quotas: [{ provider, resources: { ram: { quantity: 1, unit: 'Tb' } } }] }),
        center({ name: '' }),
        center({ name: long(126) }),
        center({ workspaces: [''] }),
        center({ workspaces: [long(65)] }),
      );
      await changed(world, {});
    },
  ),
  row('2.10', '902d92f3', 'the defaults', async (world) => {
    const organization = await world.once('organization', () => world.organization());
    holds(organization.authentication, {
      github: true,
      google: true,
      ldap: false,
      password: true,
      ldap_config: {},
    });
    assert.deepEqual(organization.features, {
      cost_center: false,
      custom_pricing: false,
      onboard_checklist: false,
      provider_sharing: true,
      reporting: false,
    });
    for (const name of ['domains', 'providers', 'tags', 'webhooks', 'cost_centers', 'ldap_groups']) {
      assert.deepEqual(organization[name], [], name);
    }
  }),
  row('4.7', '2c9da338 1ec7f250', 'GET organization: 200, 403, 404', async (world) => {
    const { name } = await world.organization();
    const path = `/services/organizations/${name}`;
    answers(await world.member.call('GET', path), 200);
    answers(await world.outsider.call('GET', path), 403);
    answers(await world.call('GET', '/services/organizations/no-such'), 404);
  }),
  row(
    '4.7',
    'd51978fb 8a52382b',
    'only an administrator changes an organization: 200, 403, 404',
    async (world) => {
      const organization = await world.organization();
      const path = `/services/organizations/${organization.name}`;
      answers(await world.changeOrganization({ theme: 'dark' }), 200);
      answers(await world.member.call('PUT', path, organization), 403);
      answers(await world.outsider.call('PUT', path, organization), 403);
      answers(await world.call('PUT', '/services/organizations/no-such', organization), 404);
      await changed(world, {});
    },
  ),
  row('4.7', '2e7532aa', 'admin_boxes is gone', async (world) => {
    await refused(world, { admin_boxes: [] });
  }),
  row(
    '6',
    '7fb99945 568025e8 3ef476ba',
    'a webhook hears of each machine that is deployed',
    async (world) => {
      const [hook] = await hooks(world);
      has(hook.machine, 'name', 'schema');
      assert.equal(hook.service.profile.network, 'lan');
      has(hook.instance, 'operation', 'variables');
      assert.equal(hook.instance.operation, 'deploy');
    },
  ),
  row('6', '0090e07f 8994f63b', 'the answered address is the address of the machine', async (world) => {
    const { machines } = (await hooks(world)).at(-1);
    assert.equal(machines[0].address.private, '10.9.8.7');
  }),
  row('6', '284deff1', 'a webhook hears of a terminate and may answer with nothing', async (world) => {
    assert.equal((await hooks(world))[1].instance.operation, 'terminate');
  }),
  untestable(
    '6',
    '75fd9d12',
    'webhooks are an enterprise feature',
    'no request tells an edition from another',
  ),
  untestable(
    '6',
    '47adcaa6 4e6937b8',
    'notification events, signing, time-out and retry of webhooks',
    'the document says nothing about them that a test could hold against a service',
  ),
  row('8', 'd068334b 74950735', 'name, icon and theme have at most 256 characters', async (world) => {
    await refused(world, { icon: long(257) }, { theme: long(257) }, { name: long(257) });
    await changed(world, { icon: long(256), theme: long(256) });
    await changed(world, {});
  }),
  row('8', 'b73b7ae2 e9c4fe0d', 'limits of administrators and domains', async (world) => {
    await refused(world, { administrators: [''] }, { administrators: [long(65)] }, { domains: [long(257)] });
    await changed(world, { domains: [long(256)] });
    await changed(world, {});
  }),
  row('8', 'b93a66e1', 'the required fields', async (world) => {
    for (const name of 'schema name domains administrators authentication features cost_centers'.split(' ')) {
      await refused(world, { [name]: undefined });
    }
  }),
];
