import { expect, test } from 'vitest';
import { ok, startFixture } from '../fixture.ts';

function form(name: string, content: Uint8Array | string): { body: Buffer; type: Record<string, string> } {
  const body = Buffer.concat([
    Buffer.from(
      `--xx\r\nContent-Disposition: form-data; name="blob"; filename="${name}"\r\nContent-Type: text/x-sh\r\n\r\n`,
    ),
    Buffer.from(content),
    Buffer.from('\r\n--xx--\r\n'),
  ]);
  return { body, type: { 'content-type': 'multipart/form-data; boundary=xx' } };
}

test('stores a multipart file with name and type of its part', async () => {
  const { call, sandbox } = await startFixture();
  const { body, type } = form('über uns.sh', 'echo\r\n--x\r\n');
  const record = await ok(call('POST', '/services/blobs/upload', body, type));
  expect(record).toMatchObject({ length: 11, content_type: 'text/x-sh' });
  expect(record.url).toMatch(/^\/services\/blobs\/download\/[0-9a-f]{24}\/%C3%BCber%20uns\.sh$/);
  const read = await sandbox.handle({
    method: 'GET',
    path: record.url,
    headers: { 'service-token': sandbox.credentials.token ?? '' },
    body: new Uint8Array(),
  });
  expect(read.headers['content-type']).toBe('text/x-sh');
  expect(Buffer.from(read.body).toString()).toBe('echo\r\n--x\r\n');
});

test('stores the raw body under the name in the path', async () => {
  const { call } = await startFixture();
  const bytes = Buffer.from([0, 255, 13, 10]);
  const record = await ok(call('POST', '/services/blobs/upload/a%20b.bin', bytes));
  expect(record).toMatchObject({ length: 4, content_type: 'application/octet-stream' });
  expect(record.url.endsWith('/a%20b.bin')).toBe(true);
});

test('refuses what is too large, has no name, or is no form', async () => {
  const { call } = await startFixture();
  const large = Buffer.alloc(10_000_001);
  expect((await call('POST', '/services/blobs/upload/x', large)).status).toBe(413);
  expect((await call('POST', '/services/blobs/upload/%2F', Buffer.from('x'))).status).toBe(400);
  expect((await call('POST', '/services/blobs/upload', Buffer.from('x'))).status).toBe(400);
  const broken = Buffer.from('--xx\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nx');
  const type = { 'content-type': 'multipart/form-data; boundary=xx' };
  expect((await call('POST', '/services/blobs/upload', broken, type)).status).toBe(400);
});

test('an unknown file is 404, an id that is none is 400', async () => {
  const { call } = await startFixture();
  expect((await call('GET', `/services/blobs/download/${'0'.repeat(24)}/x`)).status).toBe(404);
  expect((await call('GET', '/services/blobs/download/zz/x')).status).toBe(400);
});
