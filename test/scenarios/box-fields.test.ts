import { beforeEach, describe, expect, it } from 'vitest';
import { CONNECTION, World } from '../support/world.ts';

interface BoxDoc {
  id: string;
  name: string;
  kind: string;
  description: string;
  visibility: string;
  automatic_updates: string;
  icon: string;
  members: { workspace: string; role: string }[];
  variables: { name: string; type: string; value?: string; automatic_updates?: string }[];
  /** What only some types of box have. */
  fields: {
    events?: Record<string, { url: string; content_type?: string }>;
    dockerfile?: { url: string } | null;
    type?: string;
    profile?: Record<string, unknown>;
  };
}

const box = (name: string, spec: string): string => `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: ${name}}
spec:
  connectionRef: {name: main}
${spec}
`;

const DOCKER = box('image', '  type: Docker\n  requirements: [Docker]\n  dockerfile: {inline: FROM scratch}');

let world: World;

/** A world whose service changes by PUT what the interface lists, or more. */
async function begin(boxPut: 'interface' | 'more'): Promise<void> {
  world = new World({ sandbox: { readings: { boxPut } } });
  world.start();
  await world.apply(CONNECTION);
  await world.until(() => world.ready('Connection', 'main') === 'True');
}

const ready = (name = 'web'): string =>
  `${world.ready('Box', name)} ${world.condition('Box', name, 'Ready')?.reason}`;
const settled = (name = 'web'): Promise<void> =>
  world.until(() => {
    const { metadata, status } = world.get('Box', name) ?? {};
    return ready(name) === 'True Settled' && status?.observedGeneration === metadata?.generation;
  });
const record = (name = 'web'): BoxDoc => {
  const boxes = world.sandbox.admin.records('boxes') as unknown as BoxDoc[];
  const found = boxes.find((other) => other.name === name);
  if (found === undefined) throw new Error(`no box ${name}`);
  return found;
};
const status = (name = 'web'): Record<string, unknown> => world.get('Box', name)?.status ?? {};
const uploads = (): number =>
  world.sandbox.admin.calls({}).filter(({ route }) => route === '/services/blobs/upload/{file_name}').length;
const file = (url: string | undefined): string | undefined => url?.split('/').at(-1);

/** Everything of a record that a declaration decides. */
const declared = (name?: string): unknown => {
  const { visibility, automatic_updates, icon, members, variables, fields, description } = record(name);
  return structuredClone({ description, visibility, automatic_updates, icon, members, variables, fields });
};

const map = (text: string): string =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: files}, data: {Dockerfile: "${text}"}}`;

const spec = (providerId: string): string =>
  `  type: CloudFormation\n  cloudFormation: {serviceType: S3 Bucket, providerId: ${providerId}, profile: {schema: aws/s3/profile, properties: {region: eu-west-1}}}`;
const provider = async (): Promise<string> => {
  const { sandbox } = world;
  const answer = await sandbox.handle({
    method: 'POST',
    path: '/services/providers',
    headers: {
      'service-token': 'token-of-ops',
      'service-release': '4.0',
      'content-type': 'application/json',
    },
    body: Buffer.from(
      JSON.stringify({
        schema: `${sandbox.schemaBase}/aws/provider`,
        type: 'Amazon Web Services',
        name: 'aws',
        credentials: { role: 'r' },
      }),
    ),
  });
  return (JSON.parse(Buffer.from(answer.body).toString()) as { id: string }).id;
};

const peer = (name: string, other: string): string =>
  box(name, `  variables: [{name: peer, type: Binding, boxRef: {name: ${other}}}]`);

describe('a Docker box', () => {
  beforeEach(() => begin('interface'));

  it('has its Dockerfile from the create on, which some services take then only', async () => {
    await world.apply(DOCKER);
    await settled('image');
    expect(record('image')).toMatchObject({ kind: 'docker', fields: { requirements: ['Docker'] } });
    expect(file(record('image').fields.dockerfile?.url)).toBe('Dockerfile');
    expect(uploads()).toBe(1);
    expect(status('image')['files']).toMatchObject([{ path: 'dockerfile' }]);
  });

  it('says that a service keeps the Dockerfile that it was made with, and still takes all else', async () => {
    await world.apply(DOCKER);
    await settled('image');
    await world.edit('Box', 'image', { dockerfile: { inline: 'FROM alpine' }, description: 'New' });
    await world.until(() => world.condition('Box', 'image', 'Ready')?.reason === 'NotApplied');
    expect(world.condition('Box', 'image', 'Ready')?.message).toContain('dockerfile');
    expect(record('image')).toMatchObject({ description: 'New' });
    await world.edit('Box', 'image', { dockerfile: { inline: 'FROM scratch' } });
    await settled('image');
  });

  it('takes the Dockerfile from a ConfigMap and follows it, where the service takes a new one', async () => {
    await begin('more');
    await world.apply(map('FROM one'));
    await world.apply(
      box('image', '  type: Docker\n  dockerfile: {configMapKeyRef: {name: files, key: Dockerfile}}'),
    );
    await settled('image');
    const { url } = record('image').fields.dockerfile ?? {};
    await world.apply(map('FROM two'));
    await world.until(() => record('image').fields.dockerfile?.url !== url);
    await settled('image');
    // Without one again, and with it again: the same record as at first, but for where the file is.
    await world.edit('Box', 'image', { dockerfile: null });
    await world.until(() => !record('image').fields.dockerfile);
    await settled('image');
    expect(status('image')['files']).toBeUndefined();
    await world.edit('Box', 'image', { dockerfile: { inline: 'FROM two' } });
    await world.until(() => file(record('image').fields.dockerfile?.url) === 'Dockerfile');
    await settled('image');
  });

  it('is not taken over by a Box of another type', async () => {
    await world.apply(DOCKER);
    await settled('image');
    const { id } = record('image');
    await world.edit('Box', 'image', { deletionPolicy: 'Orphan' });
    await world.delete('Box', 'image');
    await world.until(() => world.get('Box', 'image') === undefined);
    await world.apply(
      box('web', '').replace('{name: web}', `{name: web, annotations: {boxwright.dev/adopt: ${id}}}`),
    );
    await world.until(() => world.condition('Box', 'web', 'Ready')?.reason === 'Conflict');
    expect(world.condition('Box', 'web', 'Ready')?.message).toContain('box of type "docker", not "script"');
  });
});

describe('a CloudFormation box', () => {
  it('waits for its provider, and has its service type and profile from the create on', async () => {
    await begin('interface');
    const id = await provider();
    await world.apply(box('web', spec(id)));
    await world.until(() => ready() === 'False WaitingForReference');
    await settled();
    expect(record()).toMatchObject({
      kind: 'cloudformation',
      fields: { type: 'S3 Bucket', provider_id: id, profile: { region: 'eu-west-1' } },
    });
    expect(status()['managed']).toMatchObject({ profile: ['/region', '/schema'] });
  });

  it('says that a service keeps what it was made with', async () => {
    await begin('interface');
    const id = await provider();
    await world.apply(box('web', spec(id)));
    await settled();
    await world.edit('Box', 'web', { cloudFormation: { serviceType: 'Dynamo DB Domain' } });
    await world.until(() => ready() === 'False NotApplied');
    expect(world.condition('Box', 'web', 'Ready')?.message).toContain('type (declared Dynamo DB Domain');
    await world.edit('Box', 'web', { cloudFormation: { serviceType: 'S3 Bucket' } });
    await settled();
  });

  it('names a provider that nobody knows', async () => {
    await begin('interface');
    await world.apply(box('web', spec('nobody')));
    await world.until(() => ready() === 'False ReferenceNotFound');
    expect(world.condition('Box', 'web', 'Ready')?.message).toContain('spec.cloudFormation.providerId');
  });
});

const ICON = `{apiVersion: v1, kind: ConfigMap, metadata: {name: icons}, binaryData: {web.png: ${Buffer.from('png').toString('base64')}, web: aWNvbg==}}`;

/** Each field about sharing and looks, and some more, with a value other than its default. */
const FIELDS: Readonly<Record<string, unknown>> = {
  description: 'Front',
  requirements: ['Linux'],
  visibility: 'Organization',
  automaticUpdates: 'Minor',
  members: [{ workspace: 'shop', role: 'Read' }],
  icon: { configMapKeyRef: { name: 'icons', key: 'web.png' } },
  events: { install: { inline: 'echo', contentType: 'text/x-python', destinationPath: '/opt' } },
  variables: [{ name: 'any', type: 'Binding' }],
};

/** What of status a declaration decides. */
const decided = (): unknown =>
  structuredClone(
    ['files', 'managed', 'draftHash', 'aboutHash', 'bindings', 'stack'].map((part) => status()[part]),
  );
/** The same content may be uploaded twice. */
const withoutUrls = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/download\/[0-9a-f]{24}/g, 'download/id'));

describe('what a box is to others', () => {
  beforeEach(() => begin('more'));

  it('is shared with members, and those that others added stay', async () => {
    await world.apply(box('web', '  members: [{workspace: shop, role: Read}]'));
    await settled();
    expect(record().members).toEqual([{ workspace: 'shop', role: 'read' }]);
    expect(status()['managed']).toEqual({ members: ['shop'] });
    world.sandbox.admin.editRecord('boxes', record().id, {
      members: [{ workspace: 'theirs', role: 'read' }, ...record().members],
    });
    await world.edit('Box', 'web', { members: [{ workspace: 'shop', role: 'Collaborator' }] });
    await world.until(() => record().members.some(({ role }) => role === 'collaborator'));
    expect(record().members).toEqual([
      { workspace: 'theirs', role: 'read' },
      { workspace: 'shop', role: 'collaborator' },
    ]);
    await world.edit('Box', 'web', { members: [] });
    await world.until(() => record().members.length === 1);
    await settled();
    expect(record().members).toEqual([{ workspace: 'theirs', role: 'read' }]);
    expect(status()['managed']).toBeUndefined();
  });

  it('has a member that somebody takes away back, says so, or leaves it, as driftPolicy says', async () => {
    await world.apply(box('web', '  members: [{workspace: shop}]'));
    await settled();
    const take = (): void => world.sandbox.admin.editRecord('boxes', record().id, { members: [] });
    take();
    await world.annotate('Box', 'web', { 'boxwright.dev/requested-at': '1' });
    await world.until(() => record().members.length === 1);
    await world.edit('Box', 'web', { driftPolicy: 'Report' });
    await settled();
    take();
    await world.annotate('Box', 'web', { 'boxwright.dev/requested-at': '2' });
    await world.until(() => world.condition('Box', 'web', 'Drifted') !== undefined);
    expect(status()['drift']).toEqual([{ field: 'members.shop', want: 'collaborator', have: 'absent' }]);
    await world.edit('Box', 'web', { driftPolicy: 'Ignore' });
    await world.until(() => world.condition('Box', 'web', 'Drifted') === undefined);
    expect(record().members).toEqual([]);
  });

  it.each(Object.entries(FIELDS))(
    'returns to the same record and status when %s is set, unset, and set again',
    async (field, value) => {
      await world.apply(ICON);
      await world.apply(box('web', ''));
      await settled();
      const bare = { record: declared(), status: decided() };
      await world.edit('Box', 'web', { [field]: value });
      await settled();
      const set = { record: declared(), status: decided() };
      expect(set.record).not.toEqual(bare.record);
      await world.edit('Box', 'web', { [field]: null });
      await settled();
      expect({ record: declared(), status: decided() }).toEqual(bare);
      await world.edit('Box', 'web', { [field]: value });
      await settled();
      expect(withoutUrls({ record: declared(), status: decided() })).toEqual(withoutUrls(set));
    },
  );

  it.each(['constructor', '__proto__', 'exe'])(
    'has no icon of a key that ends in %s, and says so',
    async (end) => {
      const data = `{apiVersion: v1, kind: ConfigMap, metadata: {name: icons}, data: {web.${end}: x}}`;
      await world.apply(data);
      await world.apply(box('web', `  icon: {configMapKeyRef: {name: icons, key: web.${end}}}`));
      await world.until(() => world.ready('Box', 'web') === 'False');
      await world.advance(60_000);
      expect(world.condition('Box', 'web', 'Ready')?.message).toContain('does not say what picture it is');
    },
  );

  it('has an icon by the content of the ConfigMap, and no other that somebody chose is taken away', async () => {
    await world.apply(ICON);
    await world.apply(box('web', '  icon: {configMapKeyRef: {name: icons, key: web.png}}'));
    await settled();
    expect(file(record().icon)).toBe('icon.png');
    expect(uploads()).toBe(1);
    await world.edit('Box', 'web', { icon: null });
    await world.until(() => record().icon === '');
    await settled();
    world.sandbox.admin.editRecord('boxes', record().id, { icon: '/icons/theirs.png' });
    await world.edit('Box', 'web', { description: 'New' });
    await settled();
    expect(record().icon).toBe('/icons/theirs.png');
  });

  it('says what a picture has to be called', async () => {
    await world.apply(ICON);
    await world.apply(box('web', '  icon: {configMapKeyRef: {name: icons, key: web}}'));
    await world.until(() => ready() === 'False NeedsUser');
    expect(world.condition('Box', 'web', 'Ready')?.message).toContain('let it end in .gif');
  });

  it('is no change of what is deployed: instances are not told of one', async () => {
    await world.apply(box('web', ''));
    await settled();
    const { draftHash } = status();
    await world.edit('Box', 'web', { members: [{ workspace: 'shop' }], visibility: 'Organization' });
    await settled();
    expect(status()['draftHash']).toBe(draftHash);
    await world.edit('Box', 'web', { description: 'New' });
    await settled();
    expect(status()['draftHash']).not.toBe(draftHash);
  });

  it('says that this service has no readme for a script, and puts all else in place', async () => {
    await begin('interface');
    await world.apply(box('web', '  readme: {inline: "# Web"}\n  description: Front'));
    await world.until(() => ready() === 'False NotApplied');
    expect(world.condition('Box', 'web', 'Ready')?.message).toContain('readme');
    expect(record()).toMatchObject({ description: 'Front' });
    await world.edit('Box', 'web', { readme: null });
    await settled();
  });

  it('shows the organization, and what Bindings name', async () => {
    await world.apply(box('db', ''));
    await settled('db');
    await world.apply(box('web', '  variables: [{name: db, type: Binding, boxRef: {name: db}}]'));
    await settled();
    expect(record().variables).toMatchObject([{ type: 'Binding', value: record('db').id }]);
    expect(status()).toMatchObject({ bindings: [record('db').id], organization: expect.any(String) });
  });
});

describe('boxes that name each other in Bindings', () => {
  beforeEach(() => begin('interface'));

  it('are all made, and go together', async () => {
    await world.apply(peer('a', 'b') + '---' + peer('b', 'a') + '---' + peer('self', 'self'));
    for (const name of ['a', 'b', 'self']) await settled(name);
    expect(record('a').variables[0]?.value).toBe(record('b').id);
    expect(record('self').variables[0]?.value).toBe(record('self').id);
    for (const name of ['a', 'b', 'self']) await world.delete('Box', name);
    await world.until(() => ['a', 'b', 'self'].every((name) => world.get('Box', name) === undefined));
    expect(world.sandbox.admin.records('boxes')).toEqual([]);
  });

  it('hold each other while one of them stays', async () => {
    await world.apply(box('b', '') + '---' + peer('a', 'b'));
    await settled('a');
    await world.delete('Box', 'b');
    await world.until(() => world.condition('Box', 'b', 'Ready')?.reason === 'InUse');
    expect(world.condition('Box', 'b', 'Ready')?.message).toContain('Box/a');
    await world.delete('Box', 'a');
    await world.until(() => world.get('Box', 'b') === undefined);
  });
});

describe('a nested box', () => {
  it('is followed to new versions as its variable says, and no more when it says nothing', async () => {
    await begin('interface');
    await world.apply(box('inner', ''));
    await settled('inner');
    const nested = (more: string): string =>
      box('web', `  variables: [{name: inner, type: Box, boxRef: {name: inner}${more}}]`);
    await world.apply(nested(''));
    await settled();
    expect(record().variables[0]?.automatic_updates ?? 'off').toBe('off');
    await world.apply(nested(', automaticUpdates: Minor'));
    await world.until(() => record().variables[0]?.automatic_updates === 'minor');
    await settled();
    await world.apply(nested(''));
    await world.until(() => record().variables[0]?.automatic_updates === 'off');
    await settled();
  });
});
