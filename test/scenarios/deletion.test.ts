import { afterEach, describe, expect, it } from 'vitest';
import { answer, HOUR, instance, MINUTE, Shop } from './shop.ts';

describe('the deletion of an instance', () => {
  let shop: Shop;
  const open = async (...options: Parameters<typeof Shop.open>): Promise<void> => {
    shop = await Shop.open(...options);
  };
  afterEach(() => shop.close());

  const remove = (): Promise<void> => shop.world.delete('Instance', 'web-eu');
  const deleting = (): string => `${shop.ready()}: ${shop.message()}`;

  it('waits for an operation that is under way, then terminates', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    const before = shop.mark();
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(() => shop.record().state === 'processing');
    await remove();
    await shop.world.until(() => deleting().includes('Waits for the end of reinstall'));
    await shop.gone();
    expect(shop.writes(before)).toEqual([
      'PUT reinstall',
      'DELETE ?operation=terminate',
      'DELETE ?operation=delete',
    ]);
    expect(shop.records()).toEqual([]);
  });

  it('never forces an operation that is stuck, until forceTerminateAfter is set', async () => {
    await open();
    shop.world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'stuck', times: 1 });
    await shop.world.apply(instance());
    await shop.world.until(() => shop.status().phase === 'Deploying');
    const before = shop.mark();
    await remove();
    await shop.world.advance(HOUR);
    expect(deleting()).toContain('Waits for the end of deploy');
    expect(deleting()).toContain('forceTerminateAfter');
    expect(shop.writes(before)).toEqual([]);
    expect(shop.world.sandbox.admin.calls({ since: before }).length).toBeLessThan(150);
    await shop.world.edit('Instance', 'web-eu', { forceTerminateAfter: '15m' });
    await shop.gone();
    expect(shop.writes(before)).toEqual(['DELETE ?operation=force_terminate', 'DELETE ?operation=delete']);
    expect(shop.records()).toEqual([]);
  });

  it('forces an operation that is stuck when forceTerminateAfter has passed, and not before', async () => {
    await open();
    await shop.world.apply(instance('  forceTerminateAfter: 15m'));
    await shop.online();
    shop.world.sandbox.admin.addOperationFault({ operation: 'terminate', effect: 'stuck', times: 1 });
    const before = shop.mark();
    await remove();
    // A clock that is set shortens no wait.
    shop.world.clock.jumpWall(HOUR);
    await shop.world.advance(14 * MINUTE);
    expect(shop.writes(before)).toEqual(['DELETE ?operation=terminate']);
    shop.restart();
    await shop.gone();
    expect(shop.writes(before)).toEqual([
      'DELETE ?operation=terminate',
      'DELETE ?operation=force_terminate',
      'DELETE ?operation=delete',
    ]);
  });

  it('tries a terminate that fails three times more, then asks; forceTerminateAfter is one way out', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    shop.world.sandbox.admin.addOperationFault({ operation: 'terminate', effect: 'fail' });
    const before = shop.mark();
    await remove();
    await shop.world.until(() => shop.ready() === 'False NeedsUser', HOUR);
    expect(shop.message()).toContain('forceTerminateAfter');
    expect(shop.message()).toContain('Orphan');
    const asked = shop.world.sandbox.admin.calls({ since: before }).length;
    await shop.world.advance(30 * MINUTE);
    expect(shop.world.sandbox.admin.calls({ since: before }).length - asked).toBeLessThan(100);
    shop.restart();
    await shop.world.advance(30 * MINUTE);
    expect(shop.writes(before)).toEqual(Array.from({ length: 4 }, () => 'DELETE ?operation=terminate'));
    await shop.world.edit('Instance', 'web-eu', { forceTerminateAfter: '15m' });
    await shop.gone();
    expect(shop.records()).toEqual([]);
  });

  it('tries a terminate that fails three times more, then asks; Orphan is the other way out', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    shop.world.sandbox.admin.addOperationFault({ operation: 'terminate', effect: 'fail' });
    await remove();
    await shop.world.until(() => shop.ready() === 'False NeedsUser', HOUR);
    await shop.world.edit('Instance', 'web-eu', { deletionPolicy: 'Orphan' });
    await shop.gone();
    expect(shop.records()).toHaveLength(1);
  });

  it('with deletionPolicy Terminate leaves record and logs, and the next of that name is another', async () => {
    await open();
    await shop.world.apply(instance('  deletionPolicy: Terminate'));
    await shop.online();
    const first = shop.status().id;
    await remove();
    await shop.gone();
    expect(shop.record(first)).toMatchObject({ state: 'done' });
    expect(shop.record(first).operation.event).toMatch(/^terminate/);
    await shop.world.apply(instance());
    await shop.online();
    expect(shop.status().id).not.toBe(first);
    await remove();
    await shop.gone();
    expect(shop.records().map(({ id }) => id)).toEqual([first]);
  });

  it('goes by the deletionPolicy of the connection where the instance names none', async () => {
    await open();
    await shop.world.edit('Connection', 'main', { defaults: { deletionPolicy: 'Orphan' } });
    await shop.world.apply(instance());
    await shop.online();
    await remove();
    await shop.gone();
    expect(shop.records()).toMatchObject([{ state: 'done', operation: { event: 'deploy' } }]);
  });

  it.each(['table', 'always'] as const)(
    'gets rid of what has failed to deploy, whatever terminate is taken for (%s)',
    async (terminate) => {
      await open({ sandbox: { readings: { terminate } } });
      shop.world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'fail', times: 1 });
      await shop.world.apply(instance());
      await shop.world.until(() => shop.ready() === 'False OperationFailed');
      const before = shop.mark();
      await remove();
      await shop.gone();
      expect(shop.writes(before)).toEqual([
        'DELETE ?operation=terminate',
        ...(terminate === 'table' ? ['DELETE ?operation=force_terminate'] : []),
        'DELETE ?operation=delete',
      ]);
      expect(shop.records()).toEqual([]);
    },
  );

  it.each(['done', 'unavailable', 'frozen'])(
    'gets rid by force, where told, of what shows state %s with an operation that is not known here',
    async (state) => {
      await open();
      await shop.world.apply(instance());
      await shop.online();
      const { admin } = shop.world.sandbox;
      admin.editRecord('instances', shop.record().id, {
        state,
        operation: { ...shop.record().operation, event: 'defragment' },
      });
      await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': 'now' });
      await shop.world.until(() => shop.ready() === 'Unknown UnknownState', HOUR);
      const before = shop.mark();
      await remove();
      await shop.world.until(() => shop.message().includes('forceTerminateAfter'), HOUR);
      const terminates = Array.from({ length: 3 }, () => 'DELETE ?operation=terminate');
      expect(shop.writes(before)).toEqual(terminates);
      await shop.world.edit('Instance', 'web-eu', { forceTerminateAfter: '15m' });
      await shop.gone();
      expect(shop.writes(before)).toEqual([
        ...terminates,
        'DELETE ?operation=force_terminate',
        'DELETE ?operation=delete',
      ]);
    },
  );

  it('gets rid of what is shut down', async () => {
    await open();
    await shop.world.apply(instance('  powerState: Stopped'));
    await shop.world.until(() => shop.ready() === 'True ShutDown');
    await remove();
    await shop.gone();
    expect(shop.records()).toEqual([]);
  });

  it('ends when somebody else has terminated and deleted the record meanwhile', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    const { id } = shop.record();
    await shop.byHand('DELETE', `/services/instances/${id}?operation=terminate`);
    await remove();
    await shop.world.until(() => shop.record(id).state === 'done');
    await shop.byHand('DELETE', `/services/instances/${id}?operation=delete`);
    await shop.gone();
    expect(shop.records()).toEqual([]);
  });

  it('names the way out where somebody else has deleted the record and the service says 403', async () => {
    await open({ sandbox: { readings: { gone: '403' } } });
    await shop.world.apply(instance());
    await shop.online();
    shop.world.sandbox.admin.editRecord('instances', shop.record().id, { state: 'processing' });
    await remove();
    await shop.world.until(() => shop.ready() === 'False Deleting');
    const { id } = shop.record();
    shop.judge = (request) =>
      request.path === `/services/instances/${id}` ? answer(403, { message: 'not yours' }) : undefined;
    shop.world.sandbox.admin.removeRecord('instances', id);
    await shop.world.advance(HOUR);
    expect(shop.isGone()).toBe(false);
    expect(shop.message()).toContain('deletionPolicy Orphan');
    await shop.world.edit('Instance', 'web-eu', { deletionPolicy: 'Orphan' });
    await shop.gone();
  });

  it('proves nothing by a 403 when its own delete was refused with one', async () => {
    await open();
    await shop.world.apply(instance());
    await shop.online();
    const { id } = shop.record();
    shop.judge = (request) => {
      const about = request.path.includes(id);
      const refuse = about && (request.method === 'DELETE' || request.method === 'GET');
      return refuse ? answer(403, { message: 'not yours' }) : undefined;
    };
    await remove();
    await shop.world.advance(3 * HOUR);
    expect(shop.isGone()).toBe(false);
    expect(shop.ready()).toBe('False Deleting');
    expect(shop.message()).toMatch(/403|not yours/);
    expect(shop.records()).toHaveLength(1);
    shop.judge = () => undefined;
    await shop.gone();
    expect(shop.records()).toEqual([]);
  });

  it('sends nothing while paused and says so; Orphan lets go all the same', async () => {
    await open();
    await shop.world.apply(instance('  paused: false'));
    await shop.online();
    await shop.world.edit('Instance', 'web-eu', { paused: true });
    const before = shop.mark();
    await remove();
    await shop.world.until(() => deleting().includes('Paused'));
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual([]);
    await shop.world.edit('Instance', 'web-eu', { deletionPolicy: 'Orphan' });
    await shop.gone();
    expect(shop.writes(before)).toEqual([]);
    expect(shop.records()).toHaveLength(1);
  });

  it('of a new instance before its deploy is answered leaves nothing behind', async () => {
    await open();
    let lost = 0;
    shop.spoil = (request, given) => {
      if (request.method !== 'POST' || request.path !== '/services/instances' || lost > 0) return given;
      lost += 1;
      return answer(502, { message: 'bad gateway' });
    };
    await shop.world.apply(instance());
    await shop.world.until(() => lost === 1);
    await remove();
    await shop.gone();
    expect(shop.records()).toEqual([]);
  });
});
