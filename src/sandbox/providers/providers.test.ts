import { expect, test } from 'vitest';
import { ok, startFixture, type Answered, type Fixture } from '../fixture.ts';
import { TEST_PROVIDER_ID } from '../index.ts';

const LOGIN = { username: 'u', password: 'top-secret' };
// Interface document section 4.5: the required fields of each type.
const TYPES: readonly [string, string, Record<string, unknown>][] = [
  ['Amazon Web Services', 'aws', { credentials: { key: 'AK', secret: 'top-secret' } }],
  ['Amazon Web Services GovCloud', 'aws', { credentials: { key: 'AK', secret: 'top-secret' } }],
  ['Rackspace', 'openstack', { ...LOGIN, identity_url: 'https://x', project: 'p' }],
  ['Openstack', 'openstack', { ...LOGIN, identity_url: 'https://x', project: 'p' }],
  ['VMware vSphere', 'vsphere', { username: 'u', secret: 'top-secret', endpoint: 'https://x' }],
  ['VMware vCloud Director', 'vcloud', { ...LOGIN, url: 'https://x', vorg: 'o' }],
  ['Google Compute', 'gce', { project_id: 'p', email: 'e', credentials: { refresh_token: 'top-secret' } }],
  ['Microsoft Azure', 'azure', { subscription_id: 's' }],
  ['Cloudstack', 'cloudstack', { url: 'https://x', api_key: 'top-secret', secret_key: 'top-secret' }],
  ['SoftLayer', 'softlayer', { username: 'u', api_key: 'top-secret' }],
];

function post({ call, sandbox }: Fixture, type: string, fields: object, kind = 'aws'): Promise<Answered> {
  const schema = `${sandbox.schemaBase}/${kind}/provider`;
  return call('POST', '/services/providers', { schema, type, name: `my ${type}`, ...fields });
}

test.each(TYPES)('registers %s and never shows a secret again', async (type, kind, fields) => {
  const fixture = await startFixture();
  const { call, clock, sandbox } = fixture;
  const answer = await post(fixture, type, fields, kind);
  expect(answer).toMatchObject({ status: 202, body: { state: 'initializing', type, services: [] } });
  await clock.advance(2000);
  const ready = await call('GET', answer.body.uri);
  expect(ready.body.state).toBe('ready');
  expect(ready.body.services[0]).toMatchObject({ name: 'Linux Compute' });
  expect(ready.body.services[0].locations.length).toBeGreaterThan(0);
  const all = JSON.stringify([
    answer,
    ready,
    await call('GET', '/services/providers'),
    sandbox.admin.snapshot(),
  ]);
  expect(all).not.toContain('top-secret');
  for (const field of Object.keys(fields)) {
    const { [field]: _, ...rest } = fields;
    expect((await post(fixture, type, { ...rest, name: field }, kind)).status).toBe(400);
  }
});

test('an account whose credential is "invalid" becomes unavailable, and a sync with good ones ready', async () => {
  const fixture = await startFixture();
  const { call, clock } = fixture;
  const created = await ok(post(fixture, 'SoftLayer', { username: 'u', api_key: 'invalid' }, 'softlayer'));
  await clock.advance(2000);
  expect((await call('GET', created.uri)).body.state).toBe('unavailable');
  const logs = await ok(call('GET', `${created.uri}/logs`));
  expect(logs[0]).toMatchObject({ level: 'error', provider_id: created.id, workspace: 'ops' });
  await ok(call('PUT', created.uri, { api_key: 'good' }));
  const before = await ok(call('PUT', `${created.uri}/sync`));
  expect(before.state).toBe('processing');
  expect((await call('PUT', `${created.uri}/sync`)).status).toBe(409);
  await clock.advance(2000);
  expect((await call('GET', created.uri)).body.state).toBe('ready');
});

test('list entries carry the names of services only', async () => {
  const { call } = await startFixture();
  const [entry] = await ok(call('GET', '/services/providers'));
  expect(entry).toMatchObject({ id: TEST_PROVIDER_ID, state: 'ready', type: 'Test Provider' });
  expect(entry.services).toEqual([{ name: 'Linux Compute' }, { name: 'Windows Compute' }]);
});

test('a provider in use is not deleted; a free one goes by way of deleting', async () => {
  const fixture = await startFixture();
  const { call, clock, deployable, deploy } = fixture;
  const created = await ok(post(fixture, 'SoftLayer', { username: 'u', api_key: 'k' }, 'softlayer'));
  await clock.advance(2000);
  const instance = await deploy(await deployable({}, {}, { provider_id: created.id }));
  await clock.advance(4000);
  expect((await call('DELETE', created.uri)).status).toBe(400);
  await ok(call('DELETE', `${instance.uri}?operation=terminate`));
  await clock.advance(4000);
  expect((await call('DELETE', created.uri)).status).toBe(202);
  expect((await call('GET', created.uri)).body.state).toBe('deleting');
  await clock.advance(1000);
  expect((await call('GET', created.uri)).status).toBe(404);
  expect((await call('DELETE', `/services/providers/${TEST_PROVIDER_ID}`)).status).toBe(403);
});

test('machine images come and go with their location', async () => {
  const fixture = await startFixture();
  const { call, clock } = fixture;
  const created = await ok(post(fixture, 'SoftLayer', { username: 'u', api_key: 'k' }, 'softlayer'));
  await clock.advance(2000);
  const image = { location: 'Dallas', name: 'golden', description: 'd' };
  const added = await call('POST', `${created.uri}/images`, image);
  expect(added).toMatchObject({ status: 202, body: image });
  expect((await call('GET', created.uri)).body.services[0].locations[0].images).toMatchObject([image]);
  expect((await call('POST', `${created.uri}/images`, { ...image, location: 'Mars' })).status).toBe(400);
  const path = `${created.uri}/images/${added.body.id}`;
  expect((await call('DELETE', `${path}?location=Amsterdam`)).status).toBe(404);
  expect((await call('DELETE', `${path}?location=Dallas`)).status).toBe(202);
});

test('is shared with workspaces and with the organization, unless sharing is switched off', async () => {
  const fixture = await startFixture();
  const { call, sandbox } = fixture;
  sandbox.admin.createAccount({ email: 'eve@example.com', password: 'p', token: 'eve' });
  const eve = { 'service-token': 'eve' };
  const created = await ok(post(fixture, 'SoftLayer', { username: 'u', api_key: 'k' }, 'softlayer'));
  await fixture.clock.advance(2000);
  expect((await call('GET', created.uri, undefined, eve)).status).toBe(403);
  await ok(call('PUT', created.uri, { members: [{ role: 'collaborator', workspace: 'public' }] }));
  expect((await call('GET', created.uri, undefined, eve)).status).toBe(200);
  expect((await call('PUT', created.uri, { name: 'x' }, eve)).status).toBe(403);
  const path = '/services/organizations/public';
  const body = await ok(call('GET', path));
  await ok(call('PUT', path, { ...body, features: { ...body.features, provider_sharing: false } }));
  expect((await call('GET', created.uri, undefined, eve)).status).toBe(403);
});

// V14
test('Google accounts keep their limits, in a create request and in an update', async () => {
  const fixture = await startFixture();
  const google = { project_id: 'p', email: 'e', credentials: { key: 'k' } };
  for (const wrong of [
    { organization: 'x'.repeat(257) },
    { deleted: 'x'.repeat(2_049) },
    { icon: 'x'.repeat(257) },
  ]) {
    expect((await post(fixture, 'Google Compute', { ...google, ...wrong }, 'gce')).status).toBe(400);
  }
  const { uri } = await ok(post(fixture, 'Google Compute', { ...google, deleted: null }, 'gce'));
  await fixture.clock.advance(10_000);
  expect((await fixture.call('PUT', uri, { organization: 'x'.repeat(257) })).status).toBe(400);
  expect((await fixture.call('PUT', uri, { organization: 'x' })).body.organization).toBe('public');
});

test('Azure takes the subscription under both of its names', async () => {
  const fixture = await startFixture();
  const { status, body } = await post(fixture, 'Microsoft Azure', { subscription: 's-1' }, 'azure');
  expect(status).toBe(202);
  expect(body.subscription_id).toBe('s-1');
  await fixture.clock.advance(10_000);
  expect((await fixture.call('PUT', body.uri, { subscription: 's-2' })).body.subscription_id).toBe('s-2');
});

// V9
test('a masked part of credentials keeps its value, and the other parts are taken', async () => {
  const fixture = await startFixture();
  const keys = { credentials: { key: 'AK', secret: 'invalid' } };
  const { uri } = await ok(post(fixture, 'Amazon Web Services', keys));
  await fixture.clock.advance(10_000);
  const seen = await ok(fixture.call('GET', uri));
  expect(seen).toMatchObject({ state: 'unavailable', credentials: { secret: '********' } });
  await ok(fixture.call('PUT', uri, seen));
  await ok(fixture.call('PUT', `${uri}/sync`));
  await fixture.clock.advance(10_000);
  expect((await fixture.call('GET', uri)).body.state).toBe('unavailable');
  await ok(fixture.call('PUT', uri, { credentials: { ...seen.credentials, secret: 'good' } }));
  await ok(fixture.call('PUT', `${uri}/sync`));
  await fixture.clock.advance(10_000);
  expect((await fixture.call('GET', uri)).body.state).toBe('ready');
});
