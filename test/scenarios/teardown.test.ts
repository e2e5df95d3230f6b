import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { KindName } from '../../src/api/kinds.ts';
import { ownKinds } from '../support/fake-kube.ts';
import { CONNECTION, examples, seeded, World } from '../support/world.ts';

type AnyKind = KindName | 'Secret' | 'ConfigMap';
const OURS = ['Connection', 'Box', 'PolicyBox', 'Instance', 'InstanceLease'] as const;
const MANIFESTS = `${CONNECTION}---\n${examples()}`;
const OBJECTS = parseAllDocuments(MANIFESTS)
  .map((document) => document.toJS() as { kind: AnyKind; metadata: { name: string } } | null)
  .flatMap((object) => (object === null ? [] : [[object.kind, object.metadata.name] as const]));
const KINDS = ownKinds();

async function settled(): Promise<World> {
  const world = new World({ kinds: KINDS });
  world.start();
  await world.apply(MANIFESTS);
  await world.until(() => world.ready('Instance', 'web-eu') === 'True');
  await world.until(() => world.ready('InstanceLease', 'evening') === 'True');
  return world;
}

function left(world: World): string[] {
  return OURS.flatMap((kind) => world.list(kind).map(({ metadata }) => `${kind}/${metadata.name}`));
}

function records(world: World): unknown[] {
  return ['boxes' as const, 'instances' as const].flatMap((table) => world.sandbox.admin.records(table));
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = seeded(seed);
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const reversed = OBJECTS.toReversed();
const credentialsFirst = OBJECTS.toSorted(([a], [b]) => rank(a) - rank(b));
function rank(kind: AnyKind): number {
  return kind === 'Secret' ? 0 : kind === 'Connection' ? 1 : 2;
}
const ORDERS = [
  { first: 'credentials and connection', order: credentialsFirst, pauseMs: 30_000 },
  { first: 'what was applied last', order: reversed, pauseMs: 30_000 },
  ...Array.from({ length: 10 }, (_, at) => ({
    first: `as it falls, ${at + 1}`,
    order: shuffled(OBJECTS, at + 1),
    pauseMs: [0, 700, 5_000][at % 3] ?? 0,
  })),
];

describe('a deletion of everything, as a cascade or a namespace that ends brings it', () => {
  it.each(ORDERS)('ends and leaves no record, whatever goes first: $first', async ({ order, pauseMs }) => {
    const world = await settled();
    for (const [kind, name] of order) {
      await world.delete(kind, name);
      await world.advance(pauseMs);
    }
    await world.until(() => left(world).length === 0, 1_800_000);
    expect(records(world)).toEqual([]);
  });

  it('goes on where it was when the operator was away meanwhile', async () => {
    const world = await settled();
    await world.stop();
    for (const [kind, name] of OBJECTS) if (kind !== 'Secret') await world.delete(kind, name);
    await world.advance(600_000);
    expect(left(world)).not.toEqual([]);
    world.start();
    await world.until(() => left(world).length === 0, 1_800_000);
    expect(records(world)).toEqual([]);
  });

  it('that took the credentials while the operator was away says so, and ends when they are back', async () => {
    const world = await settled();
    await world.stop();
    for (const [kind, name] of OBJECTS) await world.delete(kind, name);
    world.start();
    await world.until(() => world.condition('Instance', 'web-eu', 'Ready')?.reason === 'CredentialsMissing');
    await world.advance(600_000);
    expect(records(world)).not.toEqual([]);
    const [secret = ''] = CONNECTION.split('---');
    await world.apply(secret);
    await world.until(() => left(world).length === 0, 1_800_000);
    expect(records(world)).toEqual([]);
  });

  it('that took the credentials meanwhile also ends by letting go of the records', async () => {
    const world = await settled();
    const before = records(world).length;
    await world.stop();
    for (const [kind, name] of OBJECTS) await world.delete(kind, name);
    world.start();
    await world.until(() => world.condition('Instance', 'web-eu', 'Ready')?.reason === 'CredentialsMissing');
    for (const kind of ['Instance', 'Box', 'PolicyBox'] as const) {
      for (const { metadata } of world.list(kind)) {
        await world.edit(kind, metadata.name, { deletionPolicy: 'Orphan' });
      }
    }
    await world.until(() => left(world).length === 0, 1_800_000);
    expect(records(world)).toHaveLength(before);
  });
});
