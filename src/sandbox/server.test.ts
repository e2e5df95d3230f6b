import { request } from 'undici';
import { expect, test } from 'vitest';
import { createSandbox } from './index.ts';

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
