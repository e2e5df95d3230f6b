import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { installKinds } from '../api/install.ts';
import { testCluster, type TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { Helm } from './chart.ts';

const instance = (name: string, isProtected: boolean): string => `
apiVersion: boxwright.dev/v1alpha1
kind: Instance
metadata: {name: ${name}}
spec: {connectionRef: {name: main}, boxId: b-1, policyBoxId: p-1, terminationProtection: ${isProtected}}
`;

let cluster: TestCluster;
beforeAll(async () => {
  cluster = testCluster();
  await installKinds(cluster);
});

describe('the policy for protected instances', { timeout: 120_000 }, () => {
  it('refuses to delete one, says why, and refuses nothing else', async () => {
    await using namespace = await cluster.namespace('protection');
    const { name } = namespace;
    const objects = await new Helm(cluster).objects(
      { namespaces: [name], admissionPolicies: { enabled: false } },
      '-n',
      name,
    );
    const policies = objects.filter(({ apiVersion }) =>
      apiVersion.startsWith('admissionregistration.k8s.io/'),
    );
    expect(policies.map(({ kind }) => kind).toSorted()).toEqual([
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
    ]);
    const manifests = policies.map((object) => stringify(object)).join('---\n');
    const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
      const all = [...args, '--namespace', name];
      const { code, stdout, stderr } = await cluster.kubectl(all, input === undefined ? {} : { input });
      return code === 0 ? stdout : `${code}: ${stderr}`;
    };
    await cluster.apply(manifests);
    try {
      await kubectl(['apply', '-f', '-'], instance('kept', true));
      await eventually('the policy acts', async () =>
        (await kubectl(['delete', 'instance', 'kept', '--dry-run=server'])).includes('terminationProtection'),
      );
      for (const args of [
        ['delete', 'instance', 'kept'],
        ['delete', 'instances', '--all'],
        ['delete', 'instance', 'kept', '--grace-period=0', '--force'],
      ]) {
        expect(await kubectl(args)).toContain('set it to false before you delete this Instance');
      }
      await kubectl(['apply', '-f', '-'], instance('free', false));
      expect(await kubectl(['delete', 'instance', 'free'])).toContain('deleted');
      await kubectl(['apply', '-f', '-'], instance('kept', false));
      expect(await kubectl(['delete', 'instance', 'kept'])).toContain('deleted');
    } finally {
      await cluster.kubectl(['delete', '--wait=false', '--filename', '-'], { input: manifests });
    }
  });
});
