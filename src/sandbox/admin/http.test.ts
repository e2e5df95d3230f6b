import { expect, test } from 'vitest';
import { startFixture } from '../fixture.ts';
import { adminHandler } from './http.ts';

type Told = { status: number; body: { message?: string } | null };

async function controls() {
  const fixture = await startFixture();
  const handle = adminHandler(fixture.sandbox.admin, 'admin-token');
  const ask = async (control: string, body?: unknown): Promise<Told> => {
    const [method = '', path = ''] = control.split(' ');
    const { status, body: bytes } = await handle({
      method,
      path,
      headers: { authorization: 'Bearer admin-token' },
      body: body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body)),
    });
    return { status, body: JSON.parse(Buffer.from(bytes).toString('utf8')) as Told['body'] };
  };
  return { ...fixture, ask };
}

test.each([
  ['POST /faults', null, 'body: must be object'],
  ['POST /faults', { match: null, status: 503 }, 'match: must be object'],
  ['POST /faults', { match: { route: 5 } }, 'match.route: must be string'],
  ['POST /faults', { status: '503' }, 'status: must be integer'],
  ['POST /faults', { status: 100 }, 'status: must be >= 200'],
  ['POST /faults', { status: 500, tims: 1 }, 'tims: is not a field of this request'],
  ['POST /faults', { body: 'xml' }, 'body: must be one of truncated, html'],
  ['POST /faults', { redirect: '/a\nb' }, 'is not a URI that a header can hold'],
  ['POST /operation-faults', { effect: 'fails' }, 'effect: must be one of stuck, fail, slow'],
  ['POST /operation-faults', { operation: 'nap', effect: 'fail' }, 'operation: must be one of deploy'],
  ['PUT /latency', {}, 'ms: is required'],
  ['PUT /list-lag', null, 'body: must be object'],
  ['PUT /durations', { deploy: '5s' }, 'deploy: must be number'],
  ['PUT /durations', { deply: 5 }, 'deply: is not a field of this request'],
  ['PUT /readings', { terminate: null }, 'terminate: must be string'],
  ['PUT /readings', { constructor: 'name' }, 'no reading is called "constructor"'],
  ['PUT /readings', { terminate: 'constructor' }, 'reading terminate cannot be "constructor"'],
  ['POST /clock', { jump: 'far' }, 'jump: must be number'],
  ['DELETE /tokens', { usr: 'ops' }, 'usr: is not a field of this request'],
  ['POST /accounts', {}, 'email: is required'],
  [
    'POST /accounts',
    { email: 'a@b.example', password: 'x', organization: 5 },
    'organization: must be string',
  ],
  ['PUT /records/workspaces', { id: 'shop', change: 'name' }, 'change: must be object'],
])('%s %j is refused, and the service goes on as before', async (control, body, message) => {
  const { ask, call } = await controls();
  const refused = await ask(control, body);
  expect(refused.status).toBe(400);
  expect(refused.body?.message).toContain(message);
  expect((await call('GET', '/services/workspaces')).status).toBe(200);
});

test('controls take what the guide shows', async () => {
  const { ask, call } = await controls();
  const lost = { match: { method: 'POST', route: '/services/instances' }, lose: 'after', times: 1 };
  expect(await ask('POST /faults', lost)).toEqual({ status: 200, body: { id: 1 } });
  expect(
    (await ask('POST /operation-faults', { operation: 'deploy', effect: 'stuck', times: 1 })).status,
  ).toBe(200);
  expect((await ask('PUT /list-lag', { polls: 5 })).status).toBe(200);
  expect((await ask('PUT /latency', { ms: [0, 0] })).status).toBe(200);
  expect((await ask('PUT /durations', { deploy: 1000 })).status).toBe(200);
  expect((await ask('PUT /readings', { terminate: 'always' })).status).toBe(200);
  expect((await ask('POST /clock', { jump: 28_800_000 })).status).toBe(200);
  const account = { email: 'two@example.com', password: 'secret-2', organization: 'acme' };
  expect(await ask('POST /accounts', account)).toEqual({ status: 200, body: { workspace: 'two' } });
  expect((await ask('POST /snapshots', { name: 'one' })).status).toBe(200);
  expect((await ask('POST /restore', { name: 'one' })).status).toBe(200);
  const state = (await ask('GET /state')).body;
  expect((await ask('PUT /state', state)).status).toBe(200);
  expect((await ask('DELETE /state')).status).toBe(200);
  expect((await call('GET', '/services/workspaces')).status).toBe(200);
});
