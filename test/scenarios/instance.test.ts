import { beforeEach, describe, expect, it } from 'vitest';
import { DIGEST_SECRET } from '../../src/controllers/keys.ts';
import { SECRETS } from '../../src/kube/index.ts';
import { CONNECTION, typeOfKind, World } from '../support/world.ts';
import { BOXES, instance } from './shop.ts';

function leaseOf(name: string): string {
  return `
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: ${name}}
spec: {instanceRef: {name: web-eu}, operation: Shutdown, after: 8h}
`;
}

interface Status {
  id?: string;
  phase?: string;
  armed?: string;
  lastOperation?: { event: string; outcome: string; message?: string };
  currentOperation?: unknown;
  box?: { draftHash?: string };
  handledRequests?: Record<string, string>;
  lease?: { operation: string; expire?: string; released: boolean; by?: string };
  releasedExpire?: string;
  drift?: { field: string; want: string; have: string }[];
}

interface Record_ {
  id: string;
  state: string;
  operation: { event: string };
  tags: string[];
  variables: { name: string; value: string }[];
  lease?: { operation: string; expire: string };
}

describe('an instance', () => {
  let world: World;

  beforeEach(async () => {
    world = new World();
    world.start();
    await world.apply(CONNECTION);
    await world.apply(BOXES);
    await world.until(
      () => world.ready('Box', 'web') === 'True' && world.ready('PolicyBox', 'small') === 'True',
    );
  });

  const status = (name = 'web-eu'): Status => world.get('Instance', name)?.status ?? {};
  const ready = (): string =>
    `${world.ready('Instance', 'web-eu')} ${world.condition('Instance', 'web-eu', 'Ready')?.reason}`;
  const record = (id = status().id ?? ''): Record_ =>
    (world.sandbox.admin.records('instances') as unknown as Record_[]).find((r) => r.id === id) as Record_;
  const online = (): Promise<void> =>
    world.until(() => ready() === 'True Settled' && status().phase === 'Online');
  const writes = (since: number): string[] =>
    world.sandbox.admin
      .calls({ since })
      .filter(({ method }) => method !== 'GET')
      .map(({ method, route }) => `${method} ${route}`);
  const mark = (): number => (world.sandbox.admin.calls({}).at(-1) as { seq: number } | undefined)?.seq ?? 0;

  it('is deployed once, with its tags and variables', async () => {
    await world.apply(instance('  variables: [{name: PORT, type: Port, value: "80"}]\n  tags: [shop]'));
    await online();
    expect(record()).toMatchObject({ state: 'done', operation: { event: 'deploy' } });
    expect(record().tags).toContain('shop');
    expect(world.sandbox.admin.records('instances')).toHaveLength(1);
    expect(status().lastOperation).toMatchObject({ event: 'deploy', outcome: 'Succeeded' });
  });

  it('puts changed variables on the record and reconfigures once', async () => {
    await world.apply(instance('  variables: [{name: PORT, type: Port, value: "80"}]'));
    await online();
    const before = mark();
    await world.edit('Instance', 'web-eu', { variables: [{ name: 'PORT', type: 'Port', value: '81' }] });
    await world.until(() => status().lastOperation?.event === 'reconfigure' && ready() === 'True Settled');
    expect(record().variables).toMatchObject([{ name: 'PORT', value: '81' }]);
    await world.advance(3_600_000);
    expect(writes(before)).toEqual([
      'PUT /services/instances/{instance_id}',
      'PUT /services/instances/{instance_id}/reconfigure',
    ]);
  });

  it('follows powerState down and up again', async () => {
    await world.apply(instance('  powerState: Running'));
    await online();
    await world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await world.until(() => ready() === 'True ShutDown');
    expect(status().phase).toBe('ShutDown');
    await world.edit('Instance', 'web-eu', { powerState: 'Running' });
    await online();
    expect(record().operation.event).toBe('poweron');
  });

  it('carries out a request once, now or when the running operation has ended', async () => {
    await world.apply(instance(''));
    await online();
    const before = mark();
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await world.until(() => status().handledRequests?.['reinstall'] === '1' && ready() === 'True Settled');
    await world.advance(3_600_000);
    expect(writes(before)).toEqual(['PUT /services/instances/{instance_id}/reinstall']);
  });

  it('counts requests that were there before the deploy as carried out', async () => {
    await world.apply(
      instance('').replace(
        '{name: web-eu}',
        "{name: web-eu, annotations: {boxwright.dev/request-reinstall: 'old'}}",
      ),
    );
    await online();
    await world.advance(600_000);
    expect(record().operation.event).toBe('deploy');
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': 'new' });
    await world.until(() => status().handledRequests?.['reinstall'] === 'new' && ready() === 'True Settled');
  });

  it('deploys with its lease, stays as the lease left it, and comes back when the lease is renewed', async () => {
    await world.apply(instance('  powerState: Running\n  lease: {operation: Shutdown, after: 1h}'));
    await online();
    expect(record().lease).toMatchObject({ operation: 'shutdown' });
    await world.until(() => ready() === 'True LeaseReleased', 3 * 3_600_000);
    expect(status().phase).toBe('ShutDown');
    await world.advance(3_600_000);
    expect(ready()).toBe('True LeaseReleased');
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/renew': 'again' });
    await online();
    expect(record().lease).toMatchObject({ operation: 'shutdown' });
    expect(status().lease?.released).toBe(false);
  });

  it('warns before its lease ends', async () => {
    await world.apply(instance('  lease: {operation: Shutdown, after: 3h}'));
    await online();
    expect(world.condition('Instance', 'web-eu', 'LeaseExpiring')).toBeUndefined();
    await world.until(
      () => world.condition('Instance', 'web-eu', 'LeaseExpiring')?.status === 'True',
      3 * 3_600_000,
    );
  });

  it('takes a lease from an InstanceLease, which reports it, and takes it off again', async () => {
    await world.apply(instance(''));
    await online();
    await world.apply(`
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: nights}
spec: {instanceRef: {name: web-eu}, operation: Terminate, after: 8h}
`);
    await world.until(() => world.ready('InstanceLease', 'nights') === 'True');
    expect(record().lease).toMatchObject({ operation: 'terminate' });
    await world.delete('InstanceLease', 'nights');
    await world.until(() => record().lease === undefined || record().lease?.operation === 'alwayson');
    await online();
    expect(status().lease?.operation ?? 'AlwaysOn').toBe('AlwaysOn');
  });

  it('keeps the lease that it has when another is made in the same second', async () => {
    await world.apply(instance('') + '---' + leaseOf('a'));
    await world.until(() => world.ready('InstanceLease', 'a') === 'True');
    const { uid } = world.get('InstanceLease', 'a')?.metadata ?? {};
    const made = world.get('InstanceLease', 'a')?.metadata as { creationTimestamp?: string } | undefined;
    for (const lower of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
      const name = `twin-${lower.charAt(0)}`;
      world.kube.seed(typeOfKind('InstanceLease'), {
        apiVersion: 'boxwright.dev/v1alpha1',
        kind: 'InstanceLease',
        metadata: { name, namespace: 'shop', uid: lower, creationTimestamp: made?.creationTimestamp },
        spec: {
          instanceRef: { name: 'web-eu' },
          operation: 'Terminate',
          after: '1h',
          warnBefore: '1h',
          paused: false,
        },
        status: { observedGeneration: -1 },
      } as never);
      await world.until(() => world.condition('InstanceLease', name, 'Stalled')?.reason === 'Conflict');
    }
    expect(uid).toBeDefined();
    expect(world.ready('InstanceLease', 'a')).toBe('True');
    expect(record().lease).toMatchObject({ operation: 'shutdown' });
  });

  it('waits for the very lease that leaseRef names', async () => {
    await world.apply(instance('  leaseRef: {name: nights}'));
    await world.apply(leaseOf('other'));
    await world.advance(60_000);
    expect(ready()).toBe('False WaitingForReference');
    expect(world.condition('Instance', 'web-eu', 'Ready')?.message).toContain('"nights" does not exist');
    await world.delete('InstanceLease', 'other');
    await world.apply(leaseOf('nights'));
    await online();
    expect(record().lease).toMatchObject({ operation: 'shutdown' });
  });

  it('is not deployed with a lease that is past already', async () => {
    await world.apply(instance("  lease: {operation: Shutdown, expireAt: '2020-01-01T00:00:00Z'}"));
    await world.until(() => ready() === 'False Refused');
    expect(world.condition('Instance', 'web-eu', 'Ready')?.message).toContain('set a later time');
    expect(world.sandbox.admin.records('instances')).toHaveLength(0);
    await world.edit('Instance', 'web-eu', { lease: { operation: 'Shutdown', expireAt: null, after: '2h' } });
    await online();
  });

  it('says that a second lease is a conflict, and keeps the first', async () => {
    await world.apply(instance('  lease: {operation: Shutdown, after: 4h}'));
    await online();
    await world.apply(`
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: nights}
spec: {instanceRef: {name: web-eu}, operation: Terminate, after: 8h}
`);
    await world.until(() => world.condition('InstanceLease', 'nights', 'Stalled')?.reason === 'Conflict');
    await world.advance(600_000);
    expect(record().lease).toMatchObject({ operation: 'shutdown' });
  });

  it('corrects drift by default, lists it with Report, leaves it with Ignore', async () => {
    await world.apply(instance('  tags: [shop]\n  variables: [{name: PORT, type: Port, value: "80"}]'));
    await online();
    const { id } = record();
    world.sandbox.admin.editRecord('instances', id, {
      tags: record()
        .tags.filter((tag) => tag !== 'shop')
        .concat('theirs'),
    });
    await world.until(() => record().tags.includes('shop'), 3_600_000);
    expect(record().tags).toContain('theirs');

    await world.edit('Instance', 'web-eu', { driftPolicy: 'Report' });
    await online();
    world.sandbox.admin.editRecord('instances', id, { tags: record().tags.filter((tag) => tag !== 'shop') });
    await world.until(() => world.condition('Instance', 'web-eu', 'Drifted')?.status === 'True', 3_600_000);
    expect(status().drift).toEqual([{ field: 'tags.shop', want: 'present', have: 'absent' }]);
    expect(ready()).toBe('True Settled');

    await world.edit('Instance', 'web-eu', { driftPolicy: 'Ignore' });
    await world.advance(1_800_000);
    expect(world.condition('Instance', 'web-eu', 'Drifted')).toBeUndefined();
    expect(record().tags).not.toContain('shop');
  });

  it('shows the log of a failed deploy, and goes on after a redeploy request', async () => {
    world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'fail', times: 1 });
    await world.apply(instance(''));
    await world.until(() => ready() === 'False OperationFailed');
    expect(status().phase).toBe('Failed');
    expect(status().lastOperation?.outcome).toBe('Failed');
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-redeploy': '1' });
    await online();
  });

  it('holds when somebody deleted the record, and makes it again with Recreate', async () => {
    await world.apply(instance(''));
    await online();
    const first = status().id;
    world.sandbox.admin.removeRecord('instances', first ?? '');
    await world.until(() => ready() === 'False RecordMissing', 3_600_000);
    await world.edit('Instance', 'web-eu', { onMissing: 'Recreate' });
    await world.until(
      () => status().id !== undefined && status().id !== first && ready() === 'True Settled',
      3_600_000,
    );
    expect(world.sandbox.admin.records('instances')).toHaveLength(1);
  });

  it('is made again when somebody terminated it and onMissing is Recreate', async () => {
    await world.apply(instance('  onMissing: Recreate'));
    await online();
    const first = status().id ?? '';
    await world.sandbox.handle({
      method: 'DELETE',
      path: `/services/instances/${first}?operation=terminate`,
      headers: { 'service-token': 'token-of-ops' },
      body: new Uint8Array(),
    });
    await world.until(
      () => status().id !== undefined && status().id !== first && ready() === 'True Settled',
      3_600_000,
    );
    expect(record(first).operation.event).toMatch(/^terminate/);
  });

  it('says that its box has changed, until a reinstall brings the change', async () => {
    await world.apply(instance(''));
    await online();
    await world.edit('Box', 'web', { events: { install: { inline: 'echo newer' } } });
    await world.until(() => world.condition('Instance', 'web-eu', 'UpdateAvailable')?.status === 'True');
    expect(ready()).toBe('True Settled');
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await world.until(() => status().handledRequests?.['reinstall'] === '1' && ready() === 'True Settled');
    expect(world.condition('Instance', 'web-eu', 'UpdateAvailable')).toBeUndefined();
  });

  // B12
  it('knows nothing of a changed box because a key was lost, and everything of the next change', async () => {
    await world.apply(instance(''));
    await online();
    const calls = (): number => world.sandbox.admin.calls({}).filter(({ method }) => method === 'PUT').length;
    await world.stop();
    const keys = world.kube.list(SECRETS).filter(({ metadata }) => metadata.name === DIGEST_SECRET);
    expect(keys).toHaveLength(1);
    for (const { metadata } of keys) world.kube.purge(SECRETS, metadata);
    const before = status().box?.draftHash;
    // Nothing is done before an administrator has said that no backup has the key.
    world.start({ installationId: world.installationId });
    await world.until(() => status().box?.draftHash !== before && ready() === 'True Settled', 3_600_000);
    expect(world.condition('Instance', 'web-eu', 'UpdateAvailable')).toBeUndefined();
    const after = calls();
    await world.edit('Box', 'web', { events: { install: { inline: 'echo newer' } } });
    await world.until(() => world.condition('Instance', 'web-eu', 'UpdateAvailable')?.status === 'True');
    expect(calls()).toBe(after + 1);
  });

  it('is terminated and deleted with its resource', async () => {
    await world.apply(instance(''));
    await online();
    await world.delete('Instance', 'web-eu');
    await world.until(() => world.get('Instance', 'web-eu') === undefined);
    expect(world.sandbox.admin.records('instances')).toHaveLength(0);
  });

  it('stays with deletionPolicy Orphan, and is taken up again by the same name', async () => {
    await world.apply(instance('  deletionPolicy: Orphan'));
    await online();
    const first = status().id;
    await world.delete('Instance', 'web-eu');
    await world.until(() => world.get('Instance', 'web-eu') === undefined);
    expect(world.sandbox.admin.records('instances')).toHaveLength(1);
    await world.apply(instance(''));
    await online();
    expect(status().id).toBe(first);
    expect(world.sandbox.admin.records('instances')).toHaveLength(1);
  });

  it('stays Ready when it is paused in step, by field and by annotation', async () => {
    await world.apply(
      instance('  tags: [a]\n  powerState: Running\n  lease: {operation: Shutdown, after: 9h}'),
    );
    await online();
    await world.edit('Instance', 'web-eu', { paused: true });
    await world.advance(60_000);
    expect(ready()).toBe('True Paused');
    expect(world.condition('Instance', 'web-eu', 'Ready')?.observedGeneration).toBe(2);
    await world.edit('Box', 'web', { paused: true });
    await world.advance(60_000);
    expect(world.ready('Box', 'web')).toBe('True');
  });

  it('sends nothing while paused and applies the change afterwards', async () => {
    await world.apply(instance('  tags: [a]'));
    await online();
    const before = mark();
    await world.edit('Instance', 'web-eu', { paused: true, tags: ['b'] });
    await world.until(() => ready() === 'False Paused');
    await world.advance(1_800_000);
    expect(writes(before)).toEqual([]);
    await world.edit('Instance', 'web-eu', { paused: false });
    await online();
    expect(record().tags).toContain('b');
    expect(record().tags).not.toContain('a');
  });

  it('writes nothing anywhere once settled, and nothing after a restart', async () => {
    await world.apply(
      instance('  tags: [a]\n  powerState: Running\n  lease: {operation: Shutdown, after: 100h}'),
    );
    await online();
    const before = mark();
    const version = world.get('Instance', 'web-eu')?.metadata.resourceVersion;
    await world.advance(4 * 3_600_000);
    await world.stop();
    world.start();
    await world.advance(4 * 3_600_000);
    expect(writes(before)).toEqual([]);
    expect(world.get('Instance', 'web-eu')?.metadata.resourceVersion).toBe(version);
  });
});
