import { expect, test } from 'vitest';
import { startFixture } from '../fixture.ts';

const NOBODY = { 'service-token': '' };

test('asks who comes, and lets in with a cookie that scripts cannot read', async () => {
  const { call } = await startFixture();
  const first = await call('GET', '/', undefined, NOBODY);
  expect(first).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(first.body).toContain('action="/login"');
  expect(first.body).not.toContain('Instances (');
  const wrong = await call('POST', '/login', Buffer.from('email=ops@example.com&password=no'), NOBODY);
  expect(wrong.status).toBe(401);
  const right = await call(
    'POST',
    '/login',
    Buffer.from('email=ops%40example.com&password=secret-1'),
    NOBODY,
  );
  expect(right).toMatchObject({ status: 303, headers: { location: '/' } });
  const cookie = right.headers['set-cookie'] ?? '';
  expect(cookie).toMatch(/^token=[0-9a-f-]{36}; Path=\/; HttpOnly; SameSite=Strict$/);
  const inside = await call('GET', '/', undefined, { ...NOBODY, cookie: cookie.split(';')[0] ?? '' });
  expect(inside.body).toContain('Instances (0)');
});

test('shows instances with their state, boxes and calls, everything escaped', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const boxes = await deployable({ install: 'echo "<b>hi</b>"' }, { name: '<script>alert(1)</script>' });
  const created = await deploy(boxes, { name: 'web & co' });
  await clock.advance(4000);
  const { body } = await call('GET', '/');
  expect(body).toContain('web &amp; co');
  expect(body).toContain('<span class="state done">done</span>');
  expect(body).toContain('POST /services/instances');
  expect(body).not.toContain('<script>alert');
  const detail = (await call('GET', `/?instance=${created.id}`)).body;
  expect(detail).toContain('&lt;b&gt;hi&lt;/b&gt;');
  expect(detail).toContain(`${created.service.id}-1`);
});

test('shows nothing of what belongs to others', async () => {
  const { call, deployable, deploy, sandbox } = await startFixture();
  const created = await deploy(await deployable(), { name: 'private one' });
  sandbox.admin.createAccount({ email: 'eve@example.com', password: 'p', token: 'eve' });
  for (const path of ['/', `/?instance=${created.id}`]) {
    expect((await call('GET', path, undefined, { 'service-token': 'eve' })).body).not.toContain(
      'private one',
    );
  }
});
