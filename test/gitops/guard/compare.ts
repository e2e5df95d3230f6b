import { join } from 'node:path';
import type { TestCluster } from '../../support/cluster.ts';
import { goTool, type GoTool } from '../../support/go-tool.ts';
import { run } from '../../support/run.ts';

/** gitops-engine, as Argo CD applies and compares by it. */
export const GUARD: GoTool = {
  folder: join(import.meta.dirname, '../programs/argocd'),
  package: '.',
  name: 'argocd-guard',
};

/** What differs, although nobody has changed anything. */
export interface Difference {
  /** The place of the object in what was asked for. */
  object: number;
  /** How it was applied, and how it was compared. */
  mode: string;
  live: object;
  predicted: object;
}

export interface Comparison {
  modes: string[];
  compared: number;
  differences: Difference[];
}

/** Applies each object by itself in every mode of Argo CD, compares it with what is live, and takes it away. */
export async function compare(
  cluster: TestCluster,
  namespace: string,
  objects: readonly object[],
  timeoutMs: number,
): Promise<Comparison> {
  const { code, stdout, stderr } = await run(await goTool(GUARD), [], {
    env: { KUBECONFIG: cluster.kubeconfigPath },
    input: JSON.stringify({ namespace, objects }),
    timeoutMs,
  });
  if (code !== 0) throw new Error(`the guard: ${stderr.trim()}`);
  return JSON.parse(stdout) as Comparison;
}
