import { expect, test } from 'vitest';
import type { AccountSpec } from './accounts.ts';
import type { Route } from './edge/route.ts';
import { ok, startFixture, type Answered, type Fixture } from './fixture.ts';
import { TEST_PROVIDER_ID } from './index.ts';
import { OWN_ROUTES } from './page/page.ts';
import { ROUTES } from './routes.ts';

/** Who asks, as the record (or its workspace, or its organization) has it. */
const ROLES = ['owner', 'member', 'reader', 'same', 'other', 'nobody'] as const;
type Role = (typeof ROLES)[number];

/** One sandbox with a record of each kind, that a collaborator and a reader share. */
interface Stage extends Fixture {
  as: (role: Role) => Fixture['call'];
  params: Record<string, string>;
  /** A script box that everybody can use, with its policy box. */
  open: { box: string; policy: string };
}

const TOKENS: Readonly<Record<Role, string>> = {
  owner: '11111111-2222-4333-8444-555555555555',
  member: 'member-token',
  reader: 'reader-token',
  same: 'same-token',
  other: 'other-token',
  nobody: '',
};

const user = (name: string, organization = 'public'): AccountSpec => ({
  email: `${name}@example.com`,
  password: 'secret-1',
  token: `${name}-token`,
  organization,
});

async function stage(): Promise<Stage> {
  const fixture = await startFixture({
    teams: ['Shop', 'Spare'],
    accounts: [user('member'), user('reader'), user('same'), user('other', 'acme')],
  });
  const { call, clock, deployable, deploy, sandbox, upload } = fixture;
  const members = [
    { role: 'collaborator', workspace: 'member' },
    { role: 'read', workspace: 'reader' },
  ];
  const open = await deployable({}, {}, { visibility: 'public' });
  sandbox.admin.editRecord('boxes', open.box.id, { visibility: 'public' });
  const file = await upload('own.sh', 'exit 0');
  // Nobody but the owner sees what the shared box is bound to.
  const { box: hidden } = await deployable();
  const bound = { name: 'db', type: 'Binding', value: hidden.id };
  const { box } = await deployable({}, { events: { install: file }, variables: [bound], members });
  const version = { number: { major: 1, minor: 0, patch: 0 } };
  await ok(call('PUT', box.uri, { version }));
  const instance = await deploy({ box, policy: open.policy });
  const softLayer = (name: string, owner: string): Promise<Answered['body']> =>
    ok(
      call('POST', '/services/providers', {
        schema: `${sandbox.schemaBase}/softlayer/provider`,
        type: 'SoftLayer',
        name,
        owner,
        username: 'u',
        api_key: 'k',
      }),
    );
  const provider = await softLayer('own', 'ops');
  await softLayer('team', 'shop');
  await deploy({ box, policy: open.policy }, { owner: 'shop' });
  await ok(call('POST', '/services/boxes', { ...open.box, name: 'team', owner: 'shop' }));
  await clock.advance(10_000);
  await ok(call('PUT', instance.uri, { members, variables: [] }));
  await deploy(
    { box, policy: open.policy },
    { box: { id: box.id, variables: [{ ...bound, value: instance.id }] } },
  );
  await ok(call('PUT', provider.uri, { members }));
  for (const team of ['shop', 'spare']) await ok(call('PUT', `/services/workspaces/${team}`, { members }));
  const image = await ok(call('POST', `${provider.uri}/images`, { location: 'Dallas', name: 'i' }));
  const path = '/services/organizations/public';
  const organization = await ok(call('GET', path));
  const ldap = { ldap_group_sync: true, sources: [] };
  const authentication = { ...organization.authentication, ldap_config: ldap };
  await ok(call('PUT', path, { ...organization, authentication }));
  const [, , , , file_id = '', file_name = ''] = file.url.split('/');
  return {
    ...fixture,
    open: { box: open.box.id, policy: open.policy.id },
    as: (role) => (method, target, body, headers) =>
      call(method, target, body, { 'service-token': TOKENS[role], ...headers }),
    params: {
      box_id: box.id,
      instance_id: instance.id,
      provider_id: provider.id,
      machine_image_id: image.id,
      workspace_id: 'shop',
      organization_name: 'public',
      file_id,
      file_name,
    },
  };
}

const schema = ({ sandbox }: Stage, name: string): object => ({ schema: `${sandbox.schemaBase}/${name}` });

/** The bodies of requests that need one; the caller's own workspace is meant where none is named. */
const BODIES: Readonly<Record<string, (on: Stage) => unknown>> = {
  'POST /services/security/token': () => ({ email: 'ops@example.com', password: 'secret-1' }),
  'POST /services/boxes': (on) => ({ ...schema(on, 'boxes/script'), name: 'new', requirements: [] }),
  'PUT /services/boxes/{box_id}': () => ({ description: 'changed' }),
  'PUT /services/boxes/{box_id}/diff': () => ({ description: 'other' }),
  'POST /services/instances': (on) => ({
    ...schema(on, 'deploy-instance-request'),
    box: { id: on.open.box },
    policy_box: { id: on.open.policy },
  }),
  'PUT /services/instances/{instance_id}': () => ({ tags: ['new'] }),
  'PUT /services/instances/{instance_id}/pull': (on) => ({ box_id: on.params['box_id'] }),
  'POST /services/blobs/upload': () =>
    Buffer.from('--b\r\nContent-Disposition: form-data; name="b"; filename="f"\r\n\r\nx\r\n--b--\r\n'),
  'POST /services/blobs/upload/{file_name}': () => Buffer.from('x'),
  'POST /services/providers': (on) => ({
    ...schema(on, 'softlayer/provider'),
    type: 'SoftLayer',
    name: 'new',
    username: 'u',
    api_key: 'k',
  }),
  'PUT /services/providers/{provider_id}': () => ({ description: 'changed' }),
  'POST /services/providers/{provider_id}/images': () => ({ location: 'Dallas', name: 'new' }),
  'POST /services/workspaces': (on) => ({ ...schema(on, 'workspaces/team'), name: 'New' }),
  'PUT /services/workspaces/{workspace_id}': () => ({ name: 'Changed' }),
  'PUT /services/organizations/{organization_name}': (on) => ({
    ...schema(on, 'organization'),
    name: 'public',
    domains: [],
    administrators: ['ops'],
    authentication: { github: true, google: true, password: true, ldap: false },
    features: { provider_sharing: true, cost_center: false, onboard_checklist: false, reporting: false },
    cost_centers: [],
  }),
};

const HEADERS: Readonly<Record<string, Record<string, string>>> = {
  'POST /services/blobs/upload': { 'content-type': 'multipart/form-data; boundary=b' },
};

/** States in which the operations are accepted: so that only who asks can be the reason of a refusal. */
const STATES: Readonly<Record<string, readonly [string, string]>> = {
  'PUT /services/instances/{instance_id}/deploy': ['unavailable', 'deploy'],
  'PUT /services/instances/{instance_id}/poweron': ['done', 'shutdown_service'],
  'DELETE /services/instances/{instance_id}': ['done', 'terminate_service'],
};

const keyOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

async function cell(on: Stage, route: Route, role: Role): Promise<string> {
  const key = keyOf(route);
  const [state, event] = STATES[key] ?? [];
  const instance = on.params['instance_id'] ?? '';
  if (state !== undefined) {
    const operation = { event, workspace: 'ops', created: '2026-11-28 00:00:00.000000' };
    on.sandbox.admin.editRecord('instances', instance, { state, operation });
  }
  // A workspace that owns something cannot be removed.
  const params = key === 'DELETE /services/workspaces/{workspace_id}' ? { workspace_id: 'spare' } : on.params;
  const path = route.path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => new Map(Object.entries(params)).get(name) ?? '',
  );
  const { status, body } = await on.as(role)(route.method, path, BODIES[key]?.(on), HEADERS[key]);
  return `${status}${Array.isArray(body) && status === 200 ? shows(body, on) : ''}`;
}

/** Whether a list shows anything that is not everybody's: `+` or `-`. */
function shows(list: Answered['body'][], { open }: Stage): string {
  const everybodys = new Set<unknown>([open.box, open.policy, TEST_PROVIDER_ID]);
  return list.some((entry) => entry.schema?.endsWith('/personal') !== true && !everybodys.has(entry.id))
    ? '+'
    : '-';
}

/** Routes by roles: the code, and for lists whether the shared record is in it. */
const TABLE = `
POST /services/security/token                                       200    200    200    200    200    200
GET /services/security/providers                                    200    200    200    200    200    200
GET /services/boxes                                                 200+   200+   200+   200-   200-   401
POST /services/boxes                                                200    200    200    200    200    401
GET /services/boxes/{box_id}                                        200    200    200    403    403    401
PUT /services/boxes/{box_id}                                        200    200    403    403    403    401
DELETE /services/boxes/{box_id}                                     204    204    403    403    403    401
DELETE /services/box/{box_id}                                       204    204    403    403    403    401
GET /services/boxes/{box_id}/stack                                  200+   200+   200+   403    403    401
GET /services/boxes/{box_id}/bindings                               200+   200-   200-   403    403    401
GET /services/boxes/{box_id}/versions                               200+   200+   200+   403    403    401
PUT /services/boxes/{box_id}/diff                                   200    200    200    403    403    401
GET /services/instances                                             200+   200+   200+   200-   200-   401
POST /services/instances                                            202    202    202    202    202    401
GET /services/instances/{instance_id}                               200    200    200    403    403    401
PUT /services/instances/{instance_id}                               200    200    403    403    403    401
DELETE /services/instances/{instance_id}                            202    202    403    403    403    401
PUT /services/instances/{instance_id}/deploy                        202    202    403    403    403    401
PUT /services/instances/{instance_id}/poweron                       202    202    403    403    403    401
PUT /services/instances/{instance_id}/shutdown                      202    202    403    403    403    401
PUT /services/instances/{instance_id}/reinstall                     202    202    403    403    403    401
PUT /services/instances/{instance_id}/reconfigure                   202    202    403    403    403    401
PUT /services/instances/{instance_id}/pull                          202    202    403    403    403    401
GET /services/instances/{instance_id}/operations                    200+   200+   200+   403    403    401
GET /services/instances/{instance_id}/service                       200    200    200    403    403    401
GET /services/instances/{instance_id}/activity                      200+   200+   200+   403    403    401
GET /services/instances/{instance_id}/machine_logs                  200    200    200    403    403    401
GET /services/instances/{instance_id}/binding_instances             200+   200-   200-   403    403    401
POST /services/blobs/upload                                         200    200    200    200    200    401
POST /services/blobs/upload/{file_name}                             200    200    200    200    200    401
GET /services/blobs/download/{file_id}/{file_name}                  200    200    200    404    404    401
GET /services/providers                                             200+   200+   200+   200-   200-   401
POST /services/providers                                            202    202    202    202    202    401
GET /services/providers/{provider_id}                               200    200    200    403    403    401
PUT /services/providers/{provider_id}                               200    200    403    403    403    401
DELETE /services/providers/{provider_id}                            202    202    403    403    403    401
PUT /services/providers/{provider_id}/sync                          202    202    403    403    403    401
GET /services/providers/{provider_id}/logs                          200+   200+   200+   403    403    401
POST /services/providers/{provider_id}/images                       202    202    403    403    403    401
DELETE /services/providers/{provider_id}/images/{machine_image_id}  202    202    403    403    403    401
GET /services/workspaces                                            200+   200+   200+   200-   200-   401
POST /services/workspaces                                           200    200    200    200    200    401
GET /services/workspaces/{workspace_id}                             200    200    200    404    404    401
PUT /services/workspaces/{workspace_id}                             200    200    403    404    404    401
DELETE /services/workspaces/{workspace_id}                          204    403    403    404    404    401
GET /services/workspaces/{workspace_id}/providers                   200+   200+   200+   404    404    401
GET /services/workspaces/{workspace_id}/boxes                       200+   200+   200+   404    404    401
GET /services/workspaces/{workspace_id}/instances                   200+   200+   200+   404    404    401
GET /services/organizations/{organization_name}                     200    200    200    200    403    401
PUT /services/organizations/{organization_name}                     200    403    403    403    403    401
PUT /organizations/{organization_name}/sync_groups                  202    403    403    403    403    401
GET /openapi.json                                                   200    200    200    200    200    200
`;

/** Rows under a head with the roles, as people read them. */
async function rowsOf<R extends { method: string; path: string }>(
  routes: readonly R[],
  cellOf: (on: Stage, route: R, role: Role) => Promise<string>,
): Promise<string[]> {
  const on = await stage();
  // Each cell begins with what is stored here: putting it back takes less than making it anew.
  const before = on.sandbox.admin.snapshot();
  const rows: string[] = [];
  for (const route of routes) {
    const cells: string[] = [];
    for (const role of ROLES) {
      on.sandbox.admin.restore(before);
      cells.push(await cellOf(on, route, role));
    }
    rows.push(`${keyOf(route).padEnd(68)}${cells.map((text) => text.padEnd(7)).join('')}`.trimEnd());
  }
  const head = `${''.padEnd(68)}${ROLES.map((role) => role.padEnd(7)).join('')}`.trimEnd();
  await on.sandbox.stop();
  console.log(`${head}\n${rows.join('\n')}`);
  return rows;
}

test('each route answers each role as the table says, and each route has a row', async () => {
  expect(await rowsOf(ROUTES, cell)).toEqual(TABLE.trim().split('\n'));
}, 120_000);

const encoded = (fields: Record<string, string>): Uint8Array =>
  Buffer.from(new URLSearchParams(fields).toString());

/** What somebody sends who fills in a form of the page. */
const FORMS: Readonly<Record<string, (on: Stage, role: Role) => Record<string, string>>> = {
  'POST /page/login': () => ({ email: 'ops@example.com', password: 'secret-1' }),
  'POST /page/boxes/new': () => ({ type: 'script', name: 'new' }),
  'POST /page/boxes/{id}/deploy': ({ open }, role) => ({
    name: 'new',
    policy: open.policy,
    owner: role === 'owner' ? 'ops' : role,
  }),
};

/** Which record the path means, by the section that it is in. */
const RECORDS: Readonly<Record<string, string>> = {
  instances: 'instance_id',
  boxes: 'box_id',
  'policy-boxes': 'box_id',
  providers: 'provider_id',
  workspaces: 'workspace_id',
  blobs: 'file_id',
};

/** The code of the page's answer; `login` for the form that asks who somebody is. */
async function pageCell(on: Stage, route: (typeof OWN_ROUTES)[number], role: Role): Promise<string> {
  const { call, params, sandbox } = on;
  const browser = { 'service-token': '', host: '127.0.0.1:8420', 'sec-fetch-site': 'same-origin' };
  const email = `${role === 'owner' ? 'ops' : role}@example.com`;
  const login = encoded({ email, password: 'secret-1' });
  const { headers } = await call('POST', '/page/login', login, browser);
  const cookie = role === 'nobody' ? '' : (headers['set-cookie'] ?? '').split(';')[0];
  const key = keyOf(route);
  const instance = params['instance_id'] ?? '';
  const operation = { event: 'deploy', workspace: 'ops', created: '2026-11-28 00:00:00.000000' };
  sandbox.admin.editRecord('instances', instance, { state: 'done', operation });
  const id = params[RECORDS[route.path.split('/')[2] ?? ''] ?? ''] ?? '';
  const path = route.path
    .replace('{id}', id)
    .replace('{action}', 'shutdown')
    .replace('{ticket}', 'of-an-earlier-run');
  const form = route.method === 'POST' ? encoded(FORMS[key]?.(on, role) ?? {}) : undefined;
  const { status, body } = await call(route.method, path, form, { ...browser, cookie: cookie ?? '' });
  if (status === 200 && String(body).includes('action="/page/login"')) return 'login';
  const rows = String(body).match(/(?<=id="row-)[\w-]+/g);
  if (status !== 200 || !LISTED.includes(route.path)) return String(status);
  const everybodys: readonly string[] = [on.open.box, on.open.policy, TEST_PROVIDER_ID, role];
  return `200${(rows ?? []).some((row) => !everybodys.includes(row)) ? '+' : '-'}`;
}

/** Lists whose rows have owners. */
const LISTED = ['instances', 'boxes', 'policy-boxes', 'providers', 'workspaces', 'blobs'].map(
  (section) => `/page/${section}`,
);

const PAGE_TABLE = `
GET /page/instances                                                 200+   200+   200+   200-   200-   login
GET /page/instances/{id}                                            200    200    200    404    404    login
GET /page/instances/{id}/log                                        200    200    200    404    404    login
POST /page/instances/{id}/do/{action}                               303    303    403    404    404    login
GET /page/boxes                                                     200+   200+   200+   200-   200-   login
GET /page/policy-boxes                                              200+   200-   200-   200-   200-   login
GET /page/boxes/new                                                 200    200    200    200    200    login
POST /page/boxes/new                                                303    303    303    303    303    login
GET /page/boxes/{id}                                                200    200    200    404    404    login
GET /page/policy-boxes/{id}                                         200    200    200    404    404    login
GET /page/boxes/{id}/deploy                                         200    200    200    404    404    login
POST /page/boxes/{id}/deploy                                        303    303    303    404    404    login
POST /page/boxes/{id}/delete                                        303    303    403    404    404    login
GET /page/providers                                                 200+   200+   200+   200-   200-   login
GET /page/providers/{id}                                            200    200    200    404    404    login
POST /page/providers/{id}/sync                                      303    303    403    404    404    login
POST /page/providers/{id}/delete                                    303    303    403    404    404    login
GET /page/workspaces                                                200+   200+   200+   200-   200-   login
GET /page/workspaces/{id}                                           200    200    200    404    404    login
GET /page/organization                                              200    200    200    200    200    login
GET /page/blobs                                                     200+   200+   200+   200-   200-   login
GET /page/blobs/{id}                                                200    200    200    404    404    login
GET /page/blobs/{id}/file                                           200    200    200    404    404    login
GET /page/calls                                                     200    200    200    200    200    login
GET /page/style.css                                                 200    200    200    200    200    200
GET /page/script.js                                                 200    200    200    200    200    200
GET /page/icon.svg                                                  200    200    200    200    200    200
GET /                                                               303    303    303    303    303    303
GET /page                                                           303    303    303    303    303    303
POST /page/login                                                    303    303    303    303    303    303
GET /page/login                                                     login  login  login  login  login  login
GET /page/login/{ticket}                                            403    403    403    403    403    403
POST /page/logout                                                   303    303    303    303    303    303
`;

test('each address of the page answers each role as the table says, and each has a row', async () => {
  expect(await rowsOf(OWN_ROUTES, pageCell)).toEqual(PAGE_TABLE.trim().split('\n'));
}, 120_000);
