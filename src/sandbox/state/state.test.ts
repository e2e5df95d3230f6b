import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { ok, startFixture, type Answered, type Fixture } from '../fixture.ts';
import { createSandbox } from '../index.ts';
import { runStateAction, type StateAction, type StateOptions } from './action.ts';
import { checkState, parseState, type StateRecord } from './document.ts';

/** A sandbox with something of everything in it. */
async function furnished(): Promise<Fixture & { instance: Answered['body'] }> {
  const fixture = await startFixture({
    accounts: [{ email: 'eve@example.com', password: 'eve-secret', token: 'eve-token' }],
  });
  const { call, clock, deployable, deploy } = fixture;
  const variables = [{ name: 'PW', type: 'Password', value: 'hunter2' }];
  const boxes = await deployable({ install: 'echo installed' }, { variables });
  const lease = { operation: 'shutdown', expire: '2999-01-01 00:00:00.000000' };
  const instance = await deploy(boxes, { lease });
  await clock.advance(10_000);
  const { box } = await deployable();
  await ok(call('DELETE', box.uri));
  return { ...fixture, instance };
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('a state that is imported somewhere else answers as it did, to the users of that sandbox', async () => {
  const from = await furnished();
  const state = json(from.sandbox.admin.exportState());
  expect(JSON.stringify(state)).not.toMatch(/hunter2|eve-token/);
  const to = await startFixture({
    account: { email: 'me@example.com', password: 'mine', token: '11111111-2222-4333-8444-555555555555' },
  });
  await ok(
    to.call('POST', '/services/workspaces', {
      schema: `${to.sandbox.schemaBase}/workspaces/team`,
      name: 'X',
    }),
  );
  to.sandbox.admin.importState(state);
  for (const path of [from.instance.uri, `${from.instance.uri}/machine_logs`, '/services/workspaces']) {
    const there = JSON.stringify((await to.call('GET', path)).body);
    expect(there).toBe(JSON.stringify((await from.call('GET', path)).body).replaceAll('hunter2', '********'));
  }
  const { body: seen } = await to.call('GET', from.instance.uri);
  expect((await to.call('GET', seen.boxes[0].events.install.url)).body).toBe('echo installed');
  // The first user is the one of the state, with the password that was printed here.
  const login = { email: 'ops@example.com', password: 'mine' };
  expect((await to.call('POST', '/services/security/token', login)).status).toBe(200);
  expect(
    (await to.call('POST', '/services/security/token', { ...login, email: 'eve@example.com' })).status,
  ).toBe(401);
  expect(to.sandbox.admin.issueToken('eve')).toMatch(/-/);
  await ok(to.call('PUT', `${from.instance.uri}/shutdown`));
  await to.clock.advance(10_000);
  expect((await to.call('GET', from.instance.uri)).body.operation.event).toBe('shutdown_service');
});

test('with secrets, passwords come along', async () => {
  const from = await furnished();
  const to = await startFixture();
  to.sandbox.admin.importState(json(from.sandbox.admin.exportState(true)));
  expect((await to.call('GET', from.instance.uri)).body.boxes[0].variables[0].value).toBe('hunter2');
  const login = { email: 'eve@example.com', password: 'eve-secret' };
  expect((await to.call('POST', '/services/security/token', login)).status).toBe(200);
});

test('leases and operations go on from the time of the export', async () => {
  const from = await furnished();
  const other = await from.deploy(await from.deployable());
  const state = json(from.sandbox.admin.exportState());
  const to = await startFixture();
  await to.clock.advance(365 * 24 * 3_600_000);
  to.sandbox.admin.importState(state);
  expect((await to.call('GET', other.uri)).body.state).toBe('processing');
  await to.clock.advance(10_000);
  expect((await to.call('GET', other.uri)).body.state).toBe('done');
});

test('a test begins with a state', async () => {
  const from = await furnished();
  const { call } = await startFixture({ state: from.sandbox.admin.exportState() });
  expect((await call('GET', from.instance.uri)).body.name).toBe(from.instance.name);
});

test('a reset leaves users and workspaces, and nothing else', async () => {
  const { call, sandbox, instance, deployable, deploy } = await furnished();
  const path = '/services/organizations/public';
  await ok(call('PUT', path, { ...(await ok(call('GET', path))), theme: 'dark' }));
  sandbox.admin.resetState();
  for (const list of ['boxes', 'instances'])
    expect((await call('GET', `/services/${list}`)).body).toEqual([]);
  expect((await call('GET', instance.uri)).status).toBe(404);
  expect((await call('GET', '/services/workspaces')).body).toHaveLength(2);
  expect((await call('GET', '/services/providers')).body).toHaveLength(1);
  expect((await call('GET', path)).body).toMatchObject({ theme: '', administrators: ['ops'] });
  expect((await call('GET', path, undefined, { 'service-token': 'eve-token' })).status).toBe(200);
  expect((await deploy(await deployable())).state).toBe('processing');
});

const ACCOUNTS = [{ id: 'a', email: 'a@b', workspace: 'a', organization: 'public', hash: '', salt: '' }];
const TIMES = { created: '2026-01-01 00:00:00.000000', updated: '2026-01-01 00:00:00.000000' };
const WORKSPACE = {
  ...TIMES,
  id: 'w',
  kind: 'team',
  name: 'w',
  owner: 'a',
  members: [],
  organizations: [],
  fields: {},
};
const STATE = { format: 'boxwright-sandbox', layout: 1, now: 0, tables: { accounts: ACCOUNTS } };

test.each([
  ['{', 'the state is not JSON'],
  ['[]', 'this is no exported state'],
  [{ ...STATE, layout: 99 }, 'the state has layout 99'],
  [{ ...STATE, layout: 0 }, 'the state has layout 0'],
  [{ ...STATE, layout: 1.5 }, 'the state has layout 1.5'],
  [{ ...STATE, now: 'yesterday' }, 'now: is no number'],
  [{ ...STATE, now: 1e300 }, 'now: is no time from 1970 to 9998'],
  [{ ...STATE, now: -1 }, 'now: is no time from 1970 to 9998'],
  [{ ...STATE, tables: { accounts: [] } }, 'there is nobody'],
  [{ ...STATE, tables: { accounts: ACCOUNTS, colours: [] } }, 'tables.colours: there is no such table'],
  [{ ...STATE, tables: { accounts: [...ACCOUNTS, ...ACCOUNTS] } }, 'the id a is there twice'],
  [
    { ...STATE, tables: { accounts: [...ACCOUNTS, { ...ACCOUNTS[0], id: 'b' }] } },
    'tables.accounts[1].email: is there twice',
  ],
  [
    { ...STATE, tables: { accounts: ACCOUNTS, workspaces: [{ ...WORKSPACE, members: [null] }] } },
    'tables.workspaces[0].members: is no list of objects',
  ],
  [
    { ...STATE, tables: { accounts: ACCOUNTS, boxes: [{ id: 'x' }] } },
    'tables.boxes[0].created: is no string',
  ],
  [{ ...STATE, tables: { accounts: [{ ...ACCOUNTS[0], id: '\uD800' }] } }, 'tables.accounts[0].id: is no id'],
  [{ ...STATE, content: { x: 1 } }, 'content: is no object of texts'],
])('refuses %j, and says why', (state, message) => {
  expect(() => parseState(typeof state === 'string' ? state : JSON.stringify(state))).toThrow(message);
});

test.each([1e300, 1e18, -1e18])('a jump of %d ms is refused, and the service goes on', async (ms) => {
  const { sandbox, deployable, deploy } = await startFixture();
  expect(() => sandbox.admin.jump(ms)).toThrow('the clock goes from 1970 to 9998');
  expect((await deploy(await deployable())).state).toBe('processing');
});

test('a byte-order mark in front of a state is passed over', () => {
  expect(parseState(`\uFEFF${JSON.stringify(STATE)}`).layout).toBe(STATE.layout);
});

test('a state that is refused changes nothing', async () => {
  const { call, sandbox, instance } = await furnished();
  const state = sandbox.admin.exportState();
  expect(() => sandbox.admin.importState({ ...state, schemaBase: 'http://other.example/schemas' })).toThrow(
    'start with --schema-base',
  );
  expect(() => sandbox.admin.importState({ ...state, tables: { ...state.tables, boxes: [{}] } })).toThrow(
    'has no id',
  );
  const [known] = state.tables.instances ?? [];
  const without = { ...known, service: { ...(known?.['service'] as object), machines: undefined } };
  const instances = [without] as StateRecord[];
  expect(() => sandbox.admin.importState({ ...state, tables: { ...state.tables, instances } })).toThrow(
    'tables.instances[0].service.machines: is no array',
  );
  expect(sandbox.admin.exportState()).toEqual(state);
  expect((await call('GET', instance.uri)).status).toBe(200);
});

interface Work {
  folder: string;
  act: (
    action: StateAction,
    options: Partial<StateOptions>,
    input?: string,
  ) => Promise<{ told: string; out: string }>;
}

function work(): Work {
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return {
    folder,
    act: async (action, options, input = '') => {
      let out = '';
      const io = { write: (text: string) => void (out += text), input: Readable.from([input]) };
      const told = await runStateAction(action, { data: ':memory:', file: '-', ...options }, io);
      return { told, out };
    },
  };
}

test('the state of a sandbox that does not run goes through a file', async () => {
  const { folder, act } = work();
  const data = join(folder, 'one');
  const first = createSandbox({ data, teams: ['Shop'] });
  await first.stop();
  const file = join(folder, 'state.json');
  expect((await act('export', { data, file })).told).toContain(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const other = join(folder, 'two');
  await act('import', { data: other, file });
  const second = createSandbox({ data: other });
  expect(second.credentials).toMatchObject({ email: 'admin@sandbox.example', teams: ['shop'] });
  expect(second.credentials.password).not.toBeUndefined();
  await second.stop();
  const { out } = await act('export', { data: other });
  expect(checkState(JSON.parse(out)).tables.workspaces).toHaveLength(2);
  await expect(act('import', { data: other }, '{"format":"x"}')).rejects.toThrow('this is no exported state');
  await expect(act('reset', {})).rejects.toThrow('name the sandbox');
});

test('the state of a sandbox that runs goes through its admin port', async () => {
  const { folder, act } = work();
  const sandbox = createSandbox({ account: { token: 'tk' } });
  const address = await sandbox.start({ port: 0, adminPort: 0 });
  const credentialsFile = join(folder, 'creds.json');
  const { writePrivateFile } = await import('../private-file.ts');
  writePrivateFile(credentialsFile, JSON.stringify(address));
  const { out } = await act('export', { credentialsFile });
  expect(existsSync(join(folder, 'sandbox.db'))).toBe(false);
  const large = JSON.parse(out) as { content: Record<string, string> };
  large.content = Object.fromEntries(Array.from({ length: 2 }, (_, n) => [`${n}`, 'A'.repeat(8_000_000)]));
  await act('import', { credentialsFile }, JSON.stringify(large));
  await act('reset', { credentialsFile });
  const wrong = JSON.stringify({ ...JSON.parse(out), schemaBase: 'http://other.example/schemas' });
  await expect(act('import', { credentialsFile }, wrong)).rejects.toThrow('start with --schema-base');
  expect(readFileSync(credentialsFile, 'utf8')).toContain(address.adminUrl);
  await sandbox.stop();
});

test('a folder without a sandbox has no state, and none is made in it', async () => {
  const { folder, act } = work();
  const data = join(folder, 'mistyped');
  for (const action of ['export', 'reset'] as const) {
    await expect(act(action, { data })).rejects.toThrow(`--data ${data}: no sandbox has kept anything there`);
  }
  await expect(act('import', { data }, '{}')).rejects.toThrow('this is no exported state');
  expect(existsSync(data)).toBe(false);
});

test('a credentials file that leads to no sandbox is named, with what to do', async () => {
  const { folder, act } = work();
  const credentialsFile = join(folder, 'creds.json');
  for (const text of ['hello', 'null', '{}', '{"adminUrl":"nowhere","adminToken":"x"}']) {
    writeFileSync(credentialsFile, text);
    await expect(act('export', { credentialsFile })).rejects.toThrow(
      `--credentials-file ${credentialsFile}:`,
    );
  }
  const sandbox = createSandbox();
  writeFileSync(credentialsFile, JSON.stringify(await sandbox.start({ port: 0, adminPort: 0 })));
  await sandbox.stop();
  await expect(act('export', { credentialsFile })).rejects.toThrow('name its --data instead');
});
