import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LEADER_ANNOTATIONS, LEADER_LABEL } from '../../src/api/names.ts';
import { INSTALLATION_CONFIG_MAP } from '../../src/controllers/installation.ts';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { BOX_AND_POLICY, instance, RealWorld } from '../support/real-world.ts';
import { installPlugin } from './plugin.ts';

interface Explained {
  keeper: { state: string; text: string };
  installation?: string;
}

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
    expect(well.stdout.replaceAll(/\s+/g, ' ')).toContain('which is the one that looks after this resource');
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

  it('believes no Lease that an author has written, whatever else he writes beside it', async () => {
    await using world = await RealWorld.start({ idle: true });
    await world.put(world.connection());
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: 'boxwright-operator',
        labels: { [LEADER_LABEL]: 'true' },
        annotations: { [LEADER_ANNOTATIONS.namespaces]: '*', [LEADER_ANNOTATIONS.version]: '9.9.9' },
      },
      spec: {
        holderIdentity: 'posing_1',
        leaseDurationSeconds: 3_600,
        renewTime: new Date().toISOString().replace('Z', '000Z'),
      },
    };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'posing',
        labels: { 'app.kubernetes.io/component': 'operator', 'app.kubernetes.io/part-of': 'boxwright' },
      },
      spec: { containers: [{ name: 'operator', image: 'example.com/none:0' }] },
    };
    const map = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: INSTALLATION_CONFIG_MAP },
      data: { id: 'forged-installation' },
    };
    const author = await world.cluster.namespace('author');
    const text = [lease, pod, map].map((each) => JSON.stringify(each)).join('\n---\n');
    await world.cluster.apply(text, author.name);
    const argv = ['explain', 'connection/main', '--system-namespace', world.home, '-o', 'json'];
    const { code, stdout } = await plugin.call(world, argv);
    expect(code).toBe(0);
    const { keeper, installation } = JSON.parse(stdout) as Explained;
    expect({ state: keeper.state, installation }).toEqual({ state: 'Unknown', installation: undefined });
    expect(keeper.text).toContain('every author who may write Leases there can say so');
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
