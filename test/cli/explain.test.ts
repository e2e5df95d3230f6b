import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { BOX_AND_POLICY, instance, RealWorld } from '../support/real-world.ts';
import { installPlugin } from './plugin.ts';

const plugin = installPlugin();
beforeAll(() => installKinds(testCluster()));
afterAll(() => plugin[Symbol.dispose]());

describe('kubectl boxwright explain', () => {
  it('tells why a resource is as it is, and who looks after it', async () => {
    await using world = await RealWorld.start();
    await world.put(`${world.connection()}---${BOX_AND_POLICY}---${instance('web')}`);
    await world.ready('Instance', 'web');
    const well = await plugin.call(world, ['explain', 'instance/web', '--system-namespace', world.home]);
    expect(well).toMatchObject({ code: 0, stderr: '' });
    expect(well.stdout).toContain(`Instance/web in namespace ${world.namespace}\n\nReady: Settled`);
    expect(well.stdout).toMatch(
      /On the service\n {2}Record \S+ at http:\/\/127\.0\.0\.1:\d+, owned by workspace/,
    );
    expect(well.stdout).toContain('which is the one that looks after this resource');
    expect(well.stdout).toMatch(/Latest events\n +\d/);
    const json = await plugin.call(world, [
      'explain',
      'bwi/web',
      '-o',
      'json',
      '--system-namespace',
      world.home,
    ]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      kind: 'Explanation',
      resource: { kind: 'Instance', name: 'web', ready: 'True' },
      keeper: { state: 'Watched' },
    });
  });

  it('works where no operator has ever looked, with the rights of its user', async () => {
    await using world = await RealWorld.start({ idle: true });
    await world.put(world.connection());
    const user = `explainer-of-${world.namespace}`;
    const kubeconfig = world.cluster.kubeconfigFor(user);
    await world.do('create', 'role', 'seer', '--verb=get', '--resource=connections.boxwright.dev');
    await world.do('create', 'rolebinding', 'seer', '--role=seer', `--user=${user}`);
    await world.do('auth', 'can-i', 'get', 'connections.boxwright.dev', '--as', user);
    const { code, stdout, stderr } = await plugin.call(world, ['explain', 'connection/main'], {
      env: { KUBECONFIG: kubeconfig },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Not known\n  No operator has looked at it yet');
    expect(stdout).toContain('Not known: your user may not list Leases in namespace boxwright-system');
    expect(stdout).toContain('No operator has ever written its status.');
    const absent = await plugin.call(world, ['explain', 'box/none']);
    expect(absent.code).toBe(1);
    expect(absent.stderr).toContain(`there is no Box/none in namespace ${world.namespace}`);
  });
});
