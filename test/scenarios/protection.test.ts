import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOUR, instance, MINUTE, Shop } from './shop.ts';

const PROTECTED = '  terminationProtection: true';

describe('an instance with terminationProtection', () => {
  let shop: Shop;
  let id: string;
  beforeEach(async () => {
    shop = await Shop.open();
    await shop.world.apply(instance(PROTECTED));
    await shop.online();
    ({ id } = shop.record());
  });
  afterEach(() => shop.close());

  /** Deletes the resource, and waits until it has said what holds it. */
  async function deleted(): Promise<number> {
    const before = shop.mark();
    await shop.world.delete('Instance', 'web-eu');
    await shop.world.until(() => shop.ready() === 'False Protected', HOUR);
    return before;
  }

  it('is not ended when its resource is deleted, which says what to do', async () => {
    const before = await deleted();
    expect(shop.message()).toContain('spec.terminationProtection');
    expect(shop.message()).toContain('Orphan');
    shop.restart();
    await shop.world.advance(24 * HOUR);
    expect(shop.writes(before)).toEqual([]);
    expect(shop.record(id).state).toBe('done');
  });

  it('is ended once that is false', async () => {
    await deleted();
    await shop.world.edit('Instance', 'web-eu', { terminationProtection: false });
    await shop.gone();
    expect(shop.records()).toEqual([]);
  });

  it('is let go of by deletionPolicy Orphan', async () => {
    await deleted();
    await shop.world.edit('Instance', 'web-eu', { deletionPolicy: 'Orphan' });
    await shop.gone();
    expect(shop.record(id).state).toBe('done');
  });

  it('is asked for by no DELETE where reads do not show it', async () => {
    const before = shop.mark();
    let isHidden = true;
    shop.spoil = (request, given) =>
      isHidden && request.method === 'GET' && request.path.includes('/instances')
        ? {
            ...given,
            status: request.path.includes('workspaces') ? 200 : 404,
            body: Buffer.from(request.path.includes('workspaces') ? '[]' : '{}'),
          }
        : given;
    await shop.world.delete('Instance', 'web-eu');
    await shop.world.advance(30_000);
    isHidden = false;
    await shop.world.until(() => shop.ready() === 'False Protected', HOUR);
    expect(shop.writes(before)).toEqual([]);
  });

  it('does not hold its resource when it is gone already', async () => {
    shop.world.sandbox.admin.removeRecord('instances', id);
    const before = shop.mark();
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
    expect(shop.writes(before)).toEqual([]);
  });

  it('is ended by a lease that says so', async () => {
    await shop.world.edit('Instance', 'web-eu', { lease: { operation: 'Terminate', after: '1h' } });
    await shop.world.advance(HOUR + 10 * MINUTE);
    expect(shop.record(id).operation.event).toContain('terminate');
  });
});
