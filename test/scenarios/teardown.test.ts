import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { KindName } from '../../src/api/kinds.ts';
import { KEPT_SECRET } from '../../src/controllers/connection/index.ts';
import { SECRETS } from '../../src/kube/index.ts';
import { ownKinds } from '../support/fake-kube.ts';
import { CONNECTION, examples, seeded, World, type WorldOptions } from '../support/world.ts';

type AnyKind = KindName | 'Secret' | 'ConfigMap';
const OURS = ['Connection', 'Box', 'PolicyBox', 'Instance', 'InstanceLease'] as const;
const MANIFESTS = `${CONNECTION}---\n${examples()}`;
const OBJECTS = parseAllDocuments(MANIFESTS)
  .map((document) => document.toJS() as { kind: AnyKind; metadata: { name: string } } | null)
  .flatMap((object) => (object === null ? [] : [[object.kind, object.metadata.name] as const]));
const KINDS = ownKinds();

async function settled(options: WorldOptions = {}): Promise<World> {
  const world = new World({ kinds: KINDS, ...options });
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

/** What the operator's own Secret keeps. */
function kept(world: World): string[] {
  const secret = world.kube.list(SECRETS).find(({ metadata }) => metadata.name === KEPT_SECRET) as
    { data?: Record<string, string> } | undefined;
  return Object.values(secret?.data ?? {}).map((value) => Buffer.from(value, 'base64').toString());
}

/** Everything is deleted, and the operator ends in the middle of it; another one starts after `awayMs`. */
async function restartedAmid(
  order: typeof OBJECTS,
  awayMs = 60_000,
  meanwhile: (world: World) => unknown = () => undefined,
): Promise<World> {
  const world = await settled({ keepCredentials: true });
  for (const [kind, name] of order) await world.delete(kind, name);
  await world.until(() => kept(world).length > 0);
  world.kill();
  expect(records(world)).not.toEqual([]);
  for (const text of kept(world)) expect(text).not.toContain('token-of-ops');
  await meanwhile(world);
  await world.advance(awayMs);
  world.start();
  return world;
}

const credentialsMissing = (world: World): boolean =>
  world.condition('Instance', 'web-eu', 'Ready')?.reason === 'CredentialsMissing';

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

  it.each([
    ['with the Secret first', credentialsFirst],
    ['with the Secret last', reversed],
  ] as const)('%s ends over a restart where credentials are kept for deletions', async (_order, order) => {
    const world = await restartedAmid(order);
    await world.until(() => left(world).length === 0, 1_800_000);
    expect(records(world)).toEqual([]);
    await world.until(() => kept(world).length === 0);
  });

  it('does not keep credentials for longer than a day', async () => {
    const world = await restartedAmid(credentialsFirst, 25 * 3_600_000);
    await world.until(() => credentialsMissing(world));
    await world.until(() => kept(world).length === 0, 600_000);
    expect(records(world)).not.toEqual([]);
  });

  it.each([
    ['that the service refuses', (world: World) => world.sandbox.admin.revokeTokens()],
    [
      'that somebody has changed',
      (world: World) => {
        const [text = ''] = kept(world);
        const entry = JSON.parse(text) as { until: string };
        const changed = JSON.stringify({ ...entry, until: '2999-01-01T00:00:00.000Z' });
        const uid = world.get('Connection', 'main')?.metadata.uid ?? '';
        return world.user.mergePatch(
          SECRETS,
          { namespace: 'boxwright-system', name: KEPT_SECRET },
          { data: { [uid]: Buffer.from(changed).toString('base64') } },
        );
      },
    ],
  ])('does not use kept credentials %s', async (_what, spoil) => {
    const world = await restartedAmid(credentialsFirst, 60_000, spoil);
    await world.until(() => credentialsMissing(world));
    await world.until(() => kept(world).length === 0);
    expect(records(world)).not.toEqual([]);
  });

  it('does not send kept credentials to another endpoint', async () => {
    const world = await restartedAmid(credentialsFirst, 60_000, (moved) =>
      moved.edit('Connection', 'main', { endpoint: 'https://other.test' }),
    );
    await world.until(() => credentialsMissing(world));
    await world.edit('Connection', 'main', { endpoint: 'https://service.test' });
    await world.until(() => left(world).length === 0, 1_800_000);
    expect(records(world)).toEqual([]);
  });

  it('goes on with another connection of the namespace to the same account', async () => {
    const world = await settled();
    await world.apply(CONNECTION.replaceAll(/name: (main|deploy-login)\b/g, 'name: spare-$1'));
    await world.stop();
    for (const [kind, name] of OBJECTS) await world.delete(kind, name);
    world.start();
    await world.until(() => left(world).length === 1, 1_800_000);
    expect(left(world)).toEqual(['Connection/spare-main']);
    expect(records(world)).toEqual([]);
  });

  it('keeps no credentials unless it is told to', async () => {
    const world = await settled();
    for (const [kind, name] of OBJECTS) await world.delete(kind, name);
    await world.until(() => left(world).length === 0, 1_800_000);
    expect(kept(world)).toEqual([]);
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
