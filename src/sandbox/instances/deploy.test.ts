import { expect, test } from 'vitest';
import { ok, startFixture } from '../fixture.ts';

test('deploys a script box with the Test Provider and shows its states on the way', async () => {
  const { clock, call, deployable, deploy } = await startFixture();
  const boxes = await deployable({ install: 'echo hello\nexit 0\n' });
  const created = await deploy(boxes, { name: 'web', instance_tags: ['bw-a'] });
  expect(created).toMatchObject({ state: 'processing', operation: { event: 'deploy' }, tags: ['bw-a'] });
  expect(created.service.machines).toEqual([]);

  await clock.advance(2000);
  expect((await call('GET', created.uri)).body).toMatchObject({ state: 'processing' });
  await clock.advance(2000);
  const done = await ok(call('GET', created.uri));
  expect(done).toMatchObject({ state: 'done', operation: { event: 'deploy' } });
  expect(done.updated > created.updated).toBe(true);
  expect(done.service.machines).toMatchObject([
    { state: 'done', workflow: [{ box: '', event: 'install', script: 'install.sh' }] },
  ]);
  const operations = await ok(call('GET', `${created.uri}/operations`));
  expect(operations).toMatchObject([{ operation: 'deploy', state: 'done', instance: created.id }]);
});

test('answers with the full policy box, the stack, and the box by its id', async () => {
  const { deployable, deploy } = await startFixture();
  const boxes = await deployable();
  const created = await deploy(boxes);
  expect(created.box).toBe(boxes.box.id);
  expect(created.policy_box).toMatchObject({ id: boxes.policy.id, claims: ['Linux'] });
  expect(created.boxes).toMatchObject([{ id: boxes.box.id, name: boxes.box.name }]);
});

test('makes as many machines as the profile says', async () => {
  const { clock, call, deployable, deploy, sandbox } = await startFixture();
  const profile = { schema: `${sandbox.schemaBase}/test/compute/profile`, instances: 3 };
  const created = await deploy(await deployable({ start: 'echo up' }, {}, { profile }));
  await clock.advance(4000);
  const { service } = await ok(call('GET', created.uri));
  expect(service.machines.map((machine: { name: string }) => machine.name)).toEqual(
    [1, 2, 3].map((n) => `${service.id}-${n}`),
  );
});

test('runs the events of nested boxes around those of their children', async () => {
  const { clock, call, deployable, deploy } = await startFixture();
  const events = ['pre_install', 'install', 'pre_configure', 'configure', 'stop', 'post_stop'];
  const scripts = Object.fromEntries(events.map((event) => [event, `echo ${event}`]));
  const child = await deployable(scripts);
  const parent = await deployable(scripts, {
    variables: [{ name: 'runtime', type: 'Box', value: child.box.id }],
  });
  const created = await deploy(parent);
  await clock.advance(4000);
  await ok(call('PUT', `${created.uri}/shutdown`));
  await clock.advance(2000);
  const activity = await ok(call('GET', `${created.uri}/activity`));
  const ran = activity
    .filter((line: { exit_code?: number }) => line.exit_code !== undefined)
    .map((line: { box: string; event: string }) => `${line.box}:${line.event}`);
  expect(ran).toEqual([
    ':pre_install',
    'runtime:pre_install',
    'runtime:install',
    ':install',
    ':pre_configure',
    'runtime:pre_configure',
    'runtime:configure',
    ':configure',
    ':stop',
    'runtime:stop',
    'runtime:post_stop',
    ':post_stop',
  ]);
});

test('a script that exits 1 leaves the instance unavailable with its event, and what it printed in the log', async () => {
  const { clock, call, deployable, deploy, upload } = await startFixture();
  const boxes = await deployable({ install: '#!/bin/bash\necho "disk full"\nexit 1\n', start: 'echo never' });
  const created = await deploy(boxes);
  await clock.advance(4000);
  const failed = await ok(call('GET', created.uri));
  expect(failed).toMatchObject({ state: 'unavailable', operation: { event: 'deploy' } });
  expect(failed.service.machines[0].state).toBe('unavailable');
  const activity = await ok(call('GET', `${created.uri}/activity?operation=deploy`));
  expect(activity.map((line: { text: string }) => line.text)).toContain('disk full');
  expect(activity.at(-1)).toMatchObject({ event: 'install', exit_code: 1, box: '' });
  expect((await call('GET', `${created.uri}/machine_logs?event=install`)).body).toBe('disk full\n');
  expect((await call('GET', `${created.uri}/operations`)).body).toMatchObject([{ state: 'unavailable' }]);

  // The way out: correct the script and deploy again.
  await ok(call('PUT', boxes.box.uri, { events: { install: await upload('install.sh', 'echo fine') } }));
  await ok(call('PUT', `${created.uri}/deploy`));
  await clock.advance(4000);
  expect((await call('GET', created.uri)).body).toMatchObject({ state: 'done' });
});

test('exit code 100 means that the machine reboots: the operation goes on afterwards', async () => {
  const { clock, call, deployable, deploy } = await startFixture();
  const created = await deploy(await deployable({ install: 'exit 100', start: 'echo up' }));
  await clock.advance(4000);
  expect((await call('GET', created.uri)).body.state).toBe('processing');
  await clock.advance(2000);
  expect((await call('GET', created.uri)).body.state).toBe('done');
});

test('without a reboot the instance stays processing', async () => {
  const { clock, call, deployable, deploy } = await startFixture({ readings: { reboot: 'never' } });
  const created = await deploy(await deployable({ install: 'exit 100' }));
  await clock.advance(3_600_000);
  expect((await call('GET', created.uri)).body.state).toBe('processing');
});

test.each([
  ['environment', { environment: 'x' }, 'environment: was removed'],
  ['profile', { profile: {} }, 'profile: was removed'],
  ['variables', { variables: [] }, 'variables: was removed'],
  ['a name that is too long', { name: 'n'.repeat(31) }, 'name: has 31 characters, at most 30 are taken'],
  ['another schema', { schema: 'http://elsewhere/deploy-instance-request' }, 'schema: must be'],
  ['an unknown box', { box: { id: 'none' } }, 'box.id: there is no box none'],
  ['a foreign owner', { owner: 'others' }, 'owner: "others" is not a workspace of yours'],
  ['a lease without expire', { lease: { operation: 'shutdown' } }, 'lease.expire: is required'],
  ['a lease at no time', { lease: { operation: 'shutdown', expire: '2026-02-31 00:00:00' } }, 'not a time'],
  ['an unknown lease operation', { lease: { operation: 'sleep' } }, 'lease.operation: must be one of'],
])('refuses a deploy request with %s', async (_, change, message) => {
  const { call, deployable, sandbox } = await startFixture();
  const { box, policy } = await deployable();
  const answer = await call('POST', '/services/instances', {
    schema: `${sandbox.schemaBase}/deploy-instance-request`,
    box: { id: box.id },
    policy_box: { id: policy.id },
    ...change,
  });
  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain(message);
});

test('refuses to deploy while a required variable has no value', async () => {
  const { call, deployable, deploy, sandbox } = await startFixture();
  const boxes = await deployable(
    {},
    { variables: [{ name: 'PORT', type: 'Port', required: true, value: '' }] },
  );
  const answer = await call('POST', '/services/instances', {
    schema: `${sandbox.schemaBase}/deploy-instance-request`,
    box: { id: boxes.box.id },
    policy_box: { id: boxes.policy.id },
  });
  expect(answer).toMatchObject({
    status: 400,
    body: { message: 'box.variables: "PORT" is required and has no value' },
  });
  const given = await deploy(boxes, {
    box: { id: boxes.box.id, variables: [{ name: 'PORT', value: '80' }] },
  });
  expect(given.variables).toMatchObject([{ name: 'PORT', type: 'Port', value: '80' }]);
});

// V14
test.each([
  ['999.1.1.1', 400],
  ['1.2.3', 400],
  ['256.0.0.1', 400],
  ['10.0.0.255', 202],
])('an address of an own machine: %s', async (address, status) => {
  const { call, deployable, sandbox } = await startFixture();
  const { box, policy } = await deployable();
  const answer = await call('POST', '/services/instances', {
    schema: `${sandbox.schemaBase}/deploy-instance-request`,
    box: { id: box.id },
    policy_box: { id: policy.id },
    ipv4_address: address,
  });
  expect(answer.status).toBe(status);
});

// V12
test('a name of 36 characters is taken where that reading is chosen, and its own default is as long', async () => {
  const name = '0123456789abcdef0123456789abcdef0123';
  for (const [nameLength, status] of [
    ['30', 400],
    ['256', 202],
  ] as const) {
    const { call, deployable, sandbox } = await startFixture({ readings: { nameLength } });
    const { box, policy } = await deployable({}, { name });
    const request = {
      schema: `${sandbox.schemaBase}/deploy-instance-request`,
      box: { id: box.id },
      policy_box: { id: policy.id },
    };
    expect((await call('POST', '/services/instances', { ...request, name })).status).toBe(status);
    const { body } = await call('POST', '/services/instances', request);
    expect(body.name).toBe(name.slice(0, Number(nameLength)));
  }
});

// V14
test('other content of a box in an update of an instance is not taken, and that is said', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const { uri } = await deploy(await deployable());
  await clock.advance(10_000);
  const seen = await ok(call('GET', uri));
  expect((await call('PUT', uri, seen)).headers['warning']).toBeUndefined();
  const [box] = seen.boxes;
  const boxes = [{ ...box, variables: [{ name: 'A', type: 'Text', value: '1' }], description: 'changed' }];
  const { headers, body } = await call('PUT', uri, { ...seen, name: 'other', boxes });
  expect(headers['warning']).toContain(`boxes: variables of box ${box.id} was not changed`);
  expect(headers['warning']).toContain(`boxes: description of box ${box.id} was not changed`);
  expect(headers['warning']).toContain('name was not changed');
  expect(body).toMatchObject({ name: seen.name, boxes: [{ description: '', variables: [] }] });
});
