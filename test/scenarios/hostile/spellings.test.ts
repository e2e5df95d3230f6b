import { afterEach, describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../../../src/api/names.ts';
import { CONNECTION, ENDPOINT, typeOfKind, type Shown } from '../../support/world.ts';
import { HOUR, instance, MINUTE, Shop } from '../shop.ts';

/** The namespace of the author who attacks. */
const OTHERS = 'default';
/** All of them are the same service. */
const SPELLINGS = [
  'https://Service.TEST',
  'https://service.test:443',
  'https://service.test.',
  'https://service.test.:0443',
  'https://service.test/.',
  'https://service.test/a/..//%2E',
  'https://%73ervice.test',
  'https://ｓｅｒｖｉｃｅ。test',
];

let shop: Shop;
afterEach(() => shop.close());

const endpoint = (text: string): string => CONNECTION.replace(ENDPOINT, text);
const home = (kind: 'Box' | 'Instance', name: string): { endpoint?: string } =>
  shop.world.get(kind, name)?.status?.['home'] ?? {};

/** What becomes of a box of another namespace that adopts the victim's over a connection of its own. */
async function takenBy(text: string): Promise<unknown[]> {
  const { world } = shop;
  const { id = '' } = world.get('Box', 'web')?.status ?? {};
  await world.apply(endpoint(text).replaceAll('metadata: {', `metadata: {namespace: ${OTHERS}, `));
  await world.apply(`
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {namespace: ${OTHERS}, name: taken, annotations: {${ANNOTATIONS.adopt}: ${id}}}
spec: {connectionRef: {name: main}, description: taken}
`);
  await world.advance(HOUR);
  const ref = { namespace: OTHERS, name: 'taken' };
  const { status } = world.kube.get(typeOfKind('Box'), ref) as unknown as Shown;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return [ready?.reason, status?.id];
}

describe('an endpoint in another spelling', () => {
  it.each(SPELLINGS)('is the same service to whoever would adopt a record: %s', async (text) => {
    shop = await Shop.open();
    const { world } = shop;
    const before = JSON.stringify(world.sandbox.admin.records('boxes'));
    const mark = shop.mark();
    expect(await takenBy(text)).toEqual(['Conflict', undefined]);
    expect(shop.writes(mark)).toEqual([]);
    expect(JSON.stringify(world.sandbox.admin.records('boxes'))).toBe(before);
  });

  it.each(SPELLINGS)('from now on has nothing made, moved or left behind: %s', async (text) => {
    shop = await Shop.open();
    const { world } = shop;
    await world.apply(instance());
    await shop.online();
    const mark = shop.mark();
    await world.edit('Connection', 'main', { endpoint: text });
    await world.until(() => shop.ready('main', 'Connection') === 'True Settled', MINUTE);
    await world.edit('Box', 'web', { description: 'changed' });
    await world.until(() => shop.ready('web', 'Box') === 'True Settled' && shop.writes(mark).length > 0);
    await world.advance(HOUR);
    expect(shop.writes(mark)).toHaveLength(1);
    expect([shop.ready(), home('Instance', 'web-eu').endpoint]).toEqual(['True Settled', ENDPOINT]);
    await world.delete('Instance', 'web-eu');
    await shop.gone();
    expect(shop.records()).toEqual([]);
  });

  it.each(SPELLINGS)('in the status of an earlier version is where the record is: %s', async (text) => {
    shop = await Shop.open();
    const { world } = shop;
    await world.apply(instance());
    await shop.online();
    world.kill();
    for (const [kind, name] of [
      ['Instance', 'web-eu'],
      ['Box', 'web'],
    ] as const) {
      const { status, metadata, spec, ...rest } = world.get(kind, name) as Shown;
      shop.seed(kind, {
        ...rest,
        metadata,
        spec: { ...spec, paused: kind === 'Box' },
        status: { ...status, home: { ...(status?.['home'] as object), endpoint: text } },
      });
    }
    const mark = shop.mark();
    world.start();
    expect(await takenBy(ENDPOINT)).toEqual(['Conflict', undefined]);
    expect([shop.ready(), shop.writes(mark)]).toEqual(['True Settled', []]);
    await world.delete('Instance', 'web-eu');
    await shop.gone();
    expect(shop.records()).toEqual([]);
  });
});
