import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { RealWorld } from '../support/real-world.ts';

interface BoxRecord {
  id: string;
  name: string;
  kind: string;
  visibility: string;
  icon: string;
  members: { workspace: string; role: string }[];
  variables: { name: string; type: string; value?: string }[];
  fields: { dockerfile?: { url: string } };
  version?: { number: { major: number; minor: number; patch: number } };
}

const MINIMAL = `
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: minimal}
spec: {connectionRef: {name: main}}
`;
const FULL = `
---
apiVersion: v1
kind: ConfigMap
metadata: {name: image-files}
data: {Dockerfile: FROM scratch}
binaryData: {image.png: cG5n}
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: full}
spec:
  connectionRef: {name: main}
  type: Docker
  name: full-image
  description: An image
  requirements: [Docker]
  visibility: Organization
  automaticUpdates: Minor
  members: [{workspace: qa, role: Read}]
  icon: {configMapKeyRef: {name: image-files, key: image.png}}
  dockerfile: {configMapKeyRef: {name: image-files, key: Dockerfile}}
  variables:
  - {name: PORT, type: Port, value: "80", required: true}
  - {name: db, type: Binding, boxRef: {name: minimal}}
  - {name: base, type: Box, boxRef: {name: minimal}, automaticUpdates: Patch}
  publish: {version: 1.0.0, description: First}
`;

describe('a box with everything', () => {
  let world: RealWorld;
  beforeAll(async () => {
    await installKinds(testCluster());
    world = await RealWorld.start({ poll: { settled: '1s' }, sandbox: { readings: { boxPut: 'more' } } });
    await world.put(world.connection() + MINIMAL + FULL);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const boxes = (): BoxRecord[] => world.sandbox.admin.records('boxes') as unknown as BoxRecord[];
  const record = (name: string): BoxRecord => {
    const found = boxes().find((box) => box.name === name && box.version === undefined);
    if (found === undefined) throw new Error(`no box ${name}`);
    return found;
  };
  const versions = (): string[] =>
    boxes().flatMap(({ version }) =>
      version === undefined ? [] : [Object.values(version.number).join('.')],
    );

  it('is on the service as declared, with its version', async () => {
    await world.ready('Box', 'minimal');
    const { status } = await world.ready('Box', 'full');
    const made = record('full-image');
    expect(made).toMatchObject({
      kind: 'docker',
      visibility: 'organization',
      automatic_updates: 'minor',
      members: [{ workspace: 'qa', role: 'read' }],
      icon: expect.stringContaining('/icon.png'),
      fields: { dockerfile: { url: expect.stringContaining('/Dockerfile') } },
    });
    expect(versions()).toEqual(['1.0.0']);
    expect(status).toMatchObject({
      bindings: [record('minimal').id],
      stack: [made.id, record('minimal').id],
      published: { number: '1.0.0' },
      versions: [{ number: '1.0.0' }],
    });
    await world.condition('Box', 'full', { type: 'Published', status: 'True' });
  });

  it('follows a change of each field that can change, and refuses that of one that cannot', async () => {
    await world.edit('Box', 'full', {
      description: 'Another',
      visibility: 'Workspace',
      automaticUpdates: null,
      members: [{ workspace: 'ops' }],
      icon: null,
      dockerfile: { configMapKeyRef: null, inline: 'FROM alpine' },
      name: 'renamed',
      requirements: ['Linux'],
      variables: [{ name: 'PORT', type: 'Port', value: '81' }],
    });
    await world.ready('Box', 'full');
    expect(record('renamed')).toMatchObject({
      description: 'Another',
      visibility: 'workspace',
      automatic_updates: 'off',
      members: [{ workspace: 'ops', role: 'collaborator' }],
      icon: '',
      variables: [{ name: 'PORT', value: '81' }],
      fields: { requirements: ['Linux'] },
    });
    await world.condition('Box', 'full', { type: 'Published', status: 'False', reason: 'DraftAhead' });
    const refused = async (spec: object): Promise<string> =>
      world.edit('Box', 'full', spec).then(
        () => 'taken',
        (error: Error) => error.message,
      );
    expect(await refused({ type: 'Script', dockerfile: null })).toContain(
      'create a new Box of the other type',
    );
    expect(await refused({ owner: 'another' })).toContain('owner is immutable');
    expect(await refused({ connectionRef: { name: 'other' } })).toContain('connectionRef is immutable');
  });

  it('makes the next version when its number changes, and no other', async () => {
    await world.edit('Box', 'full', { publish: { version: '1.1.0' } });
    await world.condition('Box', 'full', { type: 'Published', status: 'True' });
    expect(versions().toSorted()).toEqual(['1.0.0', '1.1.0']);
    await world.stopOperator();
    await world.startOperator();
    await world.annotate('Box', 'full', { 'boxwright.dev/requested-at': 'again' });
    await eventually(
      'it was looked at',
      async () => (await world.get('Box', 'full'))?.status?.lastHandledRequest === 'again',
    );
    expect(versions().toSorted()).toEqual(['1.0.0', '1.1.0']);
  });

  it('is corrected, reported or left when somebody changes it, as driftPolicy says', async () => {
    const byHand = (): void =>
      world.sandbox.admin.editRecord('boxes', record('renamed').id, { visibility: 'public', members: [] });
    byHand();
    await eventually('it is as declared again', () => record('renamed').visibility === 'workspace');
    expect(record('renamed').members).toHaveLength(1);
    await world.edit('Box', 'full', { driftPolicy: 'Report' });
    await world.ready('Box', 'full');
    byHand();
    const said = await world.condition('Box', 'full', { type: 'Drifted', status: 'True' });
    expect(said.message).toContain('members.ops, visibility');
    await world.edit('Box', 'full', { driftPolicy: 'Ignore' });
    await eventually('nothing is said', async () => {
      const { status } = await world.ready('Box', 'full');
      return status?.conditions?.every(({ type }) => type !== 'Drifted') === true;
    });
    expect(record('renamed').visibility).toBe('public');
  });

  it('may be observed, let go, adopted, and deleted', async () => {
    const { id } = record('renamed');
    await world.edit('Box', 'full', { deletionPolicy: 'Orphan' });
    await world.delete('Box', 'full');
    await world.gone('Box', 'full');
    const adopting = (more: string): string => `
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: again, annotations: {boxwright.dev/adopt: ${id}}}
spec: {connectionRef: {name: main}, type: Docker, name: renamed, ${more}}
`;
    await world.put(adopting('managementPolicy: Observe'));
    const { status } = await world.ready('Box', 'again');
    expect(status).toMatchObject({ id, organization: expect.any(String), draftFrom: expect.any(String) });
    expect(record('renamed').visibility).toBe('public');
    await world.edit('Box', 'again', { managementPolicy: 'Full', deletionPolicy: 'Delete' });
    await eventually('it is as declared', () => record('renamed').visibility === 'workspace');
    await world.ready('Box', 'again');
    await world.delete('Box', 'again');
    await world.gone('Box', 'again');
    expect(boxes().map(({ name }) => name)).toEqual(['minimal']);
  });
});
