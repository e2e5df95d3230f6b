import { answers, assert, has, holds, isList, isOneOf, isText, isTimestamp, isUuid } from '../assert.ts';
import { reading, row, type Row } from '../row.ts';
import type { Record_, World } from '../world.ts';

const script = (world: World): Promise<Record_> => world.shared('script');
const text = (name: string, type = 'Text', value = 'x'): Record<string, unknown> => ({
  name,
  type,
  value,
  required: false,
  visibility: 'public',
});

/** A box with a variable of each type, and events. */
function rich(world: World): Promise<Record_> {
  return world.once('rich', async () => {
    const child = await script(world);
    const file = await world.upload('conf file.txt', 'content');
    return world.boxWith('script', {
      variables: [
        text('T'),
        text('P', 'Port', '80'),
        { ...text('F', 'File', file.url), scope: 'child' },
        { ...text('child', 'Box', child.id), automatic_updates: 'minor' },
        text('bound', 'Binding', child.id),
        { ...text('secret', 'Password', 's'), visibility: 'internal' },
      ],
      events: {
        install: { ...(await world.upload('install.sh', 'exit 0')), destination_path: 'scripts/i.sh' },
      },
    });
  });
}

const found = (box: Record_, name: string): Record_ =>
  box.variables.find((variable: Record_) => variable.name === name);

const number = (major: number, minor = 0, patch = 0): object => ({ major, minor, patch });

function versioned(world: World): Promise<{ box: Record_; version: Record_; newer: Record_ }> {
  return world.once('versioned', async () => {
    const box = await world.box('script');
    const publish = (major: number): Promise<Record_> =>
      world.expect(200, 'PUT', box.uri, { ...box, version: { description: 'v', number: number(major) } });
    const version = await publish(1);
    return { box, version, newer: await publish(2) };
  });
}

const refused = async (world: World, kind: string, change: object): Promise<void> => {
  const base = await world.base();
  const body = {
    schema: `${base}/boxes/${kind}`,
    name: world.name(),
    requirements: [],
    claims: [],
    provider_id: kind === 'cloudformation' ? (await world.awsProvider()).id : (await world.testProvider()).id,
    profile: { schema: `${base}/test/compute/profile` },
    type: 'S3 Bucket',
    ...change,
  };
  answers(await world.call('POST', '/services/boxes', body), 400);
};

export const boxRows: readonly Row[] = [
  row('1', 'f2af6443 ff7d5068 6f6e9e5d', 'boxes are of four types', async (world) => {
    for (const kind of ['script', 'policy', 'docker', 'cloudformation']) await world.shared(kind);
    await refused(world, 'mainframe', {});
  }),
  row('1', '5896d9cd 6f30cde9', 'a policy box holds profile and provider', async (world) => {
    has(await world.shared('policy'), 'profile', 'provider_id');
  }),
  row('2.1', '20eccc0d 4daa6208', 'the id of a box is a unique UUID', async (world) => {
    isUuid((await script(world)).id);
    assert.notEqual((await script(world)).id, (await world.shared('policy')).id);
  }),
  row('2.1', 'd5300fba ef7b02a4', 'uri is the path of the box', async (world) => {
    const box = await script(world);
    assert.equal(box.uri, `/services/boxes/${box.id}`);
  }),
  row('2.1', 'bd7d1a0b 9b1d3865', 'schema is one of the box schemas', async (world) => {
    assert.equal((await script(world)).schema, `${await world.base()}/boxes/script`);
  }),
  ...(
    [
      ['88afbf1c', 'script'],
      ['bfbb99b5', 'policy'],
      ['88f0b412', 'cloudformation'],
      ['dd5dfdbe', 'docker'],
    ] as const
  ).map(([mark, kind]) =>
    row('2.1', mark, `the schema URI of ${kind} boxes`, async (world) => {
      assert.equal((await world.shared(kind)).schema, `${await world.base()}/boxes/${kind}`);
    }),
  ),
  row('2.1', 'edcdf978 67021266', 'name and description are text', async (world) => {
    const box = await world.box('script', { description: 'what it is' });
    isText(box.name);
    assert.equal(box.description, 'what it is');
  }),
  row('2.1', '1982bd71', 'owner is the user, or the team', async (world) => {
    assert.equal((await script(world)).owner, (await world.personal()).id);
  }),
  row('2.1', '3e900bd9', 'organization names the organization of the box', async (world) => {
    assert.equal((await script(world)).organization, (await world.personal()).organization);
  }),
  row('2.1', '7424fb4a', 'visibility has three values and is workspace by default', async (world) => {
    assert.equal((await script(world)).visibility, 'workspace');
    for (const visibility of ['public', 'organization', 'workspace']) {
      assert.equal((await world.box('script', { visibility })).visibility, visibility);
    }
    await refused(world, 'script', { visibility: 'secret' });
  }),
  row('2.1', '2e9caea0', 'who sees a box by its visibility', async (world) => {
    const status = async (visibility: string): Promise<number[]> => {
      const { uri } = await world.box('script', { visibility });
      return [(await world.member.call('GET', uri)).status, (await world.outsider.call('GET', uri)).status];
    };
    assert.deepEqual(await status('public'), [200, 200]);
    assert.deepEqual(await status('organization'), [200, 403]);
    assert.deepEqual(await status('workspace'), [403, 403]);
  }),
  row('2.1', '065b9f6b', 'members are whom the box is shared with', async (world) => {
    const [{ id }] = (await world.member.call('GET', '/services/workspaces')).body;
    const box = await world.boxWith('script', { members: [{ workspace: id, role: 'collaborator' }] });
    isList(box.members);
    answers(await world.member.call('GET', box.uri), 200);
  }),
  row('2.1', '1b445089', 'icon is a uri', async (world) => {
    assert.equal((await world.box('script', { icon: '/icons/a.png' })).icon, '/icons/a.png');
  }),
  row('2.1', '6092352e b548ab33', 'created and updated are timestamps with microseconds', async (world) => {
    const box = await script(world);
    isTimestamp(box.created);
    isTimestamp(box.updated);
  }),
  row('2.1', '6609990d c9ac6620', 'deleted is null, or a date', async (world) => {
    assert.equal((await script(world)).deleted, null);
  }),
  row('2.1', '3d9b2059 24d0e0f5 0ef8a19b', 'variables have a name and a type', async (world) => {
    const box = await rich(world);
    isList(box.variables);
    assert.deepEqual(
      box.variables.map((variable: Record_) => [variable.name, variable.type]),
      [
        ['T', 'Text'],
        ['P', 'Port'],
        ['F', 'File'],
        ['child', 'Box'],
        ['bound', 'Binding'],
        ['secret', 'Password'],
      ],
    );
  }),
  row('2.1', '45262809', 'automatic_updates has four values and is off by default', async (world) => {
    assert.equal((await script(world)).automatic_updates, 'off');
    for (const level of ['major', 'minor', 'patch', 'off']) {
      assert.equal((await world.box('script', { automatic_updates: level })).automatic_updates, level);
    }
    await refused(world, 'script', { automatic_updates: 'daily' });
  }),
  row('2.1', '3dc3a149', 'draft_from is the version that the draft stands on', async (world) => {
    const { box, newer } = await versioned(world);
    assert.equal((await world.get(box.uri)).draft_from, newer.id);
  }),
  row('2.1', '79eb2d64 cfdb3ad3', 'version is there on versions only', async (world) => {
    const { box, version } = await versioned(world);
    has(version.version, 'box', 'description', 'number', 'workspace');
    assert.equal((await world.get(box.uri)).version, undefined);
  }),
  row('2.1', '38396389 f5b7630f', 'the parameters tags and service are gone', async (world) => {
    await refused(world, 'script', { tags: ['x'] });
    await refused(world, 'script', { service: 'Linux Compute' });
  }),
  row('2.1', 'da90a15e 27138002', 'a script box needs requirements and may have events', async (world) => {
    const box = await script(world);
    isList(box.requirements);
    has(box, 'events');
    await refused(world, 'script', { requirements: undefined });
    await refused(world, 'script', { requirements: 'Linux' });
  }),
  row('2.1', '1ea3024c', 'a policy box needs profile, provider and claims', async (world) => {
    const lifespan = { operation: 'none' };
    const box = await world.box('policy', { lifespan });
    isList(box.claims);
    assert.deepEqual(box.lifespan, lifespan);
    for (const name of ['profile', 'provider_id', 'claims'])
      await refused(world, 'policy', { [name]: undefined });
    for (const name of ['events', 'requirements']) assert.equal(box[name], undefined);
    const readme = await world.upload('readme.md', '# hi');
    assert.equal((await world.box('policy', { readme })).readme.url, readme.url);
  }),
  row('2.1', '1b91d711', 'a cloudformation box has one of eight types on an AWS provider', async (world) => {
    for (const type of [
      'CloudFormation Service',
      'MySQL Database Service',
      'Microsoft SQL Database Service',
      'Oracle Database Service',
      'PostgreSQL Database Service',
      'Memcached Service',
      'S3 Bucket',
      'Dynamo DB Domain',
    ]) {
      assert.equal((await world.box('cloudformation', { type })).type, type);
    }
    await refused(world, 'cloudformation', { type: 'Mainframe' });
    await refused(world, 'cloudformation', { requirements: undefined });
    await refused(world, 'cloudformation', { provider_id: (await world.testProvider()).id });
    assert.equal((await world.shared('cloudformation')).events, undefined);
  }),
  row('2.1', '5b570d3c', 'a docker box has requirements and may have a dockerfile', async (world) => {
    const file = await world.upload('Dockerfile', 'FROM scratch');
    const box = await world.box('docker', { dockerfile: file });
    holds(box.dockerfile, { url: file.url, length: 12 });
    await refused(world, 'docker', { requirements: undefined });
  }),
  row(
    '2.2',
    '67953858',
    'values of Box and Binding variables are box ids, of File variables paths',
    async (world) => {
      const box = await rich(world);
      const { id } = await script(world);
      assert.equal(found(box, 'child').value, id);
      assert.equal(found(box, 'bound').value, id);
      assert.match(found(box, 'F').value, /^\/services\/blobs\/download\//);
    },
  ),
  row('2.2', 'f0428526 54c68a5c', 'required is a boolean, visibility public or internal', async (world) => {
    const box = await rich(world);
    assert.equal(found(box, 'T').required, false);
    assert.equal(found(box, 'T').visibility, 'public');
    assert.equal(found(box, 'secret').visibility, 'internal');
  }),
  row('2.2', 'ff2cc9db', 'scope names the Box variable that owns a variable', async (world) => {
    const box = await rich(world);
    assert.equal(found(box, 'F').scope, 'child');
    assert.equal(found(box, 'T').scope, undefined);
  }),
  row('2.2', 'e63ffaf5', 'Box variables have automatic_updates', async (world) => {
    assert.equal(found(await rich(world), 'child').automatic_updates, 'minor');
  }),
  row('2.3', '1c651bba 6bd91256 a20acf88 0f83d499', 'the version object', async (world) => {
    const { box, version } = await versioned(world);
    assert.deepEqual(version.version, {
      box: box.id,
      description: 'v',
      number: number(1),
      workspace: box.owner,
    });
  }),
  row(
    '2.4',
    '09ee91b8 cb7aee1f 15c541d3 6501a22d a249999c',
    'a box takes every event name',
    async (world) => {
      const file = await world.upload('e.sh', 'exit 0');
      const names = ['pre_configure', 'configure', 'pre_install', 'install', 'pre_start', 'start'];
      names.push('pre_stop', 'stop', 'post_stop', 'pre_dispose', 'dispose', 'post_dispose');
      const events = Object.fromEntries(names.map((name) => [name, file]));
      const box = await world.boxWith('script', { events });
      assert.deepEqual(Object.keys(box.events).toSorted(), names.toSorted());
      answers(await world.call('PUT', box.uri, { ...box, events: { explode: file } }), 400);
    },
  ),
  row('2.4', '7f9f8e96 2d758fc9', 'deprecated event names still work', async (world) => {
    const file = await world.upload('e.sh', 'exit 0');
    const events = { post_install: file, post_configure: file, post_start: file };
    const box = await world.boxWith('script', { events });
    assert.equal(Object.keys(box.events).length, 3);
  }),
  row('2.4', '2bfb11c6 561dc375', 'an event is a stored script with a destination', async (world) => {
    const { events } = await rich(world);
    assert.match(events.install.url, /^\/services\/blobs\/download\//);
    holds(events.install, { length: 6, destination_path: 'scripts/i.sh', content_type: 'text/plain' });
    isText(events.install.upload_date);
  }),
  row('2.4', '8dd30251', 'an empty object means no events', async (world) => {
    assert.deepEqual((await script(world)).events, {});
    const box = await world.boxWith('script', { events: {} });
    assert.deepEqual(box.events, {});
  }),
  row('2.5', 'ff6e9e4b', 'a profile carries its schema', async (world) => {
    isText((await world.shared('policy')).profile.schema);
    await refused(world, 'policy', { profile: { flavor: 'x' } });
  }),
  row('2.5', '97d85b21 ac241efc', 'a profile keeps every property, known or not', async (world) => {
    const properties = {
      instances: 2,
      image: 'i',
      flavor: 'f',
      location: 'l',
      keypair: 'k',
      cloud: 'c',
      security_groups: ['s'],
      subnet: 'n',
      resource_pool: 'r',
      datacenter: 'd',
      network: 'n',
      network_mor: 'm',
      disks: [{ datastore: 'd', name: 'n', template: 't', size: 1 }],
      customization_spec: 'c',
      template: 't',
      datastore: 'd',
      folder: 'f',
      compute_resource: 'c',
      something_else: true,
    };
    const profile = { schema: `${await world.base()}/vsphere/compute/profile`, ...properties };
    assert.deepEqual((await world.box('policy', { profile })).profile, profile);
  }),
  reading('4.1', '97300813', 'GET boxes: what the personal workspace has access to', async (world) => {
    const answer = await world.call('GET', '/services/boxes');
    answers(answer, 200);
    isList(answer.body);
  }),
  row('4.1', '97300813', 'GET boxes lists all four types and filters by ids', async (world) => {
    const ids: string[] = [];
    for (const kind of ['script', 'policy', 'docker', 'cloudformation'])
      ids.push((await world.shared(kind)).id);
    const all = (await world.get('/services/boxes')).map((box: Record_) => box.id);
    for (const id of ids) assert.ok(all.includes(id), id);
    const some = await world.get(`/services/boxes?ids=${ids[0]},${ids[1]}`);
    assert.deepEqual(some.map((box: Record_) => box.id).toSorted(), ids.slice(0, 2).toSorted());
  }),
  row('4.1', '89e49404', 'POST boxes: variables and events start empty; 400 and 409', async (world) => {
    const file = await world.upload('e.sh', 'exit 0');
    const box = await world.box('script', { variables: [text('A')], events: { install: file } });
    assert.deepEqual([box.variables, box.events], [[], {}]);
    await refused(world, 'script', { name: undefined });
    await refused(world, 'script', { schema: undefined });
    const again = { schema: box.schema, name: box.name, requirements: [] };
    answers(await world.call('POST', '/services/boxes', again), 409);
  }),
  row('4.1', '13310ae4', 'GET box: 200, 403, 404', async (world) => {
    const box = await script(world);
    assert.equal((await world.get(box.uri)).id, box.id);
    answers(await world.member.call('GET', box.uri), 403);
    answers(await world.call('GET', '/services/boxes/00000000-0000-4000-8000-00000000dead'), 404);
  }),
  row('4.1', 'b56e68bf', 'PUT box changes the listed fields only; 400, 403, 404', async (world) => {
    const box = await world.box('script');
    const install = await world.upload('e.sh', 'exit 0');
    const change = {
      files: [],
      ports: [],
      requirements: ['Windows'],
      description: 'd',
      icon: '/i.png',
      name: world.name(),
    };
    const put = await world.expect(200, 'PUT', box.uri, {
      ...box,
      ...change,
      variables: [text('A')],
      events: { install },
      owner: 'somebody',
      organization: 'other',
      visibility: 'public',
      automatic_updates: 'major',
    });
    const { owner, organization, visibility, automatic_updates } = box;
    holds(put, { ...change, owner, organization, visibility, automatic_updates });
    assert.equal(put.variables.length, 1);
    assert.equal(put.events.install.url, install.url);
    answers(await world.call('PUT', box.uri, { ...box, name: 7 }), 400);
    answers(await world.member.call('PUT', box.uri, box), 403);
    answers(await world.call('PUT', '/services/boxes/none', box), 404);
  }),
  row('4.1', 'd44d2f9d', 'DELETE box: 204 without a body at both spellings; 403, 404', async (world) => {
    const one = await world.box('script');
    answers(await world.member.call('DELETE', one.uri), 403);
    const answer = await world.call('DELETE', one.uri);
    assert.deepEqual([answer.status, answer.text], [204, '']);
    answers(await world.call('DELETE', one.uri), 404);
    answers(await world.call('GET', one.uri), 404);
    const two = await world.box('script');
    answers(await world.call('DELETE', `/services/box/${two.id}`), 204);
  }),
  row('4.1', '06f62fee', 'stack: the box first, then those of its Box variables', async (world) => {
    const box = await rich(world);
    const stack = await world.get(`${box.uri}/stack`);
    assert.deepEqual(
      stack.map((entry: Record_) => entry.id),
      [box.id, (await script(world)).id],
    );
  }),
  row('4.1', '32f6d9e8', 'bindings: id, uri, name and icon of bound boxes', async (world) => {
    const bound = await world.box('script', { icon: '/i.png' });
    const { uri } = await world.boxWith('script', { variables: [text('b', 'Binding', bound.id)] });
    const [entry] = await world.get(`${uri}/bindings`);
    assert.deepEqual(entry, { id: bound.id, uri: bound.uri, name: bound.name, icon: bound.icon });
  }),
  row(
    '4.1',
    'dcee021e 968c91b9',
    'versions: with version objects, empty when there is none',
    async (world) => {
      assert.deepEqual(await world.get(`${(await script(world)).uri}/versions`), []);
      const { box } = await versioned(world);
      const versions = await world.get(`${box.uri}/versions`);
      assert.equal(versions.length, 2);
      for (const entry of versions) assert.equal(entry.version.box, box.id);
      answers(await world.member.call('GET', `${box.uri}/versions`), 403);
      answers(await world.call('GET', '/services/boxes/none/versions'), 404);
    },
  ),
  row(
    '4.1',
    '0bb29147 d4b093b8 20b169d4',
    'diff compares with the stored box: 200, 403, 404',
    async (world) => {
      const box = await rich(world);
      const same = await world.expect(200, 'PUT', `${box.uri}/diff`, box);
      assert.equal(same.changed, false);
      const other = await world.expect(200, 'PUT', `${box.uri}/diff`, { ...box, description: 'other' });
      assert.equal(other.changed, true);
      answers(await world.member.call('PUT', `${box.uri}/diff`, box), 403);
      answers(await world.call('PUT', '/services/boxes/none/diff', box), 404);
    },
  ),
  row('4.1', '5b17b76c', 'diff of variables', async (world) => {
    const box = await rich(world);
    const file = await world.upload('conf file.txt', 'other');
    const variables = [{ ...text('T'), value: 'y' }, text('N'), { ...found(box, 'F'), value: file.url }];
    const { box_variables: diff } = await world.expect(200, 'PUT', `${box.uri}/diff`, { ...box, variables });
    assert.equal(diff.added.length, 1);
    assert.equal(diff.removed.length, 4);
    assert.equal(diff.changed.length, 2);
    assert.equal(diff.files_diff.length, 1);
  }),
  row('4.1', 'ed6d9bf6 e065f0e4', 'diff of profile properties, for policy boxes only', async (world) => {
    const policy = await world.shared('policy');
    const profile = { ...policy.profile, flavor: 'test.small' };
    const diff = await world.expect(200, 'PUT', `${policy.uri}/diff`, { ...policy, profile });
    has(diff.box_profile_properties, 'title', 'removed', 'added', 'changed');
    holds(diff.box_profile_properties.changed[0], {
      name: 'flavor',
      previous: 'test.micro',
      new: 'test.small',
    });
    const box = await script(world);
    const none = await world.expect(200, 'PUT', `${box.uri}/diff`, box);
    assert.equal(none.box_profile_properties, undefined);
  }),
  row('4.1', '7166ead0 a19dbdff', 'diff of details and events', async (world) => {
    const box = await rich(world);
    const diff = await world.expect(200, 'PUT', `${box.uri}/diff`, { ...box, name: 'n', events: {} });
    has(diff.box_details, 'removed', 'added', 'changed');
    assert.equal(diff.box_details.changed.length, 1);
    assert.equal(diff.box_events.length, 1);
    isOneOf(diff.changed, true);
  }),
];
