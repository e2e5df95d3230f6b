import { beforeEach, describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../../src/api/names.ts';
import { INSTALLATION_CONFIG_MAP } from '../../src/controllers/installation.ts';
import { DIGEST_SECRET } from '../../src/controllers/keys.ts';
import { CONFIG_MAPS, SECRETS } from '../../src/kube/index.ts';
import { metricOf } from '../support/metric.ts';
import { CONNECTION, NAMESPACE, typeOfKind, World, type Shown } from '../support/world.ts';
import { HOUR, instance, MINUTE, Shop } from './shop.ts';

const HOME = 'boxwright-system';
const MAP = { namespace: HOME, name: INSTALLATION_CONFIG_MAP };
const KEY = { namespace: HOME, name: DIGEST_SECRET };
const BOX = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec: {connectionRef: {name: main}}
`;

describe('a claim', () => {
  let world: World;
  /** Whether a claim was sealed, for each write that made or changed one. */
  let claimed: boolean[];
  beforeEach(async () => {
    claimed = [];
    world = new World();
    world.kube.store.listen(({ object, before }) => {
      const annotation = (one: typeof before, name: string): string | undefined =>
        one?.metadata.annotations?.[name];
      const names = [ANNOTATIONS.claim, ANNOTATIONS.claimSeal];
      if (names.some((name) => annotation(before, name) !== annotation(object, name)))
        claimed.push(annotation(object, ANNOTATIONS.claimSeal) !== undefined);
    });
    world.start();
    await world.apply(CONNECTION);
    await world.apply(BOX);
    await world.until(() => reason() === 'True Settled');
  });

  const box = (): Shown => world.get('Box', 'web') as Shown;
  const reason = (): string =>
    `${world.ready('Box', 'web')} ${world.condition('Box', 'web', 'Ready')?.reason}`;
  const message = (): string => world.condition('Box', 'web', 'Ready')?.message ?? '';
  const records = (): { id: string; description?: string }[] => world.sandbox.admin.records('boxes') as never;
  const seal = (): string | undefined => box().metadata.annotations?.[ANNOTATIONS.claimSeal];
  const writes = (): number => world.sandbox.admin.calls({}).filter(({ method }) => method !== 'GET').length;
  const annotate = (annotations: Record<string, string | null>): Promise<void> =>
    world.annotate('Box', 'web', annotations);
  /** As a backup without status brings it back, under another uid. */
  function restored(change: (annotations: Record<string, string>) => void = () => undefined): void {
    const { status: _status, ...object } = box();
    const annotations = { ...object.metadata.annotations };
    change(annotations);
    const metadata = { ...object.metadata, namespace: NAMESPACE, uid: 'restored', annotations };
    world.kube.purge(typeOfKind('Box'), metadata);
    world.kube.seed(typeOfKind('Box'), { ...object, metadata });
  }

  it('is sealed with the write that makes it, and costs no further one', () => {
    expect(seal()).toMatch(/^[a-z2-7]{8}\/https%3A%2F%2Fservice\.test\/ops\/[a-z2-7]{32}$/);
    expect(claimed).toEqual([true]);
  });

  it('of an older version is sealed when nothing else is to be done, and nothing is sent to the service', async () => {
    await world.stop();
    await annotate({ [ANNOTATIONS.claimSeal]: null });
    const before = writes();
    world.start();
    await world.until(() => seal() !== undefined, HOUR);
    expect(writes()).toBe(before);
    expect(reason()).toBe('True Settled');
  });

  it('that somebody has tampered with is sealed again from status', async () => {
    const before = seal();
    const last = before?.endsWith('a') === true ? 'b' : 'a';
    await annotate({ [ANNOTATIONS.claimSeal]: `${before?.slice(0, -1)}${last}` });
    await world.until(() => seal() === before, HOUR);
    expect(reason()).toBe('True Settled');
  });

  it('of many older ones is sealed at most once a second', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `more-${at}`);
    for (const name of names) await world.apply(BOX.replace('name: web', `name: ${name}`));
    await world.until(() => names.every((name) => world.ready('Box', name) === 'True'));
    await world.stop();
    for (const name of names) await world.annotate('Box', name, { [ANNOTATIONS.claimSeal]: null });
    const sealed = (): number =>
      names.filter(
        (name) => world.get('Box', name)?.metadata.annotations?.[ANNOTATIONS.claimSeal] !== undefined,
      ).length;
    world.start();
    await world.advance(5_000);
    expect(sealed()).toBeLessThanOrEqual(6);
    await world.until(() => sealed() === names.length, 12 * HOUR);
  });

  it('that was never sealed is restored without status only with --restore, and only where the record fits', async () => {
    const [{ id } = { id: '' }] = records();
    world.kill();
    restored((annotations) => delete annotations[ANNOTATIONS.claimSeal]);
    const before = writes();
    world.start();
    await world.until(() => reason() === 'False Conflict');
    expect(message()).toContain('--restore');
    await world.advance(HOUR);
    expect(writes()).toBe(before);
    world.kill();
    world.start({ restore: true });
    await world.until(() => reason() === 'True Settled', HOUR);
    expect(box().status?.id).toBe(id);
    expect(seal()).toBeDefined();
    expect(records()).toHaveLength(1);
  });

  it('that was never sealed is not let go of when its resource is deleted, before a person says so', async () => {
    world.kill();
    restored((annotations) => delete annotations[ANNOTATIONS.claimSeal]);
    const before = writes();
    world.start();
    await world.until(() => reason() === 'False Conflict');
    await world.delete('Box', 'web');
    await world.advance(HOUR);
    expect(reason()).toBe('False Conflict');
    expect(message()).toContain('deletionPolicy Orphan');
    expect(writes()).toBe(before);
    await world.edit('Box', 'web', { deletionPolicy: 'Orphan' });
    await world.until(() => world.get('Box', 'web') === undefined);
    expect(writes()).toBe(before);
    expect(records()).toHaveLength(1);
  });

  it('that was never sealed goes with --restore, with its record', async () => {
    world.kill();
    restored((annotations) => delete annotations[ANNOTATIONS.claimSeal]);
    world.start();
    await world.until(() => reason() === 'False Conflict');
    await world.delete('Box', 'web');
    await world.advance(HOUR);
    world.kill();
    world.start({ restore: true });
    await world.until(() => world.get('Box', 'web') === undefined, HOUR);
    expect(records()).toHaveLength(0);
  });

  it('that was never sealed goes once its record is proved gone', async () => {
    world.kill();
    restored((annotations) => delete annotations[ANNOTATIONS.claimSeal]);
    world.start();
    await world.until(() => reason() === 'False Conflict');
    const [{ id } = { id: '' }] = records();
    const headers = { 'service-token': 'token-of-ops' };
    const path = `/services/boxes/${id}`;
    await world.sandbox.handle({ method: 'DELETE', path, headers, body: new Uint8Array() });
    await world.delete('Box', 'web');
    await world.advance(10_000);
    expect(world.get('Box', 'web')).toBeDefined();
    await world.until(() => world.get('Box', 'web') === undefined, HOUR);
  });

  it('that is sealed is restored without status, and without a word', async () => {
    const [{ id } = { id: '' }] = records();
    world.kill();
    restored();
    world.start();
    await world.until(() => reason() === 'True Settled');
    expect(box().status?.id).toBe(id);
  });

  it('whose key is lost is not let go, and comes back with its key', async () => {
    world.kill();
    restored();
    const { key = '' } =
      (world.kube.get(SECRETS, KEY) as { data?: { key?: string } } | undefined)?.data ?? {};
    const data = { key: Buffer.alloc(32, 9).toString('base64') };
    await world.user.mergePatch(SECRETS, KEY, { data });
    const before = writes();
    world.start();
    await world.until(() => reason() === 'False Conflict');
    expect(message()).toContain('key');
    await world.delete('Box', 'web');
    await world.advance(HOUR);
    expect(box().metadata.finalizers).toEqual(['boxwright.dev/finalizer']);
    expect(message()).toContain('xargs');
    expect(writes()).toBe(before);
    await world.stop();
    await world.user.mergePatch(SECRETS, KEY, {
      data: { ...data, 'earlier-1': key },
    });
    world.start();
    await world.until(() => world.get('Box', 'web') === undefined, HOUR);
    expect(records()).toEqual([]);
  });

  it('of another installation is left alone, its finalizer too, and is told of once', async () => {
    await world.stop();
    const before = writes();
    const made = world.kube.get(CONFIG_MAPS, MAP);
    world.kube.purge(CONFIG_MAPS, MAP);
    world.kube.purge(SECRETS, KEY);
    const { uid } = made?.metadata ?? { uid: '' };
    world.kube.seed(CONFIG_MAPS, {
      metadata: { ...MAP, uid: uid ?? '' },
      data: { id: 'second', uid },
    } as never);
    world.start();
    await world.until(() => reason() === 'False Conflict');
    await world.edit('Box', 'web', { description: 'by the second' });
    await world.delete('Box', 'web');
    await world.advance(HOUR);
    expect(box().metadata.finalizers).toEqual(['boxwright.dev/finalizer']);
    expect(writes()).toBe(before);
    const told = world.events.filter(({ action }) => action === 'Start');
    expect(told).toMatchObject([{ regarding: { kind: 'Box', name: 'web' } }]);
    expect(await metricOf(world.metrics, 'boxwright_resources_claimed_elsewhere')).toBe(1);
    await world.edit('Box', 'web', { deletionPolicy: 'Orphan' });
    await world.until(() => world.get('Box', 'web') === undefined, 10 * MINUTE);
    expect(records()).toHaveLength(1);
  });

  it('follows the record when the connection moves', async () => {
    await world.edit('Connection', 'main', { endpoint: 'https://other.test' });
    await world.until(() => decodeURIComponent(seal() ?? '').includes('https://other.test'), 3 * HOUR);
    expect(box().status?.['home']).toMatchObject({ endpoint: 'https://other.test' });
  });
});

it('markers of an installation that was moved by its id alone are claimed only with --restore', async () => {
  const shop = await Shop.open();
  const { world } = shop;
  const id = await shop.leftBehind();
  const { installationId } = world;
  world.kill();
  world.kube.purge(CONFIG_MAPS, MAP);
  world.kube.purge(SECRETS, KEY);
  world.start({ installationId });
  await world.apply(instance());
  await world.until(() => shop.ready() === 'False Conflict');
  expect(shop.message()).toMatch(/another cluster may run this installation.*--restore/);
  await world.advance(HOUR);
  world.kill();
  world.start({ installationId, restore: true });
  await shop.online();
  expect(shop.status().id).toBe(id);
  expect(shop.records()).toHaveLength(1);
  await shop.close();
});
