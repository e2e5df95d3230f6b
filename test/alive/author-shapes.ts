import type { KubeObject } from '../../src/kube/index.ts';
import { ANNOTATIONS } from '../../src/api/names.ts';
import { systemClock } from '../../src/base/clock.ts';
import { FAST, many, MB, type Shape } from './shapes.ts';
import { box, ours, type AliveWorld } from './world.ts';

/** What annotations of one object may come to, bytes. */
const ANNOTATIONS_BYTES = 200_000;

function configMap(name: string, data: object): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data } as unknown as KubeObject;
}

/** Does something each so many milliseconds, for so long, whatever becomes of it. */
async function often(
  seconds: number,
  everyMs: number,
  what: (turn: number) => Promise<unknown>,
): Promise<void> {
  const end = systemClock.monotonic() + seconds * 1_000;
  for (let turn = 0; systemClock.monotonic() < end; turn++) {
    await what(turn).catch(() => undefined);
    await systemClock.sleep(everyMs);
  }
}

/** What an annotation of the operator's may hold that was made up. */
const MADE_UP: Readonly<Record<string, string>> = {
  [ANNOTATIONS.claim]: '/'.repeat(ANNOTATIONS_BYTES),
  [ANNOTATIONS.claimSeal]: `aaaaaaaa/${'%41'.repeat(ANNOTATIONS_BYTES / 3)}/o/${'a'.repeat(32)}`,
  [ANNOTATIONS.createIntent]: `{"seal":"a/b","x":${'['.repeat(ANNOTATIONS_BYTES / 2)}${']'.repeat(ANNOTATIONS_BYTES / 2)}}`,
  [ANNOTATIONS.externalId]: 'i'.repeat(ANNOTATIONS_BYTES),
  [ANNOTATIONS.adopt]: '%2F'.repeat(ANNOTATIONS_BYTES / 3),
  [ANNOTATIONS.requestedAt]: 't'.repeat(ANNOTATIONS_BYTES),
};

function annotated(world: AliveWorld, name: string, annotations: object): Promise<unknown> {
  return world.patch('Box', name, { metadata: { annotations } });
}

/** What an author writes, at once or again and again. */
export const AUTHOR_SHAPES: readonly Shape[] = [
  {
    name: 'long-names',
    what: '20 PolicyBoxes whose profile has a name of 600 kB over 1,900 others',
    seconds: 45,
    async prepare(world) {
      await world.connection('main', FAST);
      const members = Object.fromEntries(Array.from({ length: 1_900 }, (_, i) => [`k${i}`, i]));
      await world.make(
        many(20, (i) =>
          ours('PolicyBox', `policy-${i}`, {
            connectionRef: { name: 'main' },
            providerId: 'p',
            profile: { schema: 'test/compute/profile', properties: { ['x'.repeat(600_000)]: members } },
          }),
        ),
      );
    },
  },
  {
    name: 'renamed-keys',
    what: 'ten ConfigMaps of 1 MB whose only key is renamed each second, and Boxes that follow',
    seconds: 60,
    async prepare(world) {
      await world.connection('main', FAST);
      await world.make(many(10, (i) => configMap(`content-${i}`, { k0: `${i}`.padEnd(MB, 'x') })));
      await world.make(
        many(10, (i) =>
          box(`box-${i}`, {
            variables: [
              { name: 'F0', type: 'File', file: { configMapKeyRef: { name: `content-${i}`, key: 'k0' } } },
            ],
          }),
        ),
      );
    },
    meanwhile: (world) =>
      often(50, 1_000, async (turn) => {
        for (let i = 0; i < 10; i++) {
          const [old, key] = [`k${turn}`, `k${turn + 1}`];
          await world.patch('ConfigMap', `content-${i}`, {
            data: { [old]: null, [key]: `${turn}`.padEnd(MB, 'x') },
          });
          const file = { configMapKeyRef: { name: `content-${i}`, key } };
          await world.patch('Box', `box-${i}`, {
            spec: { variables: [{ name: `F${turn + 1}`, type: 'File', file }] },
          });
        }
      }),
  },
  {
    name: 'annotations',
    what: 'annotations of 200 kB, our own and others, changed ten times a second',
    seconds: 60,
    async prepare(world) {
      await world.connection('main', FAST);
      await world.make(many(60, (i) => box(`box-${i}`)));
    },
    meanwhile: (world) =>
      often(50, 100, async (turn) => {
        const own = Object.entries(MADE_UP);
        const [key = '', text = ''] = own[turn % own.length] ?? [];
        const forget = Object.fromEntries(own.map(([name]) => [name, null]));
        await annotated(world, `box-${turn % 60}`, { ...forget, [key]: text });
        await annotated(world, `box-${(turn + 1) % 60}`, {
          ...forget,
          other: `${turn}`.padEnd(ANNOTATIONS_BYTES, 'x'),
        });
      }),
  },
  {
    name: 'leases',
    what: '5,000 InstanceLeases of one Instance, which is edited five times a second',
    seconds: 60,
    async prepare(world) {
      await world.connection('main', FAST);
      const spec = { connectionRef: { name: 'main' }, boxId: 'b', policyBoxId: 'p' };
      await world.make([ours('Instance', 'leased', spec)]);
      await world.make(
        many(5_000, (i) =>
          ours('InstanceLease', `lease-${i}`, {
            instanceRef: { name: 'leased' },
            expireAt: '2099-01-01T00:00:00Z',
            operation: 'Shutdown',
          }),
        ),
      );
    },
    meanwhile: (world) =>
      often(50, 200, (turn) => world.patch('Instance', 'leased', { spec: { tags: [`turn-${turn}`] } })),
  },
  {
    name: 'ids',
    what: 'plain ids and adoptions that are changed twenty times a second',
    seconds: 45,
    async prepare(world) {
      await world.connection('main', FAST);
      await world.make(
        many(20, (i) =>
          ours('Instance', `instance-${i}`, {
            connectionRef: { name: 'main' },
            boxId: 'b',
            policyBoxId: 'p',
          }),
        ),
      );
      await world.make(many(20, (i) => box(`box-${i}`)));
    },
    meanwhile: (world) =>
      often(40, 50, async (turn) => {
        await world.patch('Instance', `instance-${turn % 20}`, { spec: { boxId: `guess-${turn}` } });
        await annotated(world, `box-${turn % 20}`, { [ANNOTATIONS.adopt]: `guess-${turn}` });
      }),
  },
];
