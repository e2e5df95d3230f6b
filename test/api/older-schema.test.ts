import { beforeAll, expect, test } from 'vitest';
import { crdOf } from '../../src/api/crd.ts';
import { InstanceKind, parseInstance } from '../../src/api/instance.ts';
import { testCluster, type TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';

/** A group of its own, so that the real CRD stays as it is for the other tests. */
const GROUP = 'older.boxwright.test';

let cluster: TestCluster;

beforeAll(() => {
  cluster = testCluster();
});

/** The CRD of Instance in that group, with its present schema or with one that takes everything. */
function crd(loose: boolean): string {
  const made = crdOf(InstanceKind);
  const [version] = made.spec.versions;
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return JSON.stringify({
    ...made,
    metadata: { name: `instances.${GROUP}` },
    spec: {
      ...made.spec,
      group: GROUP,
      names: { ...made.spec.names, shortNames: [], categories: [] },
      versions: [
        loose ? { ...version, selectableFields: [], schema: { openAPIV3Schema: anything } } : version,
      ],
    },
  });
}

test('a stored object that an older schema let through is named, not thrown over', async () => {
  await using namespace = await cluster.namespace('older');
  const args = ['-n', namespace.name, `instances.${GROUP}`, 'old'];
  await cluster.apply(crd(true));
  const old = {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'Instance',
    metadata: { name: 'old' },
    spec: {
      connectionRef: { name: 'main' },
      boxRef: { name: 'web' },
      boxId: '3f2a',
      policyBoxId: 'p',
      powerState: 'On',
      operationTimeout: 'soon',
    },
  };
  await eventually('the loose schema is served', () => cluster.apply(JSON.stringify(old), namespace.name));
  await cluster.apply(crd(false));
  const stored = await eventually('the present schema fills defaults', async () => {
    const read = await cluster.get<{ spec: { applyChanges?: string } }>(...args);
    return read.spec.applyChanges === undefined ? undefined : read;
  });
  const parsed = parseInstance(stored);
  expect(parsed.ok ? [] : parsed.problems.map(({ message }) => message)).toEqual([
    'spec.powerState is "On": must be one of Running, Stopped',
    'spec.operationTimeout is "soon": must be a duration, such as 90s or 8h (units: ms, s, m, h)',
  ]);
  // Once the values are mended, what only rules see comes to light.
  const mend = ['patch', ...args, '--type=merge', '-p'];
  const half = '{"spec": {"powerState": "Running", "operationTimeout": "30m"}}';
  const refused = await cluster.kubectl([...mend, half]);
  expect(refused.stderr).toContain('set exactly one of boxRef and boxId');
});

test('its finalizer can still be taken off, and its status still be written', async () => {
  await using namespace = await cluster.namespace('older');
  const args = ['-n', namespace.name, `instances.${GROUP}`, 'kept'];
  await cluster.apply(crd(true));
  const old = {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'Instance',
    metadata: { name: 'kept', finalizers: ['boxwright.dev/finalizer'] },
    spec: { boxRef: { name: '' }, powerState: 'On' },
  };
  await eventually('the loose schema is served', async () => {
    await cluster.apply(JSON.stringify(old), namespace.name);
    return true;
  });
  await cluster.apply(crd(false));
  await eventually('the present schema is served', async () => {
    const read = await cluster.get<{ status?: object }>(...args);
    return read.status;
  });
  const status = '{"status": {"observedGeneration": 1}}';
  const written = await cluster.kubectl([
    'patch',
    ...args,
    '--subresource=status',
    '--type=merge',
    '-p',
    status,
  ]);
  // What was wrong before is only warned of.
  expect(written.code).toBe(0);
  const off = await cluster.kubectl([
    'patch',
    ...args,
    '--type=merge',
    '-p',
    '{"metadata": {"finalizers": null}}',
  ]);
  expect(off.code).toBe(0);
});
