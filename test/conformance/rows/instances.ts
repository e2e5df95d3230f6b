import { answers, assert, has, holds, isBoolean, isList, isOneOf, isText, isTimestamp } from '../assert.ts';
import { reading, row, type Row } from '../row.ts';
import type { Record_, World } from '../world.ts';

const inTime = (ms: number): string =>
  `${new Date(Date.now() + ms).toISOString().replace('T', ' ').replace('Z', '')}000`;

/** A box whose scripts leave a trace, nested in another one. */
function nested(world: World): Promise<Record_> {
  return world.once('nested', async () => {
    const events = {
      install: await world.upload('install.sh', 'echo installing\nexit 0\n'),
      configure: await world.upload('configure.sh', 'exit 0\n'),
    };
    const inner = await world.boxWith('script', { events });
    const variables = [
      { name: 'inner', type: 'Box', value: inner.id, required: false, visibility: 'public' },
      { name: 'PORT', type: 'Port', value: '80', required: false, visibility: 'public' },
    ];
    const outer = await world.boxWith('script', { events, variables });
    return world.online({ box: { id: outer.id, variables: [{ name: 'PORT', value: '81' }] } });
  });
}

/** One instance that goes through its life: what was seen on the way. */
function life(world: World): Promise<Record<string, Record_>> {
  return world.once('life', async () => {
    const { uri } = await world.online();
    const seen: Record<string, Record_> = { online: await world.get(uri) };
    const step = async (name: string, method: string, path: string, body?: unknown): Promise<void> => {
      const answer = await world.call(method, path, body);
      seen[`${name} accepted`] = { status: answer.status, ...answer.body };
      seen[name] = await world.settled(uri);
    };
    await step('reconfigure', 'PUT', `${uri}/reconfigure`, {
      id: uri.split('/').at(-1),
      method: 'reconfigure',
    });
    await step('reinstall', 'PUT', `${uri}/reinstall`);
    seen['poweron refused'] = await world.call('PUT', `${uri}/poweron`);
    seen['deploy refused'] = await world.call('PUT', `${uri}/deploy`);
    await step('shutdown', 'PUT', `${uri}/shutdown`);
    for (const name of ['shutdown', 'reinstall', 'reconfigure']) {
      seen[`${name} refused`] = await world.call(
        'PUT',
        `${uri}/${name}`,
        name === 'reconfigure' ? {} : undefined,
      );
    }
    await step('poweron', 'PUT', `${uri}/poweron`);
    await step('terminate', 'DELETE', `${uri}?operation=terminate`);
    seen['operations'] = await world.get(`${uri}/operations`);
    seen['delete'] = await world.call('DELETE', uri);
    seen['gone'] = await world.call('GET', uri);
    return seen;
  });
}

const refused = async (world: World, change: object): Promise<void> => {
  answers(await world.call('POST', '/services/instances', await world.deployRequest(change)), 400);
};

const operation = (mark: string, name: string): Row =>
  row('4.2', mark, `PUT ${name}: 202, or 409`, async (world) => {
    const seen = await life(world);
    if (name !== 'deploy') assert.equal(seen[`${name} accepted`]?.status, 202);
    assert.equal(seen[`${name} refused`]?.status, 409);
  });

export const instanceRows: readonly Row[] = [
  row('1', 'cdbabfe0', 'an instance deploys a box through a policy box', async (world) => {
    const instance = await world.running();
    assert.equal(instance.box, (await world.shared('script')).id);
    assert.equal(instance.policy_box.id, (await world.shared('policy')).id);
  }),
  row('1', 'b38c82ae', 'the lifecycle operations', async (world) => {
    const seen = await life(world);
    for (const name of ['reconfigure', 'reinstall', 'shutdown', 'poweron', 'terminate']) {
      assert.equal(seen[name]?.state, 'done', name);
    }
  }),
  row('2', '1526de64', 'instance ids begin with i-', async (world) => {
    assert.match((await world.running()).id, /^i-.{1,34}$/);
  }),
  row('2.6', '0ab7bb30', 'id and uri', async (world) => {
    const { id, uri } = await world.running();
    assert.equal(uri, `/services/instances/${id}`);
  }),
  row('2.6', 'af9dfcb2', 'the schema of instances', async (world) => {
    assert.equal((await world.running()).schema, `${await world.base()}/instance`);
  }),
  row('2.6', 'd5001be8 91ab5563', 'name', async (world) => {
    assert.equal((await world.deploy({ name: 'conf named' })).name, 'conf named');
  }),
  row('2.6', 'f133cfb0 b827853b', 'owner is the workspace of the deploy request', async (world) => {
    const personal = await world.personal();
    assert.equal((await world.running()).owner, personal.id);
    const team = await world.once('team', () => newTeam(world));
    assert.equal((await world.deploy({ owner: team.id })).owner, team.id);
    await refused(world, { owner: 'nobody-owns-this' });
  }),
  row(
    '2.6',
    '8b76bb55 f7e8a87e',
    'box is an object in requests and the id of the box in answers',
    async (world) => {
      const box = await world.shared('script');
      assert.equal((await world.running()).box, box.id);
      await refused(world, { box: undefined });
      await refused(world, { box: box.id });
    },
  ),
  row(
    '2.6',
    'f8b59c5d e1ac27fe',
    'policy_box is an id in requests and a full box in answers',
    async (world) => {
      const policy = await world.shared('policy');
      has((await world.running()).policy_box, 'id', 'name', 'profile', 'claims', 'provider_id', 'schema');
      await refused(world, { policy_box: undefined });
      await refused(world, { policy_box: { id: (await world.shared('script')).id } });
      const cloud = { id: (await world.shared('cloudformation')).id };
      await world.until((await world.awsProvider()).uri, (provider) => provider.state === 'ready');
      assert.equal((await world.deploy({ box: cloud, policy_box: cloud })).policy_box.id, cloud.id);
      assert.notEqual(policy.id, cloud.id);
    },
  ),
  row('2.6', '29973872', 'boxes form the deployed stack', async (world) => {
    const { boxes, box } = await nested(world);
    assert.equal(boxes.length, 2);
    assert.equal(boxes[0].id, box);
  }),
  row('2.6', 'de6f6d7c 5afd0417', 'automatic_updates: four values, off by default', async (world) => {
    assert.equal((await world.running()).automatic_updates, 'off');
    assert.equal((await world.deploy({ automatic_updates: 'minor' })).automatic_updates, 'minor');
    await refused(world, { automatic_updates: 'daily' });
  }),
  row('2.6', '44ef4d88 f9c958b1', 'service has type, id and machines', async (world) => {
    const { service } = await world.running();
    has(service, 'type', 'id', 'machines');
    assert.equal(service.type, 'Linux Compute');
    const cloud = { id: (await world.shared('cloudformation')).id };
    await world.until((await world.awsProvider()).uri, (provider) => provider.state === 'ready');
    assert.equal((await world.deploy({ box: cloud, policy_box: cloud })).service.type, 'S3 Bucket');
  }),
  row(
    '2.6',
    '04a68aac 65ff9140 731192a5 8cdf6ac3',
    'machines have name, state and workflow',
    async (world) => {
      const [machine] = (await nested(world)).service.machines;
      isText(machine.name);
      isOneOf(machine.state, 'processing', 'done', 'unavailable');
      assert.deepEqual(
        machine.workflow.map((entry: Record_) => [entry.box, entry.event]),
        [
          ['inner', 'install'],
          ['', 'install'],
          ['inner', 'configure'],
          ['', 'configure'],
        ],
      );
      isText(machine.workflow[0].script);
    },
  ),
  row('2.6', '7b666c1a', 'variables are variable objects that override', async (world) => {
    const [variable] = (await nested(world)).variables;
    holds(variable, { name: 'PORT', type: 'Port', value: '81' });
  }),
  row('2.6', 'c4e53b87 36288350', 'instance_tags become tags', async (world) => {
    assert.deepEqual((await world.running()).tags, ['conf']);
    await refused(world, { instance_tags: 'conf' });
  }),
  row('2.6', '234863b8', 'bindings have instance and name', async (world) => {
    const target = await world.running();
    const binding = { name: 'db', type: 'Binding', value: '', required: false, visibility: 'public' };
    const box = await world.boxWith('script', { variables: [binding] });
    const bound = await world.deploy({ box: { id: box.id, variables: [{ name: 'db', value: target.id }] } });
    assert.deepEqual(bound.bindings, [{ name: 'db', instance: target.id }]);
  }),
  row('2.6', '6fe2209c', 'members', async (world) => {
    isList((await world.running()).members);
  }),
  row('2.6', 'e2e1946b dba4341a 0a1832cd', 'state is processing, done or unavailable', async (world) => {
    isOneOf((await world.running()).state, 'processing', 'done', 'unavailable');
  }),
  row('2.6', 'dc65862d 6973cf44', 'operation has event, workspace and created', async (world) => {
    const { operation: running, owner } = await world.running();
    assert.equal(running.event, 'deploy');
    assert.equal(running.workspace, owner);
    isTimestamp(running.created);
    const seen = await life(world);
    assert.equal(seen['poweron']?.operation.event, 'poweron');
    isOneOf(seen['terminate']?.operation.event, 'terminate', 'terminate_service');
  }),
  row('2.6', 'b35f8f66 14e72f47 dec35d0e d6a8abc7 7554b368', 'the lease', async (world) => {
    const expire = inTime(3_600_000);
    const { lease } = await world.deploy({ lease: { operation: 'terminate', expire } });
    assert.deepEqual(lease, { operation: 'terminate', expire, released: false });
    assert.equal(
      (await world.deploy({ lease: { operation: 'alwayson' } })).lease?.operation ?? 'alwayson',
      'alwayson',
    );
    for (const name of ['shutdown', 'terminate']) await refused(world, { lease: { operation: name } });
    await refused(world, { lease: { operation: 'sleep', expire } });
    await refused(world, { lease: { operation: 'shutdown', expire: 'tomorrow' } });
  }),
  row('2.6', '1451b672', 'icon is text or null', async (world) => {
    isOneOf((await world.running()).icon, null, '/i.png');
  }),
  row('2.6', 'fcf91806', 'created, updated, deleted', async (world) => {
    const instance = await world.running();
    isTimestamp(instance.created);
    isTimestamp(instance.updated);
    assert.equal(instance.deleted, null);
  }),
  row('2.6', 'fc2af099 a16fa811', 'an operation record', async (world) => {
    const [record] = await world.get(`${(await nested(world)).uri}/operations`);
    has(record, 'username', 'updated', 'created', 'instance', 'state', 'workspace', 'id', 'deleted');
    assert.equal(record.operation, 'deploy');
    assert.equal(record.schema, `${await world.base()}/instance-operation`);
    for (const line of record.activity) {
      has(line, 'username', 'text', 'level');
      isTimestamp(line.created);
    }
    const levels = record.activity.map((line: Record_) => line.level);
    assert.ok(levels.includes('start') && levels.includes('info'), levels.join());
  }),
  row('2.6', 'f6b6af84', 'names of instances have at most 30 characters', async (world) => {
    await refused(world, { name: 'n'.repeat(31) });
    await refused(world, { name: '' });
  }),
  row('3', 'ef0043f8 80fb3e90 e6314ca5', 'POST starts a deploy and answers 202', async (world) => {
    const created = await world.deploy();
    assert.equal(created.state, 'processing');
    assert.equal(created.operation.event, 'deploy');
    isList(created.service.machines);
  }),
  row(
    '3',
    '27c65aef ee6e21f0',
    'terminate: 202, processing until it is over, then DELETE removes',
    async (world) => {
      const seen = await life(world);
      assert.equal(seen['terminate accepted']?.status, 202);
      assert.equal(seen['terminate']?.state, 'done');
      isOneOf(seen['delete']?.status, 200, 202, 204);
      isOneOf(seen['gone']?.status, 404, 403);
    },
  ),
  row('3', '6fd85382', 'a lease that expires runs its operation and is released', async (world) => {
    const expire = inTime(1_000);
    const { uri } = await world.deploy({ lease: { operation: 'shutdown', expire } });
    const after = await world.until(uri, (body) => body.lease?.released === true && body.state === 'done');
    isOneOf(after.operation.event, 'shutdown', 'shutdown_service');
  }),
  row(
    '3',
    'e6036447 6b46c156',
    'operations bring an instance and its machines back to done',
    async (world) => {
      const seen = await life(world);
      for (const machine of seen['reconfigure']?.service.machines ?? []) assert.equal(machine.state, 'done');
      const box = await world.boxWith('script', {
        events: { install: await world.upload('e.sh', 'exit 1\n') },
      });
      const failed = await world.online({ box: { id: box.id } });
      assert.equal(failed.state, 'unavailable');
      assert.equal(failed.operation.event, 'deploy');
      assert.equal((await world.expect(202, 'PUT', `${failed.uri}/deploy`)).state, 'processing');
    },
  ),
  row('3', '672a8dbe', 'while processing, operation says what runs', async (world) => {
    const seen = await life(world);
    for (const name of ['reconfigure', 'reinstall', 'shutdown', 'poweron']) {
      const accepted = seen[`${name} accepted`];
      assert.equal(accepted?.state, 'processing');
      assert.equal(accepted?.operation.event, name);
    }
  }),
  row('3', '772fc1a1', 'operations can be refused with 409', async (world) => {
    assert.equal((await life(world))['poweron refused']?.status, 409);
  }),
  reading('4.2', '755a3c35 26e60a1c', 'GET instances: a list', async (world) => {
    isList(await world.get('/services/instances'));
  }),
  row('4.2', '755a3c35 26e60a1c', 'GET instances lists those of the personal workspace', async (world) => {
    const { id } = await world.running();
    const entry = (await world.get('/services/instances')).find((other: Record_) => other.id === id);
    has(entry, 'id', 'uri', 'name', 'owner', 'state', 'operation', 'updated', 'tags');
  }),
  row('4.2', 'f5155bad b04352fd 6e71d686', 'POST instances: 202, or 400', async (world) => {
    await world.running();
    await refused(world, { schema: undefined });
    await refused(world, { schema: `${await world.base()}/instance` });
    await refused(world, { box: { id: 'none' } });
  }),
  row('4.2', 'c962f3fe', 'GET instance: 200, 403, 404', async (world) => {
    const { uri, id } = await world.running();
    assert.equal((await world.get(uri)).id, id);
    answers(await world.member.call('GET', uri), 403);
    answers(await world.call('GET', '/services/instances/i-000000'), 404);
  }),
  row(
    '4.2',
    'c5224b6d 6abc80bf',
    'PUT instance changes tags, lease, members and variables',
    async (world) => {
      const box = await world.boxWith('script', {
        variables: [{ name: 'A', type: 'Text', value: '', required: false, visibility: 'public' }],
      });
      const instance = await world.online({ box: { id: box.id } });
      const [{ id: member }] = (await world.member.call('GET', '/services/workspaces')).body;
      const members = [{ workspace: member, role: 'collaborator' }];
      const expire = inTime(3_600_000);
      const change = { tags: ['a', 'b'], members, name: 'not to be changed' };
      const answer = await world.call('PUT', instance.uri, {
        ...instance,
        ...change,
        variables: [{ name: 'A', type: 'Text', value: '1' }],
        lease: { operation: 'shutdown', expire },
      });
      answers(answer, 200, 202);
      const after = await world.get(instance.uri);
      holds(after, { tags: ['a', 'b'], members, name: instance.name });
      assert.equal(after.variables[0].value, '1');
      holds(after.lease, { operation: 'shutdown', expire });
      isBoolean(after.lease.released);
      answers(await world.call('PUT', instance.uri, { ...after, tags: 7 }), 400);
      answers(await world.call('PUT', '/services/instances/i-000000', after), 404);
      answers(await world.outsider.call('PUT', instance.uri, after), 403);
    },
  ),
  row(
    '4.2',
    '5e3515a3 c2d98f1e 6036f7de',
    'DELETE terminates, force-terminates and deletes',
    async (world) => {
      const instance = await world.deploy();
      answers(await world.call('DELETE', `${instance.uri}?operation=force_terminate`), 202);
      await world.settled(instance.uri);
      answers(await world.call('DELETE', `${instance.uri}?operation=delete`), 202);
      answers(await world.call('DELETE', `${(await world.running()).uri}?operation=explode`), 400);
    },
  ),
  row('4.2', 'f65bc921 6595aef8', 'GET operations: one record for each operation', async (world) => {
    assert.deepEqual(
      (await life(world))['operations']?.map((record: Record_) => record.operation),
      ['deploy', 'reconfigure', 'reinstall', 'shutdown', 'poweron', 'terminate'],
    );
  }),
  operation('bb97c727', 'deploy'),
  operation('f50d9cdf', 'poweron'),
  operation('f173ba1e', 'shutdown'),
  operation('8b90df58', 'reinstall'),
  operation('815dc6b9', 'reconfigure'),
  row(
    '4.2',
    'e8fdb95d e42309f6',
    'operations take no body; reconfigure takes id and method',
    async (world) => {
      const seen = await life(world);
      assert.equal(seen['reconfigure accepted']?.status, 202);
      assert.equal(seen['shutdown accepted']?.status, 202);
    },
  ),
  row(
    '4.2',
    '4f9f8846 4b064875 44d7a8a4 bfdbcd38 c47585a4 962cd8e9 f031eab1',
    'PUT pull applies a version, without an answer body',
    async (world) => {
      const box = await world.box('script');
      const publish = { ...box, version: { description: '', number: { major: 1, minor: 0, patch: 0 } } };
      const version = await world.expect(200, 'PUT', box.uri, publish);
      const instance = await world.online({ box: { id: box.id } });
      answers(await world.call('PUT', `${instance.uri}/pull`, {}), 400);
      const foreign = (await world.shared('script')).id;
      answers(await world.call('PUT', `${instance.uri}/pull`, { box_id: foreign }), 400);
      const answer = await world.call('PUT', `${instance.uri}/pull`, { box_id: version.id });
      answers(answer, 200, 202, 204);
      assert.equal(answer.text, '');
      const after = await world.settled(instance.uri);
      assert.equal(after.boxes[0].id, version.id);
      assert.equal(after.box, box.id);
    },
  ),
  row('4.2', 'eae72f95', 'service, activity, machine_logs and binding_instances answer', async (world) => {
    const { uri, service } = await nested(world);
    assert.equal((await world.get(`${uri}/service`)).id, service.id);
    isList(await world.get(`${uri}/activity`));
    isList(await world.get(`${uri}/binding_instances`));
    assert.match(await world.get(`${uri}/machine_logs?event=install`), /installing/);
  }),
  row('4.2', 'ef40a373', 'ipv4_address names an existing machine', async (world) => {
    assert.equal((await world.deploy({ ipv4_address: '192.0.2.7' })).ipv4_address, '192.0.2.7');
    await refused(world, { ipv4_address: 'here' });
  }),
  row('4.2', 'd9b595b5 e24cf9cd', 'removed parameters of the deploy request are refused', async (world) => {
    for (const name of ['environment', 'profile', 'variables']) await refused(world, { [name]: [] });
    assert.equal('environment' in (await world.running()), false);
  }),
];

/** A team workspace of the first user. */
export async function newTeam(world: World): Promise<Record_> {
  const team = await world.expect(200, 'POST', '/services/workspaces', {
    schema: `${await world.base()}/workspaces/team`,
    name: world.name(),
  });
  world.later(() => world.call('DELETE', team.uri));
  return team;
}
