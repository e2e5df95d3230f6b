import { join } from 'node:path';
import { KINDS } from '../../src/api/kinds.ts';
import type { TestCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';

/** The root of the project. */
export const ROOT = join(import.meta.dirname, '..', '..');

/** Applies the CRDs as they are committed and waits until the API server serves them. */
export async function installKinds(cluster: TestCluster): Promise<void> {
  // Test files run side by side: of two that create a CRD at once, one is told that it exists.
  await eventually('the CRDs are applied', () => cluster.applyFile(join(ROOT, 'crds')));
  const names = KINDS.map(({ plural, group }) => `crd/${plural}.${group}`);
  const wait = await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names]);
  if (wait.code !== 0) throw new Error(`the CRDs are not served: ${wait.stderr}`);
}
