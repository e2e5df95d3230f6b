import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../../../src/api/names.ts';
import type { PortRequest } from '../../../src/service/index.ts';
import { answer, changed, HOUR, MINUTE, Shop } from '../shop.ts';

interface Stored {
  id: string;
  version?: { box: string };
}

let shop: Shop;
beforeEach(async () => {
  shop = await Shop.open();
});
afterEach(() => shop.close());

const boxes = (): Stored[] => shop.world.sandbox.admin.records('boxes') as unknown as Stored[];
const made = (): Stored[] => boxes().filter((one) => one.version !== undefined);
const status = (): Record<string, unknown> => shop.world.get('Box', 'web')?.status ?? {};
const own = (): string => status()['id'] as string;
const isList = ({ method, path }: PortRequest): boolean => method === 'GET' && path.endsWith('/versions');
const isMaking = ({ method, body }: PortRequest): boolean =>
  method === 'PUT' && Buffer.from(body ?? '').includes('"version":{');
const ONE = { major: 1, minor: 0, patch: 0 };
const version = (id: string, box: string, number: object): object => ({
  id,
  name: 'web',
  version: { box, number },
});
/** Lists of versions say this, beside what is true. */
function lie(entries: readonly object[]): void {
  shop.spoil = (request, given) =>
    isList(request) && given.status === 200
      ? changed(given, (list: object[]) => [...entries, ...list])
      : given;
}
const publish = (number: string): Promise<void> =>
  shop.world.edit('Box', 'web', { publish: { version: number } });
const isPublished = (): boolean => shop.world.condition('Box', 'web', 'Published')?.status === 'True';
/** Calls that change another record than the box. */
const others = (since: number): string[] =>
  shop.world.sandbox.admin
    .calls({ since })
    .filter(({ method, path }) => method !== 'GET' && !path.includes(own()))
    .map(({ method, path }) => `${method} ${path}`);

describe('a list of versions', () => {
  it('that says that those of another box, or the box itself, are its own counts for nothing', async () => {
    const other = shop.world.get('PolicyBox', 'small')?.status?.id ?? '';
    lie([
      version(other, other, ONE),
      version('of-another', 'some-other-box', ONE),
      version(own(), own(), ONE),
    ]);
    const mark = shop.mark();
    await publish('1.0.0');
    await shop.world.until(isPublished);
    expect(made()).toMatchObject([{ version: { box: own() } }]);
    const [{ id } = { id: '' }] = made();
    expect(status()).toMatchObject({
      published: { number: '1.0.0', id },
      versions: [{ number: '1.0.0', id }],
    });
    expect(others(mark)).toEqual([]);
  });

  it('that names what no read shows makes nobody take that for the version', async () => {
    lie([version('made-up', own(), ONE)]);
    const mark = shop.mark();
    await publish('1.0.0');
    await shop.world.advance(HOUR);
    const said = shop.world.condition('Box', 'web', 'Published');
    expect([said?.status, said?.reason]).toEqual(['False', 'Unknown']);
    expect(said?.message).toContain('shows no such record');
    expect(status()['published']).toBeUndefined();
    expect(shop.writes(mark)).toEqual([]);
    expect(shop.world.sandbox.admin.calls({ since: mark }).length).toBeLessThan(100);
  });

  it('of any length, doubled and with numbers that are none, is looked through in no time', async () => {
    lie(
      Array.from({ length: 40_000 }, (_, i) =>
        version(`v-${i % 30_000}`, own(), {
          major: i % 7 === 0 ? -1 : i % 5 === 0 ? 1e300 : i % 50,
          minor: i % 3 === 0 ? 0.5 : i,
          patch: 0,
        }),
      ),
    );
    const begun = performance.now();
    await publish('7.0.0');
    await shop.world.until(isPublished, 10 * MINUTE);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(made()).toHaveLength(1);
    const ids = (status()['versions'] as { id: string }[]).map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([10, 10]);
  });
});

describe('a version', () => {
  it('that is adopted is named as one, and is neither changed nor deleted', async () => {
    const { world } = shop;
    await publish('1.0.0');
    await world.until(isPublished);
    const before = made();
    const [{ id } = { id: '' }] = before;
    // Some builds list them with the boxes.
    shop.spoil = ({ method, path }, given) =>
      method === 'GET' && /\/workspaces\/[^/]+\/boxes/.test(path) && given.status === 200
        ? changed(given, (list: object[]) => [...list, ...before])
        : given;
    const mark = shop.mark();
    await world.apply(`
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: taken, annotations: {${ANNOTATIONS.adopt}: ${id}}}
spec: {connectionRef: {name: main}, description: taken}
`);
    await world.until(() => shop.ready('taken', 'Box') === 'False Conflict');
    expect(shop.message('taken', 'Box')).toContain(`is a version of box ${own()}`);
    await world.delete('Box', 'taken');
    await world.until(() => world.get('Box', 'taken') === undefined, HOUR);
    expect(shop.writes(mark)).toEqual([]);
    expect(made()).toEqual(before);
  });

  it('of another box that an answer shows as what was made is not believed', async () => {
    shop.spoil = (request, given) =>
      isMaking(request) && given.status === 200 ? answer(200, version('foreign', 'other', ONE)) : given;
    await publish('1.0.0');
    await shop.world.until(isPublished, 10 * MINUTE);
    expect(status()).toMatchObject({ published: { id: made()[0]?.id } });
  });
});
