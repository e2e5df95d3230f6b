import { beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { BOX_AND_POLICY, instance, RealWorld } from '../support/real-world.ts';

beforeAll(async () => {
  await installKinds(testCluster());
});

async function withInstance(): Promise<RealWorld> {
  const world = await RealWorld.start();
  await world.put(world.connection() + '---' + BOX_AND_POLICY + '---' + instance('one'));
  await world.ready('Instance', 'one');
  return world;
}

async function ends(world: RealWorld): Promise<void> {
  const { cluster, namespace } = world;
  await eventually(
    `namespace ${namespace} ends`,
    async () => (await cluster.kubectl(['get', 'namespace', namespace])).stderr.includes('NotFound'),
    { timeoutMs: 60_000 },
  ).catch(async (error: unknown) => {
    throw new Error(`${(error as Error).message}\n${await world.describe()}`, { cause: error });
  });
}

describe('a namespace whose Role is all that the operator has there', { timeout: 180_000 }, () => {
  it('ends when its resources were deleted before it', async () => {
    await using world = await withInstance();
    // By name: kubectl may have looked up the categories before there was ours.
    const kinds = 'instanceleases,instances,policyboxes,boxes,connections';
    const deleted = await world.kubectl('delete', kinds, '--all', '--wait', '--timeout=60s');
    expect(deleted).toMatchObject({ code: 0, stderr: '' });
    await world.cluster.kubectl(['delete', 'namespace', world.namespace, '--wait=false']);
    await ends(world);
    expect(world.sandbox.admin.records('instances')).toEqual([]);
  });

  it('that was deleted with them, its Role with it, ends once the rights come back by a binding outside of it', async () => {
    await using world = await withInstance();
    const { cluster, namespace, home } = world;
    const role = await cluster.get<{ rules: object[] }>('role', 'boxwright-watched', '-n', namespace);
    await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    await eventually('the Role is gone', async () => {
      const found = await cluster.kubectl(['get', 'role,rolebinding', '-n', namespace, '-o', 'name']);
      return !found.stdout.includes('boxwright');
    });
    expect(await world.get('Instance', 'one')).toBeDefined();
    const metadata = { name: `${home}-farewell` };
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata };
    const account = { kind: 'ServiceAccount', name: 'boxwright', namespace: home };
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name };
    const binding = { ...rbac, kind: 'ClusterRoleBinding', roleRef, subjects: [account] };
    await cluster.apply(JSON.stringify({ ...rbac, kind: 'ClusterRole', rules: role.rules }));
    await cluster.apply(JSON.stringify(binding));
    try {
      await ends(world);
      expect(world.sandbox.admin.records('instances')).toEqual([]);
    } finally {
      await cluster.kubectl(['delete', 'clusterrole,clusterrolebinding', metadata.name]);
    }
  });
});
