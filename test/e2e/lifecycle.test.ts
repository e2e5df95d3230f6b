import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { ownCluster, type OwnCluster } from '../support/own-cluster.ts';
import { BOX_AND_POLICY, exampleText, instance, RealWorld } from '../support/real-world.ts';

const OF_OURS = [
  'connection/main',
  'box/runtime',
  'box/web',
  'box/image',
  'policybox/small',
  'instance/web-eu',
  'instancelease/evening',
];

/** Of its own, as the operator looks after all of it here, with the rights for that. */
let own: OwnCluster;

beforeAll(async () => {
  own = await ownCluster();
  await installKinds(own.cluster);
});
afterAll(() => own[Symbol.asyncDispose]());

function start(): Promise<RealWorld> {
  return RealWorld.start({ cluster: own.cluster, mode: 'cluster-wide' });
}

// In a control plane that has just started, on a machine that may have other things to do.
describe('the examples', { timeout: 120_000 }, () => {
  let world: RealWorld;
  let manifests: string;
  beforeAll(async () => {
    world = await start();
    manifests = `${world.connection()}---\n${exampleText()}`;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it('become Ready, every kind, after one kubectl apply', async () => {
    await world.apply(manifests);
    const said = await world.waitReady(OF_OURS, 100);
    for (const name of OF_OURS) expect(said).toContain(`${name.split('/')[1]} condition met`);
    expect(world.sandbox.admin.records('instances')).toHaveLength(1);
    // Three boxes, the version of one of them, and the policy box.
    expect(world.sandbox.admin.records('boxes')).toHaveLength(5);
    expect(await world.get('Instance', 'web-eu')).toMatchObject({
      status: {
        phase: 'Online',
        state: 'done',
        operation: { event: 'deploy' },
        lease: { operation: 'Shutdown', released: false },
        box: { name: 'web' },
        policyBox: { name: 'small' },
      },
    });
  });

  it('show no difference and are unchanged when applied again', async () => {
    const diff = await world.cluster.kubectl(['-n', world.namespace, 'diff', '-f', '-'], {
      input: manifests,
    });
    expect(diff).toMatchObject({ code: 0, stdout: '' });
    const versions = (): Promise<string> =>
      world.do('get', 'boxwright', '-o', 'custom-columns=N:.metadata.name,V:.metadata.resourceVersion');
    const before = await versions();
    const again = (await world.apply(manifests)).trim().split('\n');
    expect(again).toHaveLength(11);
    expect(await versions()).toBe(before);
    // Not so where kubectl cannot tell: `stringData` of a Secret, and variables, into which the API server
    // has filled the defaults that a list's keys need.
    const unsure = /^(secret\/|box\.|instance\.)/;
    for (const line of again.filter((each) => !unsure.test(each))) expect(line).toMatch(/ unchanged$/);
  });

  it('can be applied on the server side too, without a conflict', async () => {
    const applied = await world.tryApply(manifests, '--server-side', '--field-manager=argocd-controller');
    expect(applied.stderr).not.toMatch(/conflict/i);
    expect(applied.code).toBe(0);
    const how = ['--server-side', '--field-manager=argocd-controller'];
    const diff = await world.cluster.kubectl(['-n', world.namespace, 'diff', ...how, '-f', '-'], {
      input: manifests,
    });
    expect(diff).toMatchObject({ code: 0, stdout: '' });
    await world.waitReady(OF_OURS);
  });

  it('show phase, box, address and lease in kubectl get, and everything in its category', async () => {
    const [head = '', row = ''] = (await world.do('get', 'instances')).split('\n');
    expect(head.trim().split(/\s+/)).toEqual('NAME READY PHASE BOX ADDRESS LEASE AGE'.split(' '));
    expect(row).toMatch(/^web-eu +True +Online +web +[\d.]+ +\d{4}-\d\d-\d\dT[\d:.]+Z +\d+[sm]/);
    const wide = await world.do('get', 'instances', '-o', 'wide');
    expect(wide).toMatch(/ID +STATE +OPERATION +REASON/);
    expect(wide).toMatch(/i-\w+ +done +deploy +Settled/);
    const all = await world.do('get', 'boxwright', '-o', 'name');
    expect(all.trim().split('\n')).toHaveLength(OF_OURS.length);
  });

  it('are waited for in their new generation right after a change', async () => {
    const stopped = '{"spec":{"powerState":"Stopped"}}';
    await world.do('patch', 'instance', 'web-eu', '--type=merge', '-p', stopped);
    await world.waitReady(['instance/web-eu']);
    expect(await world.get('Instance', 'web-eu')).toMatchObject({
      status: { phase: 'ShutDown', operation: { event: 'shutdown_service' } },
    });
    await world.do('patch', 'box', 'web', '--type=merge', '-p', '{"spec":{"description":"Another"}}');
    await world.waitReady(['box/web']);
    expect(world.sandbox.admin.records('boxes')).toContainEqual(
      expect.objectContaining({ name: 'web', description: 'Another' }),
    );
  });

  it('are all deleted by one kubectl delete, credentials included, and leave no record', async () => {
    const deleted = await world.cluster.kubectl(
      ['-n', world.namespace, 'delete', '--timeout=50s', '-f', '-'],
      { input: manifests },
    );
    if (deleted.code !== 0) throw new Error(`${deleted.stderr}\n${await world.describe()}`);
    expect(world.sandbox.admin.records('instances')).toEqual([]);
    expect(world.sandbox.admin.records('boxes')).toEqual([]);
    expect(await world.do('get', 'boxwright,secrets,configmaps', '-o', 'name')).toBe(
      'configmap/kube-root-ca.crt\n',
    );
  });
});

describe('an instance whose references are ready', () => {
  it('costs at most four Kubernetes writes from apply to Ready, and shows its generations in order', async () => {
    await using world = await start();
    await world.put(world.connection() + '---' + BOX_AND_POLICY);
    await Promise.all([world.ready('Box', 'plain'), world.ready('PolicyBox', 'small')]);
    await world.put(instance('one', 'powerState: Running, lease: {operation: Shutdown, after: 8h}'));
    await world.ready('Instance', 'one');

    const writes = world
      .operatorWrites()
      .filter(({ objectRef }) => objectRef?.resource === 'instances' && objectRef.name === 'one');
    const shown = writes.map(({ verb, objectRef }) => `${verb} ${objectRef?.subresource ?? 'object'}`);
    // The intent, the claim, and status at most twice.
    expect(shown.filter((write) => write.endsWith('object'))).toHaveLength(2);
    expect(shown.filter((write) => write.endsWith('status')).length).toBeLessThanOrEqual(2);
    expect(shown.length).toBeLessThanOrEqual(4);
  });
});

describe('a namespace', () => {
  it('ends with everything in it when it is deleted', async () => {
    await using world = await start();
    await world.put(world.connection() + '---' + BOX_AND_POLICY + '---' + instance('one'));
    await world.ready('Instance', 'one');
    const deleted = await world.cluster.kubectl(['delete', 'namespace', world.namespace, '--timeout=55s']);
    if (deleted.code !== 0) throw new Error(`${deleted.stderr}\n${await world.describe()}`);
    expect(world.sandbox.admin.records('instances')).toEqual([]);
    expect(world.sandbox.admin.records('boxes')).toEqual([]);
  });
});
