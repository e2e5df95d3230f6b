import { describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { ROOT } from '../api/install.ts';
import { GO_BUILD_TIMEOUT, HAS_GO } from '../support/go-program.ts';
import type { TestCluster } from '../support/cluster.ts';
import { ownCluster } from '../support/own-cluster.ts';
import { BOX_AND_POLICY } from '../support/real-world.ts';
import { CHART, CRD_CHART, type Rendered } from './chart.ts';
import { chartWithChangedCrd } from './changed-chart.ts';
import { HELMS, type HelmProgram } from './helms.ts';

const CRD = 'crd/boxes.boxwright.dev';

interface Crd extends Rendered {
  metadata: Rendered['metadata'] & { uid: string };
  spec: { versions: { schema: { openAPIV3Schema: { description: string } } }[] };
}

async function owner(cluster: TestCluster): Promise<string | undefined> {
  return (await cluster.get<Crd>(CRD)).metadata.annotations?.['meta.helm.sh/release-name'];
}

async function described(cluster: TestCluster): Promise<string | undefined> {
  return (await cluster.get<Crd>(CRD)).spec.versions[0]?.schema.openAPIV3Schema.description;
}

/** Helm in a namespace that the release looks after, too; what it says when it succeeds. */
function within(program: HelmProgram, namespace: string) {
  return async (command: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await program([command, ...args, '--namespace', namespace]);
    if (code !== 0) throw new Error(`helm ${command}: ${stderr}`);
    return stdout;
  };
}

/** Values of a release that looks after one namespace. */
function values(namespace: string): string[] {
  return ['--set', `namespaces={${namespace}},admissionPolicies.enabled=false`];
}

// Each test has a cluster of its own: CRDs belong to the cluster as a whole, and the API server's deletion of them can
// hang for minutes.
describe.each(HELMS)(
  'the kinds of a release of Helm $major',
  { timeout: GO_BUILD_TIMEOUT },
  ({ program }) => {
    it('stay with their resources when it goes, and come under the next one', async () => {
      await using own = await ownCluster();
      const { cluster } = own;
      await using first = await cluster.namespace('first');
      await using second = await cluster.namespace('second');
      const run = await program(cluster);
      const [one, other] = [within(run, first.name), within(run, second.name)];
      await one('install', 'one', CHART, ...values(first.name));
      await cluster.kubectl(['wait', '--for=condition=Established', CRD]);
      await cluster.apply(BOX_AND_POLICY, first.name);
      const { uid } = (await cluster.get<Crd>(CRD)).metadata;
      const box = await cluster.get<Crd>('box', 'plain', '--namespace', first.name);

      // The same name in the same namespace: they are its own already.
      await one('uninstall', 'one');
      await one('install', 'one', CHART, ...values(first.name));
      await one('uninstall', 'one');

      // Another name or namespace: Helm wants to be told.
      const install = ['two', CHART, ...values(second.name)];
      await expect(other('install', ...install)).rejects.toThrow(/invalid ownership metadata/);
      await other('install', ...install, '--take-ownership');
      expect(await owner(cluster)).toBe('two');
      using changed = chartWithChangedCrd();
      await other('upgrade', 'two', changed.path, ...values(second.name));
      expect(await described(cluster)).toBe(changed.description);
      await other('uninstall', 'two');

      expect((await cluster.get<Crd>(CRD)).metadata.uid).toBe(uid);
      const still = await cluster.get<Crd>('box', 'plain', '--namespace', first.name);
      expect(still.metadata.uid).toBe(box.metadata.uid);
    });

    it('can be those of kubectl, or of the chart that has only them', async () => {
      await using own = await ownCluster();
      const { cluster } = own;
      await using namespace = await cluster.namespace('apart');
      const helm = within(await program(cluster), namespace.name);
      await cluster.applyFile(join(ROOT, 'crds'));
      await helm('install', 'kinds', CRD_CHART, '--take-ownership');
      expect(await owner(cluster)).toBe('kinds');
      const apart = `crds.enabled=false,admissionPolicies.enabled=false,namespaces={${namespace.name}}`;
      await helm('install', 'one', CHART, '--set', apart);
      await helm('uninstall', 'one');
      await helm('uninstall', 'kinds');
      expect(await owner(cluster)).toBe('kinds');
    });
  },
);

describe.runIf(HAS_GO)('a release of Helm 3', { timeout: GO_BUILD_TIMEOUT }, () => {
  it('is upgraded by Helm 4, its kinds too, and rolled back', async () => {
    await using own = await ownCluster();
    const { cluster } = own;
    await using namespace = await cluster.namespace('older');
    const [current, old] = await Promise.all(HELMS.map(({ program }) => program(cluster)));
    if (current === undefined || old === undefined) throw new Error('one of two Helms is missing');
    const mine = values(namespace.name);
    await within(old, namespace.name)('install', 'one', CHART, ...mine);
    const before = await described(cluster);
    using changed = chartWithChangedCrd();
    const helm = within(current, namespace.name);
    await helm('upgrade', 'one', changed.path, ...mine, '--set', 'replicas=3');
    expect(await described(cluster)).toBe(changed.description);
    const { spec } = await cluster.get<Rendered>('deployment', 'one-boxwright', '-n', namespace.name);
    expect(spec).toMatchObject({ replicas: 3 });
    await helm('rollback', 'one', '1');
    expect(await described(cluster)).toBe(before);
    await helm('uninstall', 'one');
  });
});
