import { expect, test } from 'vitest';
import { ok, startFixture, type Fixture } from '../fixture.ts';
import { TEST_PROVIDER_ID } from '../index.ts';
import { TAG_TYPES } from './schemas.ts';

const PATH = '/services/organizations/public';

async function changed(fixture: Fixture, change: object): Promise<void> {
  const { call } = fixture;
  await ok(call('PUT', PATH, { ...(await ok(call('GET', PATH))), ...change }));
}

test('a new organization has the documented defaults', async () => {
  const { call, sandbox } = await startFixture();
  expect((await call('GET', PATH)).body).toMatchObject({
    schema: `${sandbox.schemaBase}/organization`,
    name: 'public',
    setup: true,
    administrators: ['ops'],
    authentication: { github: true, google: true, ldap: false, password: true, ldap_config: {} },
    features: {
      cost_center: false,
      custom_pricing: false,
      onboard_checklist: false,
      provider_sharing: true,
      reporting: false,
    },
    domains: [],
    providers: [],
    tags: [],
    webhooks: [],
    cost_centers: [],
    ldap_last_sync_completed: null,
  });
});

const as = (token: string): Record<string, string> => ({ 'service-token': token });

test('members read, administrators change, others are refused', async () => {
  const { call, sandbox } = await startFixture();
  sandbox.admin.createAccount({ email: 'member@example.com', password: 'p', token: 'member' });
  sandbox.admin.createAccount({
    email: 'out@example.com',
    password: 'p',
    token: 'out',
    organization: 'acme',
  });
  const body = await ok(call('GET', PATH, undefined, as('member')));
  expect((await call('PUT', PATH, body, as('member'))).status).toBe(403);
  expect((await call('GET', PATH, undefined, as('out'))).status).toBe(403);
  expect((await call('GET', '/services/organizations/none')).status).toBe(404);
  expect((await call('PUT', PATH, { ...body, theme: 'dark' })).body.theme).toBe('dark');
});

test.each([
  ['a long theme', { theme: 'x'.repeat(257) }],
  ['no administrators', { administrators: undefined }],
  ['an unknown administrator', { administrators: ['nobody'] }],
  ['authentication without ldap', { authentication: { github: true, google: true, password: true } }],
  [
    'features without reporting',
    { features: { provider_sharing: true, cost_center: true, onboard_checklist: true } },
  ],
  ['an empty webhook', { webhooks: [''] }],
  ['a webhook that is too long', { webhooks: ['x'.repeat(513)] }],
  ['an unknown tag type', { tags: [{ name: 'a', type: 'Colour' }] }],
  ['a tag without a name', { tags: [{ name: '', type: 'Custom' }] }],
  ['an unknown provider type', { providers: [{ type: 'Dimension Data', enabled: true }] }],
  ['a fraction of a cost', { cost_centers: [{ name: 'c', quotas: [{ provider: 'x', cost: 1.5 }] }] }],
  ['a long domain', { domains: ['x'.repeat(257)] }],
  ['the removed admin_boxes', { admin_boxes: [] }],
  ['another name', { name: 'other' }],
])('refuses %s', async (_, change) => {
  const { call } = await startFixture();
  const body = await ok(call('GET', PATH));
  expect((await call('PUT', PATH, { ...body, ...change })).status).toBe(400);
});

test('switching login with a password off switches it off', async () => {
  const fixture = await startFixture();
  const login = { email: 'ops@example.com', password: 'secret-1' };
  const authentication = { github: true, google: false, password: false, ldap: false };
  await changed(fixture, { authentication });
  expect((await fixture.call('POST', '/services/security/token', login)).status).toBe(401);
  expect((await fixture.call('GET', '/services/security/providers')).body).toMatchObject({
    organization: 'public',
    password_url: null,
    google_url: null,
    github_url: '/services/security/github',
  });
});

test('provider types that are not enabled can neither be registered nor deployed to', async () => {
  const fixture = await startFixture();
  const { call, sandbox, deployable } = fixture;
  const boxes = await deployable();
  await changed(fixture, { providers: [{ type: 'SoftLayer', enabled: true }, { type: 'Test Provider' }] });
  const deployment = await call('POST', '/services/instances', {
    schema: `${sandbox.schemaBase}/deploy-instance-request`,
    box: { id: boxes.box.id },
    policy_box: { id: boxes.policy.id },
  });
  expect(deployment.status).toBe(400);
  expect(deployment.body.message).toContain('has not enabled providers of type Test Provider');
  const provider = { type: 'SoftLayer', name: 's', username: 'u', api_key: 'k' };
  const schema = `${sandbox.schemaBase}/softlayer/provider`;
  expect((await call('POST', '/services/providers', { ...provider, schema })).status).toBe(202);
});

test('puts tags of every type on what is deployed', async () => {
  const fixture = await startFixture();
  const tags = TAG_TYPES.map((type) => ({ name: type, type, value: 'mine' }));
  await changed(fixture, { tags });
  const { call, deployable, deploy, sandbox } = fixture;
  const profile = { schema: `${sandbox.schemaBase}/test/compute/profile`, location: 'Simulated Location' };
  const boxes = await deployable({}, {}, { profile });
  const created = await deploy(boxes, { name: 'web', owner: 'shop' });
  const service = await ok(call('GET', `${created.uri}/service`));
  expect(
    Object.fromEntries(service.tags.map((tag: { name: string; value: string }) => [tag.name, tag.value])),
  ).toEqual({
    Location: 'Simulated Location',
    Custom: 'mine',
    Workspace: 'shop',
    'Workspace name': 'Shop Team',
    'Workspace ID': 'shop',
    Provider: TEST_PROVIDER_ID,
    'Provider name': 'Test Provider',
    Environment: 'web',
    Box: boxes.box.id,
    'Box name': boxes.box.name,
    'User ID': 'ops',
    Email: 'ops@example.com',
    'User email': 'ops@example.com',
    'Service Instance ID': `${created.service.id}-1`,
    'Service ID': created.service.id,
    'Instance ID': created.id,
  });
});

test('an enforced quota refuses a deploy over it, and what is terminated no longer counts', async () => {
  const fixture = await startFixture();
  const { call, clock, deployable, deploy, sandbox } = fixture;
  const quota = { provider: TEST_PROVIDER_ID, cost: 15, resources: { ram: { quantity: 4, unit: 'Gb' } } };
  const center = { name: 'shop', enforce: true, workspaces: ['ops'], quotas: [quota] };
  const features = { provider_sharing: true, cost_center: true, onboard_checklist: false, reporting: false };
  await changed(fixture, { features, cost_centers: [center] });
  const boxes = await deployable();
  const first = await deploy(boxes);
  const request = {
    schema: `${sandbox.schemaBase}/deploy-instance-request`,
    box: { id: boxes.box.id },
    policy_box: { id: boxes.policy.id },
  };
  const over = await call('POST', '/services/instances', request);
  expect(over.status).toBe(400);
  expect(over.body.message).toBe('cost center "shop" is over its quota: cost would be 20, 15 is allowed');
  await clock.advance(4000);
  await ok(call('DELETE', `${first.uri}?operation=terminate`));
  await clock.advance(4000);
  const { cost_centers: centers } = await ok(call('GET', PATH));
  expect(centers[0].quotas[0].allocated).toMatchObject([
    { instance_id: first.id, instances: 1, flavor: 'test.micro', service_type: 'Linux Compute' },
  ]);
  expect(centers[0].quotas[0].allocated[0].terminated).not.toBeNull();
  expect((await call('POST', '/services/instances', request)).status).toBe(202);
});

test('synchronizes LDAP groups in the background, at its odd path', async () => {
  const fixture = await startFixture();
  const { call, clock } = fixture;
  const sync = (): Promise<{ status: number }> => call('PUT', '/organizations/public/sync_groups');
  expect((await sync()).status).toBe(400);
  await changed(fixture, {
    authentication: {
      github: true,
      google: true,
      password: true,
      ldap: true,
      ldap_config: { ldap_group_sync: true, sources: [{ host: 'ldap', groups_dn: 'ou=ops,dc=x' }] },
    },
  });
  expect((await sync()).status).toBe(202);
  expect((await call('GET', PATH)).body.ldap_last_sync_completed).toBeNull();
  await clock.advance(1000);
  const synced = await ok(call('GET', PATH));
  expect(synced.ldap_last_sync_completed).toMatch(/^\d{4}-/);
  expect(synced.ldap_groups).toEqual([{ dn: 'ou=ops,dc=x', name: 'ops' }]);
});

// V14
test('LDAP sources show their defaults, and no password; a mask that comes back keeps it', async () => {
  const fixture = await startFixture();
  const { call, sandbox } = fixture;
  const { authentication } = await ok(call('GET', PATH));
  const sources = [
    { host: 'a.test', ldap_search_user: 'cn=a', ldap_search_password: 'one' },
    { host: 'b.test', ldap_search_password: 'two' },
  ];
  await changed(fixture, { authentication: { ...authentication, ldap_config: { sources } } });
  const seen = await ok(call('GET', PATH));
  expect(seen.authentication.ldap_config).toMatchObject({
    ldap_group_sync: false,
    sources: [
      { host: 'a.test', ldap_search_password: '********' },
      { host: 'b.test', ldap_search_password: '********' },
    ],
  });
  const [a, b] = seen.authentication.ldap_config.sources;
  const turned = { ldap_group_sync: true, sources: [b, { ...a, ldap_search_password: 'three' }] };
  const answer = await call('PUT', PATH, {
    ...seen,
    authentication: { ...authentication, ldap_config: turned },
  });
  expect(JSON.stringify(answer.body)).not.toMatch(/one|two|three/);
  expect(sandbox.admin.records('organizations')[0]).toMatchObject({
    fields: {
      authentication: {
        ldap_config: { sources: [{ ldap_search_password: 'two' }, { ldap_search_password: 'three' }] },
      },
    },
  });
});

test('nobody is locked out: one administrator of the own organization stays', async () => {
  const fixture = await startFixture();
  const { call, sandbox } = fixture;
  sandbox.admin.createAccount({ email: 'out@example.com', password: 'p', organization: 'acme' });
  sandbox.admin.createAccount({ email: 'next@example.com', password: 'p' });
  const body = await ok(call('GET', PATH));
  for (const administrators of [[], ['out']]) {
    const answer = await call('PUT', PATH, { ...body, administrators });
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('has to stay') } });
  }
  await changed(fixture, { administrators: ['next'] });
  expect((await call('PUT', PATH, body)).status).toBe(403);
});
