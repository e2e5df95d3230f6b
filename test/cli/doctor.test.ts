import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LEADER_LABEL } from '../../src/api/names.ts';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { BOX_AND_POLICY, RealWorld } from '../support/real-world.ts';
import { installPlugin } from './plugin.ts';

const plugin = installPlugin();
beforeAll(() => installKinds(testCluster()));
afterAll(() => plugin[Symbol.dispose]());

interface Diagnosis {
  checks: { id: string; state: string; found: string[] }[];
}

/** The operator of these tests is no pod: one that looks like its pod, which nothing starts. */
async function putPod(world: RealWorld, serviceAccountName: string): Promise<void> {
  const leases = await world.cluster.kubectl([
    'get',
    'leases',
    '-n',
    world.home,
    '-l',
    LEADER_LABEL,
    '-o',
    'jsonpath={.items[0].spec.holderIdentity}',
  ]);
  const [name] = leases.stdout.split('_');
  await world.cluster.apply(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: world.home,
        labels: { 'app.kubernetes.io/component': 'operator', 'app.kubernetes.io/part-of': 'boxwright' },
      },
      spec: { serviceAccountName, containers: [{ name: 'operator', image: 'example.com/none:0' }] },
    }),
    world.home,
  );
}

/** Who may see the operator of a world, and no other one of the cluster: tests beside this one have theirs. */
async function administratorOf(world: RealWorld): Promise<Record<string, string>> {
  const user = `administrator-of-${world.namespace}`;
  const name = `doctor-${world.namespace}`;
  const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
  const given = (namespace: string, apiGroup: string, resources: string[], verb: string): object[] => {
    const scope = namespace === '' ? 'Cluster' : '';
    const metadata = { name: `${name}-${verb}`, ...(namespace === '' ? {} : { namespace }) };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const rules = [{ apiGroups: apiGroup.split('+'), resources, verbs: [verb] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: `${scope}Role`, name: metadata.name };
    return [
      { apiVersion, kind: `${scope}Role`, metadata, rules },
      { apiVersion, kind: `${scope}RoleBinding`, metadata, subjects, roleRef },
    ];
  };
  const objects = [
    ...given('', 'authorization.k8s.io', ['subjectaccessreviews'], 'create'),
    ...given('', 'apiextensions.k8s.io', ['customresourcedefinitions'], 'get'),
    ...given(world.home, '+coordination.k8s.io', ['pods', 'leases'], 'list'),
    ...given(world.namespace, 'boxwright.dev', ['*'], 'list'),
  ];
  await world.cluster.apply(objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  return { KUBECONFIG: world.cluster.kubeconfigFor(user) };
}

describe('kubectl boxwright doctor', () => {
  it('finds nothing wrong where all is well, and asks for the rights of the operator', async () => {
    await using world = await RealWorld.start();
    await world.put(`${world.connection()}---${BOX_AND_POLICY}`);
    await world.waitReady(['connection/main', 'box/plain']);
    await putPod(world, 'boxwright');
    const argv = ['doctor', '--system-namespace', world.home];
    const { code, stdout, stderr } = await plugin.call(world, argv, { env: await administratorOf(world) });
    expect(stdout).not.toContain('WRONG');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ok {7}Cluster: Kubernetes v1\./m);
    expect(stdout).toMatch(/^ok {7}Definitions of the kinds: The cluster has the kinds of version/m);
    expect(stdout).toMatch(/^ok {7}Rights of the operator: Service account boxwright has all of \d+\./m);
  });

  it('finds a missing right, a rejected login and a mistyped annotation, and ends with 3', async () => {
    await using world = await RealWorld.start();
    await world.put(world.connection().replace(/token: .*/, 'token: wrong'));
    await world.condition('Connection', 'main', { status: 'False' });
    await world.do('annotate', 'connection', 'main', 'boxwright.dev/requested=1');
    await world.cluster.kubectl(['create', 'serviceaccount', 'other', '-n', world.home]);
    await putPod(world, 'other');
    const argv = ['doctor', '-o', 'json', '--system-namespace', world.home];
    const json = await plugin.call(world, argv, { env: await administratorOf(world) });
    expect(json).toMatchObject({ code: 3, stderr: '' });
    const { checks } = JSON.parse(json.stdout) as Diagnosis;
    const check = (id: string): Diagnosis['checks'][number] | undefined =>
      checks.find((each) => each.id === id);
    expect(check('rights')).toMatchObject({ state: 'Wrong' });
    expect(check('rights')?.found.join('\n')).toContain(
      `It may not patch instances/status in namespace ${world.namespace}: it says how each Instance is.`,
    );
    expect(check('connections')?.found.join('\n')).toContain('Connection/main');
    expect(check('annotations')?.found.join('\n')).toContain('did you mean boxwright.dev/requested-at?');
  });

  it('says what its user may not see', async () => {
    await using world = await RealWorld.start({ idle: true });
    await world.put(world.connection());
    const user = `patient-of-${world.namespace}`;
    await world.do('create', 'role', 'seer', '--verb=list', '--resource=connections.boxwright.dev');
    await world.do('create', 'rolebinding', 'seer', '--role=seer', `--user=${user}`);
    const env = { KUBECONFIG: world.cluster.kubeconfigFor(user) };
    const { code, stdout } = await plugin.call(world, ['doctor', '-o', 'json'], { env });
    expect(code).toBe(0);
    const { checks } = JSON.parse(stdout) as Diagnosis;
    const states = Object.fromEntries(checks.map(({ id, state }) => [id, state]));
    expect(states).toMatchObject({
      kinds: 'Unknown',
      operator: 'Unknown',
      namespaces: 'Unknown',
      lists: 'Unknown',
    });
  });
});
