import { afterEach, describe, expect, it } from 'vitest';
import type { KindName } from '../../src/api/kinds.ts';
import { ANNOTATIONS } from '../../src/api/names.ts';
import { markerOf } from '../../src/controllers/record/identity/marker.ts';
import type { KubeObject } from '../../src/kube/index.ts';
import { CONNECTION, NAMESPACE, typeOfKind, type Shown } from '../support/world.ts';
import { BOXES, instance, MINUTE, Shop } from './shop.ts';

/** The namespace of the author who attacks. */
const OTHERS = 'default';
const HOUR = 60 * MINUTE;

const box = (spec: string): string => `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: forged}
spec: {connectionRef: {name: main}${spec === '' ? '' : `, ${spec}`}}
`;
const forgedInstance = instance('  paused: true\n', 'forged');

/** The victim's resources. */
function nameOf(kind: KindName): string {
  return kind === 'Box' ? 'web' : kind === 'PolicyBox' ? 'small' : 'web-eu';
}

/** Everything that an author in another namespace can see of a resource, and writes on one of his own. */
describe('a resource of another namespace', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  async function theirs(manifests: string): Promise<void> {
    await shop.world.apply(manifests.replaceAll('metadata: {', `metadata: {namespace: ${OTHERS}, `));
  }
  function their(kind: KindName, name = 'forged'): Shown | undefined {
    return shop.world.kube.get(typeOfKind(kind), { namespace: OTHERS, name }) as unknown as Shown | undefined;
  }
  async function write(kind: KindName, metadata: object, spec: object = {}): Promise<void> {
    await shop.world.user.mergePatch(
      typeOfKind(kind),
      { namespace: OTHERS, name: 'forged' },
      { metadata, spec },
    );
  }
  const victim = (kind: KindName): Shown => shop.world.get(kind, nameOf(kind)) as Shown;
  /** The victims' records. */
  const records = (): string =>
    JSON.stringify(
      (['Box', 'PolicyBox', 'Instance'] as const).flatMap((kind) =>
        (
          shop.world.sandbox.admin.records(kind === 'Instance' ? 'instances' : 'boxes') as { id: string }[]
        ).filter(({ id }) => id === shop.world.get(kind, nameOf(kind))?.status?.id),
      ),
    );

  /** A claim on the victim's record as the author can make it up: installation and ids are there to be read. */
  function forged(
    kind: KindName,
    uid: string | undefined = their(kind)?.metadata.uid,
  ): Record<string, string> {
    const { annotations = {} } = victim(kind).metadata;
    const [installation = ''] = (annotations[ANNOTATIONS.claim] ?? '').split('/');
    const marker = markerOf(installation, { kind, namespace: OTHERS, name: 'forged' });
    return {
      ...annotations,
      [ANNOTATIONS.claim]: `${installation}/${marker}/${uid}`,
      [ANNOTATIONS.externalId]: victim(kind).status?.id ?? '',
    };
  }

  /** The attackers' resources are there first. */
  async function older(connection: boolean): Promise<void> {
    shop = new Shop();
    const { world } = shop;
    world.start();
    if (connection) {
      await theirs(CONNECTION);
      await theirs(
        BOXES.replace('spec:\n', 'spec:\n  name: their-web\n').replace(
          /(small}\nspec:\n)/,
          '$1  name: their-small\n',
        ),
      );
    }
    await theirs(
      connection ? box('paused: true') : box('paused: true').replace('name: main', 'name: absent'),
    );
    await theirs(connection ? forgedInstance : forgedInstance.replace('name: main', 'name: absent'));
    await world.advance(MINUTE);
    await world.apply(CONNECTION);
    await world.apply(BOXES);
    await world.until(() => shop.ready('web', 'Box') === 'True Settled', HOUR);
    await world.until(() => shop.ready('small', 'PolicyBox') === 'True Settled', HOUR);
    await world.apply(instance());
    await shop.online();
    await world.advance(HOUR);
  }

  /** What of the victim's an attack has touched: nothing, it is hoped. */
  async function harm(kind: KindName, attack: () => Promise<void>): Promise<unknown[]> {
    const shown = (): string[] => [records(), JSON.stringify(victim(kind).status)];
    const before = shown();
    const [mark, events] = [shop.mark(), shop.world.events.length];
    await attack();
    await shop.world.advance(3 * HOUR);
    const { id = '' } = victim(kind).status ?? {};
    const calls = shop.world.sandbox.admin.calls({ since: mark });
    return [
      ...calls.filter(({ method, path }) => method !== 'GET' && path.includes(id)),
      ...shown().filter((text, at) => text !== before[at]),
      ...shop.world.events.slice(events).filter(({ regarding }) => regarding.namespace === NAMESPACE),
    ];
  }

  /** The records that stay when it is deleted as a resource is that nobody attacks. */
  async function leftBy(kind: KindName): Promise<unknown[]> {
    const { id } = victim(kind).status as { id: string };
    if (kind === 'Box') {
      await shop.world.delete('Instance', 'web-eu');
      await shop.gone();
    }
    await shop.world.delete(kind, nameOf(kind));
    await shop.world.until(() => shop.world.get(kind, nameOf(kind)) === undefined, 3 * HOUR);
    const left = shop.world.sandbox.admin.records(kind === 'Instance' ? 'instances' : 'boxes');
    return left.filter((record) => record['id'] === id);
  }

  it.each(['Box', 'Instance'] as const)(
    'that is older and carries a forged claim of its own uid takes no %s over',
    async (kind) => {
      await older(true);
      expect(
        await harm(kind, () =>
          write(kind, { annotations: forged(kind) }, { paused: false, deletionPolicy: 'Delete' }),
        ),
      ).toEqual([]);
      expect(await leftBy(kind)).toEqual([]);
    },
  );

  it.each(['Box', 'Instance'] as const)(
    'that is older and carries a forged claim of a dead uid takes no %s over',
    async (kind) => {
      await older(true);
      const claim = forged(kind, '00000000-dead-4000-8000-000000000000');
      expect(await harm(kind, () => write(kind, { annotations: claim }, { paused: false }))).toEqual([]);
      expect(await leftBy(kind)).toEqual([]);
    },
  );

  it.each(['Box', 'Instance'] as const)(
    'without any connection makes no %s a conflict, and its deletion leaves no record behind',
    async (kind) => {
      await older(false);
      expect(await harm(kind, () => write(kind, { annotations: forged(kind) }))).toEqual([]);
      expect(await leftBy(kind)).toEqual([]);
    },
  );

  it('takes by a forged claim nothing that an adoption refuses', async () => {
    await older(true);
    const annotations = { [ANNOTATIONS.adopt]: victim('Instance').status?.id ?? '' };
    expect(await harm('Instance', () => write('Instance', { annotations }, { paused: false }))).toEqual([]);
    expect(
      await harm('Instance', () =>
        write('Instance', { annotations: { ...forged('Instance'), [ANNOTATIONS.adopt]: null } }),
      ),
    ).toEqual([]);
  });

  it.each(['Box', 'Instance'] as const)(
    'that carries a forged claim and a finalizer, and is deleted, takes no %s along',
    async (kind) => {
      await older(true);
      await write(kind, { annotations: forged(kind), finalizers: ['boxwright.dev/finalizer'] });
      expect(
        await harm(kind, async () => {
          await shop.world.user.delete(typeOfKind(kind), { namespace: OTHERS, name: 'forged' });
        }),
      ).toEqual([]);
      expect(await leftBy(kind)).toEqual([]);
    },
  );

  it('that names the box by its id holds nothing here', async () => {
    await older(false);
    const { id = '' } = victim('Box').status ?? {};
    await theirs(
      instance('', 'by-id')
        .replace('boxRef: {name: web}', `boxId: ${id}`)
        .replace('name: main', 'name: absent'),
    );
    expect(await leftBy('Box')).toEqual([]);
  });
});

describe('an installation', () => {
  let shop: Shop;
  afterEach(() => shop.close());

  it('begins whatever anybody has written into annotations before its first start', async () => {
    shop = new Shop();
    const { world } = shop;
    const annotations = {
      [ANNOTATIONS.externalId]: 'x',
      [ANNOTATIONS.claim]: 'made-up/bw-aaaaaaaa-aaaaaaaaaaaaaaaa/uid',
    };
    const object = {
      apiVersion: 'boxwright.dev/v1alpha1',
      kind: 'Box',
      metadata: { name: 'forged', namespace: OTHERS, annotations },
      spec: { connectionRef: { name: 'absent' } },
    } as KubeObject;
    await world.user.create(typeOfKind('Box'), object);
    world.start();
    await world.apply(CONNECTION);
    await world.apply(BOXES);
    await world.until(() => shop.ready('web', 'Box') === 'True Settled', HOUR);
    expect(victimInstallation(world.get('Box', 'web'))).not.toBe('made-up');
  });
});

function victimInstallation(shown: Shown | undefined): string | undefined {
  return shown?.metadata.annotations?.[ANNOTATIONS.claim]?.split('/')[0];
}
