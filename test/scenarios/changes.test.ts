import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOUR, instance, MINUTE, Shop } from './shop.ts';

const port = (value: string): object => ({ variables: [{ name: 'PORT', type: 'Port', value }] });
const PORT = '  variables: [{name: PORT, type: Port, value: "80"}]\n';

describe('a change of variables', () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await Shop.open();
  });
  afterEach(() => shop.close());

  const valueOf = (name: string): string | undefined =>
    shop.record().variables.find((variable) => variable.name === name)?.value;
  const edit = (spec: object): Promise<void> => shop.world.edit('Instance', 'web-eu', spec);

  it.each([
    ['Reconfigure', ['PUT', 'PUT reconfigure']],
    ['Reinstall', ['PUT', 'PUT reinstall']],
    ['None', ['PUT']],
  ])('with applyChanges %s is followed by what that says, once', async (applyChanges, expected) => {
    await shop.world.apply(instance(`${PORT}  applyChanges: ${applyChanges}`));
    await shop.online();
    const before = shop.mark();
    await edit(port('81'));
    await shop.world.until(() => valueOf('PORT') === '81');
    await shop.online();
    await shop.world.advance(HOUR);
    shop.restart();
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual(expected);
    expect(shop.ready()).toBe('True Settled');
  });

  it.each(['Reconfigure', 'Reinstall'])(
    'that is taken back while its %s runs is taken back on the machines, too',
    async (applyChanges) => {
      await shop.world.apply(instance(`${PORT}  applyChanges: ${applyChanges}`));
      await shop.online();
      const before = shop.mark();
      await edit(port('81'));
      await shop.world.until(() => shop.pair().startsWith('processing+'));
      await edit(port('80'));
      await shop.world.until(() => valueOf('PORT') === '80');
      await shop.online();
      await shop.world.advance(HOUR);
      const brought = `PUT ${applyChanges.toLowerCase()}`;
      expect(shop.writes(before)).toEqual(['PUT', brought, 'PUT', brought]);
    },
  );

  it('that None has put on the record is not applied when applyChanges is changed later', async () => {
    await shop.world.apply(instance(`${PORT}  applyChanges: None`));
    await shop.online();
    await edit(port('81'));
    await shop.world.until(() => valueOf('PORT') === '81');
    await shop.online();
    const before = shop.mark();
    await edit({ applyChanges: 'Reinstall' });
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual([]);
    expect(shop.ready()).toBe('True Settled');
  });

  it('that None has put on the record, and that is taken back at once, needs no operation', async () => {
    await shop.world.apply(instance(`${PORT}  applyChanges: Reconfigure`));
    await shop.online();
    const before = shop.mark();
    await edit({ ...port('81'), applyChanges: 'None' });
    await shop.world.until(() => valueOf('PORT') === '81');
    await edit({ ...port('80'), applyChanges: 'Reconfigure' });
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual(['PUT', 'PUT']);
    expect(shop.ready()).toBe('True Settled');
  });

  it('to an instance that is shut down is put there at once, and the power-on applies it', async () => {
    await shop.world.apply(instance(`${PORT}  powerState: Stopped`));
    await shop.world.until(() => shop.ready() === 'True ShutDown');
    const before = shop.mark();
    await edit(port('81'));
    await shop.world.until(() => valueOf('PORT') === '81' && shop.ready() === 'True ShutDown');
    expect(shop.writes(before)).toEqual(['PUT']);
    shop.restart();
    await shop.world.advance(MINUTE);
    await edit({ powerState: 'Running' });
    await shop.online();
    await shop.world.advance(HOUR);
    expect(shop.writes(before).filter((call) => call !== 'PUT')).toEqual(['PUT poweron']);
  });

  it('to an instance that is shut down is reinstalled after the power-on where applyChanges says so', async () => {
    await shop.world.apply(instance(`${PORT}  powerState: Stopped\n  applyChanges: Reinstall`));
    await shop.world.until(() => shop.ready() === 'True ShutDown');
    const before = shop.mark();
    await edit(port('81'));
    await shop.world.until(() => valueOf('PORT') === '81' && shop.ready() === 'True ShutDown');
    await edit({ powerState: 'Running' });
    await shop.online();
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual(['PUT', 'PUT poweron', 'PUT reinstall']);
  });

  it.each([
    [false, 'Reconfigure', []],
    [true, 'Reconfigure', []],
    [false, 'Reinstall', ['PUT reinstall']],
    [true, 'Reinstall', ['PUT reinstall']],
  ])(
    'is applied by a power-on by hand (operator restarted: %s, applyChanges: %s)',
    async (restarted, applyChanges, expected) => {
      await shop.world.apply(instance(`${PORT}  applyChanges: ${applyChanges}`));
      await shop.online();
      const { id } = shop.record();
      await shop.byHand('PUT', `/services/instances/${id}/shutdown`);
      await shop.world.until(() => shop.ready() === 'True ShutDown', HOUR);
      await edit(port('81'));
      await shop.world.until(() => valueOf('PORT') === '81' && shop.ready() === 'True ShutDown');
      const before = shop.mark();
      if (restarted) shop.world.kill();
      await shop.byHand('PUT', `/services/instances/${id}/poweron`);
      await shop.world.until(() => shop.pair() === 'done+poweron');
      if (restarted) shop.world.start();
      await shop.online();
      await shop.world.advance(HOUR);
      expect(shop.writes(before)).toEqual(['PUT poweron', ...expected]);
    },
  );

  it('made while the instance was powered on by hand before it was put there is reconfigured', async () => {
    await shop.world.apply(instance(PORT));
    await shop.online();
    const { id } = shop.record();
    await shop.byHand('PUT', `/services/instances/${id}/shutdown`);
    await shop.world.until(() => shop.ready() === 'True ShutDown', HOUR);
    await edit({ ...port('81'), paused: true });
    await shop.byHand('PUT', `/services/instances/${id}/poweron`);
    await shop.world.until(() => shop.pair() === 'done+poweron');
    await edit({ paused: false });
    await shop.world.until(() => shop.status().lastOperation?.event === 'reconfigure');
    await shop.online();
    expect(shop.record().operation.event).toBe('reconfigure');
  });

  it('by somebody else before the first deploy has ended is put right, on the machines, too', async () => {
    const before = shop.mark();
    await shop.world.apply(instance(`${PORT}  applyChanges: Reconfigure`));
    await shop.world.until(() => shop.status().id !== undefined && shop.pair() === 'processing+deploy');
    const { id, variables } = shop.record();
    shop.world.sandbox.admin.editRecord('instances', id, {
      variables: variables.map((variable) => ({ ...variable, value: '4444' })),
    });
    await shop.online();
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual(['POST', 'PUT', 'PUT reconfigure']);
    expect(valueOf('PORT')).toBe('80');
  });

  it.each([
    ['Correct', ['PUT', 'PUT reconfigure'], '80'],
    ['Report', [], '4444'],
  ])(
    'by somebody else, who has it brought to the machines, is put right there under driftPolicy %s or left',
    async (policy, expected, value) => {
      await shop.world.apply(instance(`${PORT}  applyChanges: Reconfigure\n  driftPolicy: ${policy}`));
      await shop.online();
      await shop.world.advance(MINUTE);
      const { id, variables } = shop.record();
      const changed = variables.map((variable) => ({ ...variable, value: '4444' }));
      shop.world.sandbox.admin.editRecord('instances', id, { variables: changed });
      const before = shop.mark();
      await shop.world.sandbox.handle({
        method: 'PUT',
        path: `/services/instances/${id}/reconfigure`,
        headers: { 'service-token': shop.world.sandbox.admin.issueToken('ops@example.com') },
        body: new Uint8Array(),
      });
      const byHand = shop.writes(before).length;
      shop.restart();
      await shop.world.advance(HOUR);
      expect(shop.writes(before).slice(byHand)).toEqual(expected);
      expect(valueOf('PORT')).toBe(value);
      expect(shop.ready()).toBe('True Settled');
    },
  );

  it('on the record alone, by somebody else, is put right without an operation', async () => {
    await shop.world.apply(instance(`${PORT}  applyChanges: Reconfigure`));
    await shop.online();
    await shop.world.advance(MINUTE);
    const { id, variables } = shop.record();
    shop.world.sandbox.admin.editRecord('instances', id, {
      variables: variables.map((variable) => ({ ...variable, value: '4444' })),
    });
    const before = shop.mark();
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual(['PUT']);
  });

  it('taken back while the instance is shut down needs no operation', async () => {
    await shop.world.apply(instance(`${PORT}  powerState: Stopped\n  applyChanges: Reinstall`));
    await shop.world.until(() => shop.ready() === 'True ShutDown');
    await edit(port('81'));
    await shop.world.until(() => valueOf('PORT') === '81' && shop.ready() === 'True ShutDown');
    await edit(port('80'));
    await shop.world.until(() => valueOf('PORT') === '80' && shop.ready() === 'True ShutDown');
    const before = shop.mark();
    await edit({ powerState: 'Running' });
    await shop.online();
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual(['PUT poweron']);
  });

  it('while another operation runs waits for its end', async () => {
    await shop.world.apply(instance(PORT));
    await shop.online();
    const before = shop.mark();
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(() => shop.record().state === 'processing');
    await edit(port('81'));
    await shop.world.until(() => shop.status().lastOperation?.event === 'reconfigure', HOUR);
    await shop.online();
    expect(shop.writes(before)).toEqual(['PUT reinstall', 'PUT', 'PUT reconfigure']);
  });

  it('whose reconfigure fails is said with its log, is not run again, and goes on with the next change', async () => {
    await shop.world.apply(instance(PORT));
    await shop.online();
    shop.world.sandbox.admin.addOperationFault({ operation: 'reconfigure', effect: 'fail', times: 1 });
    const before = shop.mark();
    await edit(port('81'));
    await shop.world.until(() => shop.ready() === 'False OperationFailed');
    expect(shop.message()).toContain('reconfigure failed');
    await shop.world.advance(HOUR);
    shop.restart();
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual(['PUT', 'PUT reconfigure']);
    expect(shop.ready()).toBe('False OperationFailed');
    await edit(port('82'));
    await shop.online();
    expect(shop.writes(before)).toEqual(['PUT', 'PUT reconfigure', 'PUT', 'PUT reconfigure']);
  });

  it('after a failed deploy deploys again', async () => {
    shop.world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'fail', times: 1 });
    await shop.world.apply(instance(PORT));
    await shop.world.until(() => shop.ready() === 'False OperationFailed');
    const before = shop.mark();
    await edit(port('81'));
    await shop.online();
    expect(shop.writes(before)).toEqual(['PUT', 'PUT deploy']);
  });

  it('keeps what others have added, and the values of variables that nobody here declares', async () => {
    await shop.world.apply(instance(PORT));
    await shop.online();
    const { id, variables } = shop.record();
    shop.world.sandbox.admin.editRecord('instances', id, {
      variables: [...variables, { name: 'THEIRS', type: 'Colour', value: 'green', hue: 120 }],
    });
    await edit(port('81'));
    await shop.world.until(() => shop.status().lastOperation?.event === 'reconfigure');
    await shop.online();
    expect(shop.record().variables).toContainEqual({
      name: 'THEIRS',
      type: 'Colour',
      value: 'green',
      hue: 120,
    });
  });
});

describe('a Password variable that nobody here declares', () => {
  const PASSWORD = { name: 'THEIRS', type: 'Password', value: 'their-password' };
  let shop: Shop;
  afterEach(() => shop.close());

  async function withTheirs(passwords: 'plain' | 'masked'): Promise<void> {
    shop = await Shop.open({ sandbox: { readings: { passwords } } });
    await shop.world.apply(instance(PORT));
    await shop.online();
    const { id, variables } = shop.record();
    shop.world.sandbox.admin.editRecord('instances', id, { variables: [...variables, PASSWORD] });
  }

  it('goes along with a PUT where the service shows its value', async () => {
    await withTheirs('plain');
    await shop.world.edit('Instance', 'web-eu', port('81'));
    await shop.world.until(() => shop.status().lastOperation?.event === 'reconfigure');
    await shop.online();
    expect(shop.record().variables).toContainEqual(PASSWORD);
  });

  it('keeps the PUT from being sent where the service masks it: said, with the ways out', async () => {
    await withTheirs('masked');
    const before = shop.mark();
    await shop.world.edit('Instance', 'web-eu', port('81'));
    await shop.world.until(() => shop.ready() === 'False NotApplied', HOUR);
    expect(shop.message()).toContain('THEIRS');
    expect(shop.message()).toContain('from a Secret');
    await shop.world.advance(HOUR);
    expect(shop.writes(before)).toEqual([]);
    expect(shop.record().variables).toContainEqual(PASSWORD);
    // What needs no PUT goes on.
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(() => shop.status().handledRequests?.['reinstall'] === '1', HOUR);
    await shop.world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await shop.world.until(() => shop.status().phase === 'ShutDown', HOUR);
    await shop.world.edit('Instance', 'web-eu', { powerState: 'Running' });
    await shop.world.until(() => shop.status().phase === 'Online', HOUR);
    expect(shop.ready()).toBe('False NotApplied');
    expect(shop.record().variables).toContainEqual(PASSWORD);
    // Declared here, its value is known, and the change is made.
    const declared = ['PORT', 'THEIRS'].map((name) => ({
      name,
      type: name === 'PORT' ? 'Port' : 'Password',
    }));
    await shop.world.edit('Box', 'web', { variables: declared });
    await shop.world.until(() => shop.ready('web', 'Box') === 'True Settled');
    await shop.world.apply(
      'apiVersion: v1\nkind: Secret\nmetadata: {name: theirs}\nstringData: {password: our-password}',
    );
    await shop.world.edit('Instance', 'web-eu', {
      variables: [
        { name: 'PORT', type: 'Port', value: '81' },
        {
          name: 'THEIRS',
          type: 'Password',
          valueFrom: { secretKeyRef: { name: 'theirs', key: 'password' } },
        },
      ],
    });
    await shop.online();
    expect(shop.record().variables).toContainEqual(
      expect.objectContaining({ ...PASSWORD, value: 'our-password' }),
    );
  });

  it('is left alone while nothing has to be put', async () => {
    await withTheirs('masked');
    await shop.world.advance(HOUR);
    expect(shop.ready()).toBe('True Settled');
    expect(shop.record().variables).toContainEqual(PASSWORD);
  });
});
