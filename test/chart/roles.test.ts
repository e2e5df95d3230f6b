import { beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from '../../src/api/kinds.ts';
import { OPERATOR_FLAGS } from '../../src/cli/operator/flags.ts';
import { LEADER_LEASE } from '../../src/controllers/rights.ts';
import { testCluster } from '../support/cluster.ts';
import { EVERYTHING, Helm, type Rendered, type Rule } from './chart.ts';

let helm: Helm;
beforeAll(() => {
  helm = new Helm(testCluster());
});

describe('the rights that the chart grants', () => {
  it('have no wildcard, no delete, and nothing by which rights grow', async () => {
    const rules = rulesOf(await helm.objects(EVERYTHING));
    expect(rules.length).toBeGreaterThan(5);
    expect(JSON.stringify(rules)).not.toMatch(/"\*"|escalate|"bind"|impersonate|webhook|exec/);
    const operator = rulesOf(await helm.objects({ rbac: { aggregateRoles: 'Never' } }));
    expect(operator.flatMap(({ verbs }) => verbs)).not.toContain('delete');
  });

  it('read Secrets by name only, unless switched on', async () => {
    expect(await secretVerbs({})).toEqual(['create', 'get']);
    expect(await secretVerbs({ secrets: { watch: true } })).toEqual(['create', 'get', 'list', 'watch']);
  });

  it('in scoped mode are Roles in the listed namespaces and nothing in the cluster', async () => {
    const objects = await helm.objects({ namespaces: ['shop', 'store'] }, '--namespace', 'boxwright-system');
    expect(objects.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([]);
    const roles = objects.filter(({ kind }) => kind === 'Role').map(({ metadata }) => metadata.namespace);
    expect(new Set(roles)).toEqual(new Set(['boxwright-system', 'shop', 'store']));
    const subjects = objects
      .filter(({ kind }) => kind === 'RoleBinding')
      .map((binding) => (binding as unknown as { subjects: { namespace: string }[] }).subjects[0]?.namespace);
    expect(new Set(subjects)).toEqual(new Set(['boxwright-system']));
  });

  it('of people are added to view, edit and admin, without Secrets', async () => {
    const roles = (await helm.objects()).filter(({ metadata }) =>
      Object.keys(metadata.labels ?? {}).some((label) => label.includes('/aggregate-to-')),
    );
    expect(roles.map(({ metadata }) => metadata.name)).toEqual([
      'default:boxwright-view',
      'default:boxwright-edit',
    ]);
    const resources = new Set(rulesOf(roles).flatMap((rule) => rule.resources));
    expect(resources).toEqual(new Set(KINDS.map(({ plural }) => plural)));
    expect(roles[0]?.rules?.flatMap(({ verbs }) => verbs)).toEqual(['get', 'list', 'watch']);
    expect(roles[1]?.metadata.labels).not.toHaveProperty('rbac.authorization.k8s.io/aggregate-to-view');
  });

  it('name the lease that the operator uses', async () => {
    expect(OPERATOR_FLAGS.leaseName.default).toBe(LEADER_LEASE);
    const leases = rulesOf(await helm.objects()).filter(({ resources = [] }) => resources.includes('leases'));
    expect(leases.flatMap(({ resourceNames }) => resourceNames ?? [])).toEqual([LEADER_LEASE]);
  });
});

function rulesOf(objects: readonly Rendered[]): Rule[] {
  return objects.flatMap(({ rules }) => rules ?? []);
}

/** Verbs granted on Secrets whatever their name. */
async function secretVerbs(values: object): Promise<string[]> {
  return rulesOf(await helm.objects(values))
    .filter(
      ({ resources = [], resourceNames }) => resources.includes('secrets') && resourceNames === undefined,
    )
    .flatMap(({ verbs }) => verbs)
    .toSorted();
}
