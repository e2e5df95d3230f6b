import { request } from 'undici';
import { expect, test } from 'vitest';
import { createSandbox } from './index.ts';
import { startServers } from './server.ts';

async function started() {
  const sandbox = createSandbox({ account: { token: 'secret-token' } });
  const address = await sandbox.start({ adminToken: 'admin-token' });
  const headers = { 'service-token': 'secret-token' };
  const control = { authorization: 'Bearer admin-token', 'content-type': 'application/json' };
  return { sandbox, headers, control, ...address };
}

test('serves over HTTP and answers with the length of the body', async () => {
  const { sandbox, url, headers } = await started();
  const { statusCode, body, headers: sent } = await request(`${url}/services/workspaces`, { headers });
  expect(statusCode).toBe(200);
  const text = await body.text();
  expect(sent['content-length']).toBe(String(Buffer.byteLength(text)));
  expect(JSON.parse(text)).toMatchObject([
    { id: 'admin', schema: `${sandbox.schemaBase}/workspaces/personal` },
  ]);
  await sandbox.stop();
});

test('breaks the connection when a fault says so', async () => {
  const { sandbox, url, headers, control, adminUrl } = await started();
  const fault = { match: { route: '/services/workspaces' }, lose: 'after', times: 1 };
  const added = await request(`${adminUrl}/faults`, {
    method: 'POST',
    headers: control,
    body: JSON.stringify(fault),
  });
  expect(await added.body.json()).toEqual({ id: 1 });
  await expect(request(`${url}/services/workspaces`, { headers })).rejects.toMatchObject({
    code: 'ECONNRESET',
  });
  const calls = await request(`${adminUrl}/calls`, { headers: control });
  expect(await calls.body.json()).toMatchObject([{ lost: 'after', caller: 'admin' }]);
  await sandbox.stop();
});

test('the admin port wants its own token, and names its controls', async () => {
  const { sandbox, adminUrl, control } = await started();
  const refused = await request(`${adminUrl}/calls`, { headers: { authorization: 'Bearer secret-token' } });
  expect(refused.statusCode).toBe(401);
  await refused.body.dump();
  const unknown = await request(`${adminUrl}/nothing`, { headers: control });
  expect(unknown.statusCode).toBe(404);
  expect(((await unknown.body.json()) as { message: string }).message).toContain('POST /clock');
  await sandbox.stop();
});

test('ends calls that hang when it stops', async () => {
  const { sandbox, url, headers } = await started();
  sandbox.admin.addFault({ match: {}, hang: 'before' });
  const hanging = request(`${url}/services/workspaces`, { headers }).then(
    () => 'answered',
    () => 'ended',
  );
  while (sandbox.admin.calls().length === 0) await new Promise((resolve) => setImmediate(resolve));
  await sandbox.stop();
  expect(await hanging).toBe('ended');
});

test('streams a long list, whole and as it was when it was asked for; a caller that hangs up ends it', async () => {
  const { sandbox, url, headers } = await started();
  const send = async (method: 'GET' | 'POST' | 'HEAD', path: string, body?: object) =>
    request(`${url}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  for (let n = 0; n < 150; n++) {
    const body = { schema: `${sandbox.schemaBase}/boxes/script`, name: `box ${n}`, requirements: [] };
    const { body: made } = await send('POST', '/services/boxes', { ...body, description: 'd'.repeat(9_000) });
    await made.dump();
  }
  const { headers: sent, body } = await send('GET', '/services/boxes');
  expect(sent['content-length']).toBeUndefined();
  // Nothing is read yet: the list is not made beyond what the connection takes.
  sandbox.admin.editRecord('boxes', sandbox.admin.records('boxes')[149]?.id ?? '', { name: 'renamed' });
  const list = (await body.json()) as { name: string }[];
  expect(list.map((box) => box.name)).toEqual(Array.from({ length: 150 }, (_, n) => `box ${n}`));
  const head = await send('HEAD', '/services/boxes');
  expect(await head.body.text()).toBe('');
  const broken = await send('GET', '/services/boxes');
  broken.body.destroy();
  expect((await send('GET', '/services/workspaces')).statusCode).toBe(200);
  const inProcess = await sandbox.handle({
    method: 'GET',
    path: '/services/boxes',
    headers,
    body: new Uint8Array(),
  });
  expect((JSON.parse(Buffer.from(inProcess.body).toString()) as unknown[]).length).toBe(150);
  await sandbox.stop();
});

test('a call that fails is answered, and its error told', async () => {
  const { sandbox } = await started();
  const full = new Error('the disk is full');
  const told: unknown[] = [];
  const servers = await startServers(() => Promise.reject(full), sandbox.admin, {
    makeToken: () => 'token',
    onError: (error) => void told.push(error),
    stopped: new AbortController().signal,
  });
  const { statusCode, body } = await request(`${servers.address.url}/services/workspaces`);
  expect(statusCode).toBe(500);
  expect(await body.json()).toMatchObject({ message: 'the sandbox failed; its log says why' });
  expect(told).toEqual([full]);
  await servers.close();
  await sandbox.stop();
});
