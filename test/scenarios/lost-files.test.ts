import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PortRequest } from '../../src/service/index.ts';
import { answer, HOUR, instance, MINUTE, Shop } from './shop.ts';

const conf = (inline: string): object => ({
  variables: [{ name: 'CONF', type: 'File', file: { inline } }],
});

// H5
describe('a service that has lost the blobs of files', () => {
  let shop: Shop;
  /** Paths of the blobs that are gone: what names one is refused. */
  let gone: string[] = [];
  beforeEach(async () => {
    gone = [];
    shop = await Shop.open();
    shop.judge = (request) => (namesGone(request) ? answer(400, { message: 'no such blob' }) : undefined);
  });
  afterEach(() => shop.close());

  const namesGone = ({ method, body }: PortRequest): boolean => {
    if ((method !== 'PUT' && method !== 'POST') || body === undefined) return false;
    const text = Buffer.from(body).toString();
    return gone.some((url) => text.includes(url));
  };
  const lose = (): void => {
    const all = JSON.stringify([...shop.world.sandbox.admin.records('boxes'), ...shop.records()]);
    gone = [...new Set(all.match(/\/services\/blobs\/download\/[^"\\]+/g))];
  };

  it('gets those of a box again with the next change of anything, at once', async () => {
    lose();
    expect(gone.length).toBeGreaterThan(0);
    await shop.world.edit('Box', 'web', { description: 'Another' });
    await shop.world.until(() => shop.ready('web', 'Box') === 'True Settled', MINUTE);
    expect(JSON.stringify(shop.world.sandbox.admin.records('boxes'))).toContain('Another');
  });

  it('and refuses for another reason gets no more than one upload with each slow try', async () => {
    const before = shop.mark();
    shop.judge = (request) =>
      request.method === 'PUT' && request.path.startsWith('/services/boxes/')
        ? answer(400, { message: 'never' })
        : undefined;
    await shop.world.edit('Box', 'web', { description: 'Another' });
    await shop.world.until(() => shop.ready('web', 'Box') === 'False Refused', MINUTE);
    await shop.world.advance(24 * HOUR);
    const uploads = shop.writes(before).filter((call) => call.includes('blobs'));
    expect(uploads.length).toBeLessThanOrEqual(2 * 12);
  });

  it('gets that of an instance again', async () => {
    await shop.world.apply(instance('  variables: [{name: CONF, type: File, file: {inline: a}}]\n'));
    await shop.online();
    shop.judge = (request) =>
      request.method === 'PUT' && /\/instances\/[^/]+$/.test(request.path)
        ? answer(400, { message: 'no such blob' })
        : undefined;
    const before = shop.mark();
    await shop.world.edit('Instance', 'web-eu', conf('b'));
    await shop.world.until(() => shop.ready() === 'False Refused', 5 * MINUTE);
    shop.judge = () => undefined;
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': 'now' });
    await shop.online();
    expect(shop.writes(before).filter((call) => call.includes('blobs'))).toHaveLength(2);
  });
});
