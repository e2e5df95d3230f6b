import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { BOX_AND_POLICY, instance, RealWorld } from '../support/real-world.ts';

/** Minutes from now, as an RFC 3339 time. */
function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}

describe('an instance that is online', () => {
  let world: RealWorld;
  beforeAll(async () => {
    await installKinds(testCluster());
    world = await RealWorld.start();
    await world.put(world.connection() + '---' + BOX_AND_POLICY);
    await world.put(
      instance(
        'one',
        `powerState: Running, variables: [{name: PORT, type: Port, value: '80'}], tags: [shop]`,
      ),
    );
    await world.ready('Instance', 'one');
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it('is not deployed with a variable that its box does not have, and is once the name is right', async () => {
    const typo = "variables: [{name: PORTT, type: Port, value: '80'}]";
    await world.put(instance('typo', typo));
    const said = await world.condition('Instance', 'typo', { reason: 'UnknownVariable' });
    expect(said.message).toBe(
      'spec.variables[0].name: box plain has no variable PORTT; did you mean PORT? It has PORT',
    );
    await world.put(instance('typo', typo.replace('PORTT', 'PORT')));
    await world.ready('Instance', 'typo');
  });

  const operations = (): string[] =>
    world.sandbox.admin
      .records('operations')
      .map((record) => (record as unknown as { operation: string }).operation);

  const count = (operation: string): number => operations().filter((each) => each === operation).length;

  it('is shut down and powered on by powerState', async () => {
    await world.edit('Instance', 'one', { powerState: 'Stopped' });
    const stopped = await world.condition('Instance', 'one', { status: 'True' });
    expect(stopped.reason).toBe('ShutDown');
    await world.edit('Instance', 'one', { powerState: 'Running' });
    const started = await world.condition('Instance', 'one', { status: 'True' });
    expect(started.reason).toBe('Settled');
    expect(operations().filter((event) => event === 'shutdown' || event === 'poweron')).toEqual([
      'shutdown',
      'poweron',
    ]);
  });

  it('is reinstalled once for each new request', async () => {
    await world.annotate('Instance', 'one', { 'boxwright.dev/request-reinstall': 'first' });
    await eventually('the request is handled', async () => {
      const found = await world.get('Instance', 'one');
      return (found?.status?.handledRequests as { reinstall?: string } | undefined)?.reinstall === 'first';
    });
    await world.ready('Instance', 'one');
    expect(count('reinstall')).toBe(1);
    await world.annotate('Instance', 'one', { 'boxwright.dev/requested-at': 'now' });
    await eventually(
      'the look is echoed',
      async () => (await world.get('Instance', 'one'))?.status?.lastHandledRequest === 'now',
    );
    expect(count('reinstall')).toBe(1);
    await world.annotate('Instance', 'one', { 'boxwright.dev/request-reinstall': 'second' });
    await eventually('it is reinstalled again', () => count('reinstall') === 2);
    const found = await world.ready('Instance', 'one');
    expect(found.status?.lastOperation).toMatchObject({ event: 'reinstall', outcome: 'Succeeded' });
  });

  it('gets changed variables and is reconfigured, once', async () => {
    await world.edit('Instance', 'one', { variables: [{ name: 'PORT', type: 'Port', value: '8081' }] });
    await world.ready('Instance', 'one');
    expect(count('reconfigure')).toBe(1);
    const [record] = world.sandbox.admin.records('instances');
    expect(JSON.stringify(record)).toContain('8081');
  });

  it('keeps tags that others put there, and loses those that are declared no more', async () => {
    const [record] = world.sandbox.admin.records('instances') as unknown as { id: string; tags: string[] }[];
    world.sandbox.admin.editRecord('instances', record?.id ?? '', {
      tags: [...(record?.tags ?? []), 'by-hand'],
    });
    await world.edit('Instance', 'one', { tags: ['eu'] });
    await world.ready('Instance', 'one');
    const [after] = world.sandbox.admin.records('instances') as unknown as { tags: string[] }[];
    expect(after?.tags).toEqual(expect.arrayContaining(['by-hand', 'eu']));
    expect(after?.tags).not.toContain('shop');
  });

  it('has the lease of an InstanceLease, renewed on request and taken off with it', async () => {
    await world.put(`
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: nights}
spec: {instanceRef: {name: one}, operation: Shutdown, after: 1h}
`);
    await world.ready('InstanceLease', 'nights');
    const first = (await world.get('InstanceLease', 'nights'))?.status?.expireAt as string;
    expect(Date.parse(first)).toBeGreaterThan(Date.parse(inMinutes(50)));

    await world.edit('InstanceLease', 'nights', { after: '5h' });
    await eventually('the end has moved', async () => {
      const { status } = await world.ready('InstanceLease', 'nights');
      return Date.parse(status?.expireAt as string) > Date.parse(inMinutes(4 * 60));
    });
    const shown = (await world.get('Instance', 'one'))?.status?.lease;
    expect(shown).toMatchObject({ operation: 'Shutdown', released: false, by: 'Service' });

    await world.annotate('InstanceLease', 'nights', { 'boxwright.dev/renew': 'again' });
    await eventually('the renewal is acted upon', async () => {
      const { status } = await world.ready('InstanceLease', 'nights');
      return status?.handledRenew === 'again';
    });

    await world.delete('InstanceLease', 'nights');
    await eventually('the lease is off the record', async () => {
      const { status } = await world.ready('Instance', 'one');
      return status?.lease === undefined || (status.lease as { operation: string }).operation === 'AlwaysOn';
    });
  });

  it('is shut down by its lease, stays so, and is armed anew by a change', async () => {
    await world.edit('Instance', 'one', { lease: { operation: 'Shutdown', after: '10m' } });
    await world.ready('Instance', 'one');
    world.sandbox.admin.jump(12 * 60_000);
    const released = await world.condition('Instance', 'one', { status: 'True', reason: 'LeaseReleased' });
    expect(released.message).toMatch(/arm it anew/);
    await world.edit('Instance', 'one', { lease: { operation: 'Shutdown', after: '3h' } });
    await world.condition('Instance', 'one', { status: 'True', reason: 'Settled' });
    expect((await world.get('Instance', 'one'))?.status?.phase).toBe('Online');
  });
});
