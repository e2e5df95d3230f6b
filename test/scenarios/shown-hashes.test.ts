import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from 'vitest';
import { Digest } from '../../src/controllers/digest.ts';
import { DIGEST_SECRET, readKeys } from '../../src/controllers/keys.ts';
import { SECRETS } from '../../src/kube/index.ts';
import { CONNECTION, typeOfKind, type Shown } from '../support/world.ts';
import { BOXES, HOUR, instance, Shop } from './shop.ts';

const OTHERS = 'default';
const SECRET = `
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {password: the-same-everywhere}
`;
const VARIABLES =
  '  variables: [{name: DB_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: db, key: password}}}]\n';
const KINDS = ['Box', 'PolicyBox', 'Instance'] as const;

/** All keyed hashes in a text. */
function hashesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/\b[a-z2-7]{8}:[a-z2-7]{32}\b/g)].map(([hash]) => hash));
}

describe('keyed hashes in status', () => {
  let shop: Shop;
  let shown: MockInstance<Digest['shown']>;
  beforeEach(async () => {
    shown = vi.spyOn(Digest.prototype, 'shown');
    shop = await Shop.open();
    await shop.world.apply(SECRET);
    await shop.world.apply(instance(VARIABLES));
    await shop.online();
  });
  afterEach(() => shop.close());

  const named: Readonly<Record<(typeof KINDS)[number], string>> = {
    Box: 'web',
    PolicyBox: 'small',
    Instance: 'web-eu',
  };
  const statuses = (namespace: string): string =>
    JSON.stringify(
      KINDS.map(
        (kind) => shop.world.kube.get(typeOfKind(kind), { namespace, name: named[kind] })?.['status'],
      ),
    );

  it('of equal contents are equal nowhere else', async () => {
    const theirs = (manifests: string): string =>
      manifests.replaceAll('metadata: {', `metadata: {namespace: ${OTHERS}, `);
    const { world } = shop;
    await world.apply(theirs(SECRET));
    await world.apply(theirs(CONNECTION.replace(/endpoint: .*/, 'endpoint: https://elsewhere.test')));
    const boxes = BOXES.replace('spec:\n', 'spec:\n  name: their-web\n');
    await world.apply(theirs(boxes.replace('small}\nspec:\n', 'small}\nspec:\n  name: their-small\n')));
    await world.apply(theirs(instance(VARIABLES)));
    const their = (): Shown =>
      world.kube.get(typeOfKind('Instance'), { namespace: OTHERS, name: 'web-eu' }) as unknown as Shown;
    await world.until(() => their().status?.['appliedHash'] !== undefined, 3 * HOUR);
    const [ours, others] = [hashesIn(statuses('shop')), hashesIn(statuses(OTHERS))];
    expect([ours.size > 3, others.size > 3]).toEqual([true, true]);
    expect([...ours].filter((hash) => others.has(hash))).toEqual([]);
  });

  it('that an earlier version has written cost no call to the service, and are written anew', async () => {
    const { world } = shop;
    const secret = world.kube.get(SECRETS, { namespace: 'boxwright-system', name: DIGEST_SECRET });
    const { digest } = readKeys(secret as never, '', true);
    const isOld = (hash: string): boolean => hash.startsWith(`${digest.keyId}:`);
    await world.advance(HOUR);
    world.kill();
    // What the versions before this one have shown is what this one hashes on.
    const inner = shown.mock.results.map(
      ({ value }, at) => [String(value), String(shown.mock.calls[at]?.[2])] as const,
    );
    for (const kind of KINDS) {
      const object = world.get(kind, named[kind]) as Shown;
      let text = JSON.stringify(object.status);
      for (const [now, before] of inner) text = text.replaceAll(now, before);
      shop.seed(kind, { ...object, status: JSON.parse(text) as never });
    }
    const before = hashesIn(statuses('shop'));
    expect([...before].every(isOld)).toBe(true);
    const mark = shop.mark();
    world.start();
    await world.until(() => ![...hashesIn(statuses('shop'))].some(isOld), 3 * HOUR);
    await world.advance(HOUR);
    expect(shop.writes(mark)).toEqual([]);
    expect(shop.ready()).toBe('True Settled');
  });
});
