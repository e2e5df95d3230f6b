import { expect, test } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { startFixture } from './fixture.ts';

test('deploys a script box with the Test Provider and shows its states on the way', async () => {
  const clock = new VirtualClock();
  const { sandbox, call, deployable, deploy } = await startFixture({ clock });
  const boxes = await deployable({ install: 'echo hello\nexit 0\n' });
  const created = await deploy(boxes, { name: 'web', instance_tags: ['bw-a'] });
  expect(created).toMatchObject({ state: 'processing', operation: { event: 'deploy' }, tags: ['bw-a'] });
  expect(created.service.machines).toEqual([]);

  await clock.advance(2000);
  const half = await call('GET', created.uri);
  expect(half.body).toMatchObject({ state: 'processing' });
  await clock.advance(2000);
  const done = await call('GET', created.uri);
  expect(done.body).toMatchObject({ state: 'done', operation: { event: 'deploy' } });
  expect(done.body.updated > created.updated).toBe(true);
  expect(done.body.service.machines).toMatchObject([
    { state: 'done', workflow: [{ box: '', event: 'install', script: 'install.sh' }] },
  ]);
  const operations = await call('GET', `${created.uri}/operations`);
  expect(operations.body).toMatchObject([{ operation: 'deploy', state: 'done', instance: created.id }]);
  await sandbox.stop();
});
