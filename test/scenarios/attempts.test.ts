import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PortRequest } from '../../src/service/index.ts';
import { answer, changedInstances, HOUR, instance, MINUTE, Shop } from './shop.ts';

const PORT = '  variables: [{name: PORT, type: Port, value: "80"}]\n';
const port = (value: string): object => ({ variables: [{ name: 'PORT', type: 'Port', value }] });

const online = async (shop: Shop): Promise<void> => {
  await shop.world.apply(instance(PORT));
  await shop.online();
};
const edit = (shop: Shop, spec: object): Promise<void> => shop.world.edit('Instance', 'web-eu', spec);
const on =
  (method: string, path: RegExp) =>
  (request: PortRequest): boolean =>
    request.method === method && path.test(request.path);

describe('a service that', () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await Shop.open();
  });
  afterEach(() => shop.close());

  const puts = (since: number): number => shop.writes(since).filter((call) => call === 'PUT').length;

  // R2, R5: driftPolicy speaks of what others change, not of what the service makes of a declaration.
  describe.each(['Correct', 'Report', 'Ignore'])('under driftPolicy %s', (policy) => {
    it.each([
      [
        'lower-cases tags',
        '  tags: [Web]',
        (body: { tags?: string[] }) => ({ ...body, tags: body.tags?.map((tag) => tag.toLowerCase()) }),
      ],
      [
        'drops a tag',
        '  tags: [Web]',
        (body: { tags?: string[] }) => ({ ...body, tags: body.tags?.filter((tag) => tag !== 'Web') }),
      ],
      [
        'trims values',
        '  variables: [{name: GREETING, type: Text, value: "hello "}]',
        (body: { variables?: { value?: string }[] }) => ({
          ...body,
          variables: body.variables?.map((variable) => ({ ...variable, value: variable.value?.trim() })),
        }),
      ],
    ] as const)(
      '%s is told so, and asked slowly from then on, also by a process that starts',
      async (_name, spec, spoil) => {
        shop.spoil = (request, given) => changedInstances(request, given, spoil);
        await shop.world.apply(instance(`${spec}\n  driftPolicy: ${policy}`));
        await shop.world.until(() => shop.ready() === 'False NotApplied', HOUR);
        expect(shop.message()).toMatch(/tags\.Web|variables\.GREETING\.value \(declared hello/);
        const before = shop.mark();
        await shop.world.advance(12 * HOUR);
        expect(puts(before)).toBeLessThanOrEqual(8);
        const restarted = shop.mark();
        shop.restart();
        await shop.world.advance(HOUR);
        expect(puts(restarted)).toBeLessThanOrEqual(6);
        expect(shop.ready()).toBe('False NotApplied');
      },
    );
  });

  // R1
  it('refuses a write is not read at the pace of a second either', async () => {
    await online(shop);
    shop.judge = (request) =>
      on('PUT', /^\/services\/instances\/[^/]+$/)(request) ? answer(500, {}) : undefined;
    const before = shop.mark();
    await edit(shop, port('81'));
    await shop.world.advance(HOUR);
    const reads = shop.world.sandbox.admin
      .calls({ since: before })
      .filter(({ method, path }) => method === 'GET' && path.startsWith('/services/instances/'));
    expect(reads.length).toBeLessThanOrEqual(60);
  });

  it('fails and asks for a wait of years is asked again within minutes', async () => {
    await online(shop);
    let isBroken = true;
    shop.judge = (request) =>
      isBroken && on('PUT', /^\/services\/instances\/[^/]+$/)(request)
        ? answer(500, {}, { 'retry-after': '99999999' })
        : undefined;
    await edit(shop, port('81'));
    await shop.world.advance(MINUTE);
    isBroken = false;
    await shop.world.until(() => shop.ready() === 'True Settled', 15 * MINUTE);
    expect(shop.record().variables).toMatchObject([{ name: 'PORT', value: '81' }]);
  });

  it.each(['deploy', 'reinstall'] as const)(
    'hangs in a %s for ever is asked less and less often once its time is over',
    async (operation) => {
      if (operation === 'reinstall') await online(shop);
      shop.world.sandbox.admin.addOperationFault({ operation, effect: 'stuck', times: 1 });
      if (operation === 'deploy') await shop.world.apply(instance());
      else await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
      await shop.world.until(() => shop.ready() === 'False OperationFailed', HOUR);
      const before = shop.mark();
      await shop.world.advance(HOUR);
      expect(shop.world.sandbox.admin.calls({ since: before }).length).toBeLessThan(100);
    },
  );

  // R9
  it('answers a POST with 409 is quoted, and asked slowly', async () => {
    shop.judge = (request) =>
      on('POST', /^\/services\/instances$/)(request)
        ? answer(409, { message: 'quota of the team' })
        : undefined;
    await shop.world.apply(instance());
    await shop.world.until(() => shop.ready() === 'False Refused', HOUR);
    expect(shop.message()).toContain('quota of the team');
  });

  // R10
  it('has refused is asked again when a person asks for a look, and at most once in ten seconds', async () => {
    await online(shop);
    let count = 0;
    shop.judge = (request) => {
      if (!on('PUT', /^\/services\/instances\/[^/]+$/)(request)) return undefined;
      count += 1;
      return answer(400, { message: 'no' });
    };
    await edit(shop, port('81'));
    await shop.world.until(() => shop.ready() === 'False Refused');
    const ask = (value: string): Promise<void> =>
      shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': value });
    await shop.world.advance(MINUTE);
    expect(count).toBe(1);
    await ask('1');
    await shop.world.until(() => count === 2, 5_000);
    await ask('2');
    await shop.world.advance(8_000);
    expect(count).toBe(2);
    await shop.world.advance(4_000);
    expect(count).toBe(3);
    shop.judge = () => undefined;
    await shop.world.advance(10_000);
    await ask('3');
    await shop.online();
  });

  it('has refused a POST leaves neither intent nor finalizer behind', async () => {
    shop.judge = (request) =>
      on('POST', /^\/services\/instances$/)(request) ? answer(400, { message: 'no' }) : undefined;
    await shop.world.apply(instance());
    await shop.world.until(() => shop.ready() === 'False Refused');
    const { finalizers = [], annotations = {} } = shop.world.get('Instance', 'web-eu')?.metadata ?? {};
    expect(finalizers).toEqual([]);
    expect(annotations['boxwright.dev/create-intent']).toBeUndefined();
  });

  it('had refused what is declared before a start is asked within ten minutes of it, not at once', async () => {
    await online(shop);
    const at: number[] = [];
    shop.judge = (request) => {
      if (!on('PUT', /^\/services\/instances\/[^/]+$/)(request)) return undefined;
      at.push(shop.world.clock.monotonic());
      return answer(400, { message: 'no' });
    };
    await edit(shop, port('81'));
    await shop.world.until(() => shop.ready() === 'False Refused');
    const started = shop.world.clock.monotonic();
    at.length = 0;
    shop.restart();
    await shop.world.advance(20_000);
    expect(at).toEqual([]);
    await shop.world.until(() => at.length > 0, 11 * MINUTE);
    expect((at[0] ?? 0) - started).toBeLessThanOrEqual(11 * MINUTE);
    expect(shop.ready()).toBe('False Refused');
  });

  it('had refused the content before a start says the same words after it, and holds no power back', async () => {
    await shop.world.apply(instance(`${PORT}  powerState: Running\n`));
    await shop.online();
    shop.judge = (request) =>
      on('PUT', /^\/services\/instances\/[^/]+$/)(request) ? answer(400, { message: 'no' }) : undefined;
    await edit(shop, port('81'));
    await shop.world.until(() => shop.ready() === 'False Refused');
    const said = shop.message();
    shop.restart();
    await shop.world.advance(10_000);
    expect(shop.message()).toBe(said);
    shop.world.kill();
    await shop.byHand('PUT', `/services/instances/${shop.status().id}/shutdown`);
    await shop.world.advance(10_000);
    shop.world.start();
    await shop.world.until(() => shop.pair() === 'done+poweron', 30_000);
    await shop.world.until(() => shop.message() === said, MINUTE);
  });
});
