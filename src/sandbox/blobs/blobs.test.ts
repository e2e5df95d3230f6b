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

// V4
test.each(['text/html', 'image/svg+xml', 'application/javascript; charset=utf-8'])(
  'a browser keeps a file of type %s and shows it as no page',
  async (type) => {
    const { call } = await startFixture();
    const content = Buffer.from('<script>fetch("/services/boxes")</script>');
    const { url } = await ok(
      call('POST', `/services/blobs/upload/${encodeURIComponent('ü"\'%.html')}`, content, {
        'content-type': type,
      }),
    );
    const { headers } = await call('GET', url);
    expect(headers).toMatchObject({
      'content-type': type,
      'content-disposition': `attachment; filename="__'_.html"; filename*=UTF-8''%C3%BC%22%27%25.html`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    });
  },
);

test('no answer is sniffed for another type, whatever text of a user is in it', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const { uri } = await deploy(await deployable({ install: 'echo "<script>alert(1)</script>"' }));
  await clock.advance(10_000);
  for (const path of [
    uri,
    `${uri}/machine_logs`,
    '/services/boxes',
    '/services/none',
    '/page',
    '/page/boxes',
    '/page/script.js',
  ]) {
    expect((await call('GET', path)).headers['x-content-type-options']).toBe('nosniff');
  }
});

// V15
test.each(['text/plain\nset-cookie: token=x', 'text', 'text/plain; a=\u00e9', `text/${'x'.repeat(200)}`])(
  'refuses the type %j, which no download could carry',
  async (type) => {
    const { call } = await startFixture();
    const raw = await call('POST', '/services/blobs/upload/x', Buffer.from('x'), { 'content-type': type });
    expect(raw).toMatchObject({ status: 400, body: { message: expect.stringContaining('Content-Type') } });
    const body = Buffer.from(
      `--xx\r\nContent-Disposition: form-data; name="b"; filename="f"\r\nContent-Type: ${type}\r\n\r\nx\r\n--xx--\r\n`,
    );
    const multipart = { 'content-type': 'multipart/form-data; boundary=xx' };
    expect((await call('POST', '/services/blobs/upload', body, multipart)).status).toBe(400);
  },
);

test('a boundary or a part that is made to be slow is refused', async () => {
  const { call } = await startFixture();
  const mark = 'a'.repeat(5_000);
  const multipart = { 'content-type': `multipart/form-data; boundary=${mark}` };
  const start = performance.now();
  const slow = Buffer.alloc(5_000_000, 'a');
  expect((await call('POST', '/services/blobs/upload', slow, multipart)).status).toBe(400);
  const head = Buffer.from(`--xx\r\nA: ${'a'.repeat(1_000_000)}\r\n\r\nx\r\n--xx--\r\n`);
  const xx = { 'content-type': 'multipart/form-data; boundary=xx' };
  expect((await call('POST', '/services/blobs/upload', head, xx)).status).toBe(400);
  expect(performance.now() - start).toBeLessThan(2_000);
});

// V14
test('an upload without a body is refused; an empty file is one that says its type', async () => {
  const { call } = await startFixture();
  expect((await call('POST', '/services/blobs/upload/x')).body.message).toContain('there is no body');
  expect((await call('POST', '/services/blobs/upload')).status).toBe(400);
  const type = { 'content-type': 'text/plain' };
  expect((await call('POST', '/services/blobs/upload/x', undefined, type)).body.length).toBe(0);
});
