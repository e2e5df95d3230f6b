import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS } from '../../src/kube/index.ts';
import { CONNECTION, NAMESPACE, typeOfKind, World, type Shown } from '../support/world.ts';

const EXTERNAL_ID = 'boxwright.dev/external-id';
const CLAIM = 'boxwright.dev/claim';
const INSTALLATION = { namespace: 'boxwright-system', name: 'boxwright-installation' };

const box = (name: string, spec = '', annotations: Record<string, string> = {}): string => `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: ${name}, annotations: ${JSON.stringify(annotations)}}
spec:
  connectionRef: {name: main}
${spec}
`;
const elsewhere = (manifests: string): string =>
  manifests.replaceAll('metadata: {', 'metadata: {namespace: default, ');
const reasonOf = (world: World, name: string): string =>
  `${world.ready('Box', name)} ${world.condition('Box', name, 'Ready')?.reason}`;
const boxes = (world: World): { id: string; name: string; description?: string }[] =>
  world.sandbox.admin.records('boxes') as never;
const shown = (world: World, name: string): Shown => world.get('Box', name) as Shown;
const writes = (world: World): number =>
  world.sandbox.admin.calls({}).filter(({ method }) => method !== 'GET').length;

async function withBox(name = 'web', spec = ''): Promise<World> {
  const world = new World();
  world.start();
  await world.apply(CONNECTION);
  await world.apply(box(name, spec));
  await world.until(() => reasonOf(world, name) === 'True Settled');
  return world;
}

async function patch(world: World, name: string, metadata: object): Promise<void> {
  await world.user.mergePatch(typeOfKind('Box'), { namespace: NAMESPACE, name }, { metadata });
}

describe('a claim', () => {
  it('that was copied with a manifest is a conflict; the owner is not disturbed, neither record is touched', async () => {
    const world = await withBox();
    const { annotations = {} } = shown(world, 'web').metadata;
    await world.apply(
      box('copy', '', { [EXTERNAL_ID]: annotations[EXTERNAL_ID] ?? '', [CLAIM]: annotations[CLAIM] ?? '' }),
    );
    await world.until(() => reasonOf(world, 'copy') === 'False Conflict');
    await world.edit('Box', 'web', { description: 'Still mine' });
    await world.until(() => boxes(world)[0]?.description === 'Still mine');
    await world.delete('Box', 'copy');
    await world.until(() => world.get('Box', 'copy') === undefined);
    expect(boxes(world)).toHaveLength(1);
    await world.delete('Box', 'web');
    await world.until(() => world.get('Box', 'web') === undefined);
    expect(boxes(world)).toEqual([]);
  });

  it('on an older resource, where it does not count, takes nothing from the owner', async () => {
    const world = new World();
    world.start();
    await world.apply(CONNECTION);
    await world.apply(box('older', '  paused: true'));
    await world.advance(10_000);
    await world.apply(box('web'));
    await world.until(() => reasonOf(world, 'web') === 'True Settled');
    await patch(world, 'older', { annotations: { [EXTERNAL_ID]: shown(world, 'web').status?.id } });
    await world.until(() => world.condition('Box', 'older', 'Stalled')?.reason === 'Conflict');
    await world.edit('Box', 'web', { description: 'Mine' });
    await world.until(() => boxes(world)[0]?.description === 'Mine');
    await world.delete('Box', 'web');
    await world.until(() => world.get('Box', 'web') === undefined);
    expect(boxes(world)).toEqual([]);
  });

  it('wiped by a replace, finalizer and all, is restored from status', async () => {
    const world = await withBox();
    const { id } = shown(world, 'web').status ?? {};
    await patch(world, 'web', { annotations: null, finalizers: null });
    await world.until(() => shown(world, 'web').metadata.annotations?.[EXTERNAL_ID] === id);
    expect(shown(world, 'web').metadata.finalizers).toEqual(['boxwright.dev/finalizer']);
    await patch(world, 'web', { finalizers: null });
    await world.until(() => shown(world, 'web').metadata.finalizers?.length === 1);
    expect(boxes(world)).toHaveLength(1);
  });

  it('is restored while the service cannot be reached', async () => {
    const world = await withBox();
    world.sandbox.admin.addFault({ match: {}, status: 503 });
    await world.advance(1_200_000);
    await patch(world, 'web', { annotations: null, finalizers: null });
    await world.until(() => shown(world, 'web').metadata.finalizers?.length === 1, 20_000);
    expect(shown(world, 'web').metadata.annotations?.[CLAIM]).toBeDefined();
  });

  it('that differs from status is overwritten: nothing shows that the operator wrote it', async () => {
    const world = await withBox();
    const { annotations } = shown(world, 'web').metadata;
    await patch(world, 'web', { annotations: { [EXTERNAL_ID]: 'another' } });
    await world.until(() => shown(world, 'web').metadata.annotations?.[EXTERNAL_ID] !== 'another');
    expect(shown(world, 'web').metadata.annotations).toEqual(annotations);
    expect(reasonOf(world, 'web')).toBe('True Settled');
  });

  it('is taken up by what a backup brings back: another uid, the old annotations, status or none', async () => {
    for (const withStatus of [true, false]) {
      const world = await withBox('web', '  deletionPolicy: Orphan');
      const before = shown(world, 'web');
      await world.delete('Box', 'web');
      await world.until(() => world.get('Box', 'web') === undefined);
      await world.stop();
      await world.apply(box('web', '  description: Restored', before.metadata.annotations));
      if (withStatus) {
        await world.user.mergePatch(
          typeOfKind('Box'),
          { namespace: NAMESPACE, name: 'web' },
          { status: before.status ?? {} },
          { subresource: 'status' },
        );
      }
      world.start();
      await world.until(() => reasonOf(world, 'web') === 'True Settled');
      expect(boxes(world)).toMatchObject([{ id: before.status?.id, description: 'Restored' }]);
    }
  });
});

describe('two that adopt the same record', () => {
  it('are told apart by age: the older has it, and the younger takes over when that is gone', async () => {
    const world = await withBox('first', '  deletionPolicy: Orphan');
    const id = shown(world, 'first').status?.id ?? '';
    await world.delete('Box', 'first');
    await world.until(() => world.get('Box', 'first') === undefined);
    const adopt = { 'boxwright.dev/adopt': id };
    await world.apply(box('a', '  deletionPolicy: Orphan', adopt));
    await world.until(() => reasonOf(world, 'a') === 'True Settled');
    await world.apply(box('b', '', adopt));
    await world.until(() => reasonOf(world, 'b') === 'False Conflict');
    expect(world.condition('Box', 'b', 'Ready')?.message).toMatch(/^Box "a" holds this box: delete one/);
    await world.delete('Box', 'a');
    await world.until(() => reasonOf(world, 'b') === 'True Settled', 1_200_000);
    expect(boxes(world)).toMatchObject([{ id, name: 'b' }]);
  });

  it('learn nothing of each other across namespaces', async () => {
    const world = await withBox('first', '  deletionPolicy: Orphan');
    const id = shown(world, 'first').status?.id ?? '';
    await world.delete('Box', 'first');
    await world.until(() => world.get('Box', 'first') === undefined);
    const adopt = { 'boxwright.dev/adopt': id };
    await world.apply(elsewhere(CONNECTION));
    await world.apply(elsewhere(box('hidden', '  deletionPolicy: Orphan', adopt)));
    await world.advance(60_000);
    await world.apply(box('b', '', adopt));
    await world.until(() => reasonOf(world, 'b') === 'False Conflict');
    const { message = '' } = world.condition('Box', 'b', 'Ready') ?? {};
    expect(message).toMatch(/^Another Box, of another namespace, holds this box/);
    expect(message).not.toMatch(/hidden|default/);
  });

  it('a record that is in no list of the owner is not taken, for its absence could not be proved', async () => {
    const world = await withBox('first', '  deletionPolicy: Orphan\n  owner: shop');
    const id = shown(world, 'first').status?.id ?? '';
    await world.delete('Box', 'first');
    await world.until(() => world.get('Box', 'first') === undefined);
    await world.apply(box('a', '', { 'boxwright.dev/adopt': id }));
    await world.until(() => reasonOf(world, 'a') === 'False WaitingForReference');
    expect(world.condition('Box', 'a', 'Ready')?.message).toContain('spec.owner');
    expect(boxes(world)).toHaveLength(1);
  });
});

/** What comes of an edit and an orphaning deletion while the installation is not confirmed. */
async function unconfirmed(world: World): Promise<{ said: string; held: boolean; sent: number }> {
  const before = writes(world);
  await world.edit('Box', 'web', { description: 'must not be sent' });
  await world.until(() => reasonOf(world, 'web') === 'False Conflict');
  const said = world.condition('Box', 'web', 'Ready')?.message ?? '';
  await world.edit('Box', 'web', { deletionPolicy: 'Orphan' });
  await world.delete('Box', 'web');
  await world.advance(600_000);
  const held = world.get('Box', 'web')?.metadata.finalizers?.length === 1;
  return { said, held, sent: writes(world) - before };
}
const NOTHING_DONE = { said: expect.stringContaining('--installation-id') as string, held: true, sent: 0 };

describe('an installation', () => {
  it('whose ConfigMap was copied writes nothing and lets nothing go', async () => {
    const world = await withBox();
    await world.stop();
    const data = world.kube.get(CONFIG_MAPS, INSTALLATION)?.['data'];
    await world.user.delete(CONFIG_MAPS, INSTALLATION);
    await world.user.create(CONFIG_MAPS, { metadata: INSTALLATION, data });
    world.start();
    expect(await unconfirmed(world)).toEqual(NOTHING_DONE);
  });

  it('whose ConfigMap is gone while there are claims writes nothing and lets nothing go', async () => {
    const world = await withBox();
    await world.stop();
    await world.user.delete(CONFIG_MAPS, INSTALLATION);
    world.start();
    expect(await unconfirmed(world)).toEqual(NOTHING_DONE);
  });

  it('counts a record in status as a claim, though every annotation was wiped', async () => {
    const world = await withBox();
    await world.stop();
    await patch(world, 'web', { annotations: null });
    await world.user.delete(CONFIG_MAPS, INSTALLATION);
    world.start();
    expect(await unconfirmed(world)).toEqual(NOTHING_DONE);
  });
});
