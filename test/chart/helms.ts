import { dirname, join } from 'node:path';
import { helm3 } from '../helm3/helm3.ts';
import type { TestCluster } from '../support/cluster.ts';
import { HAS_GO } from '../support/go-program.ts';
import { run, type RunOptions, type RunResult } from '../support/run.ts';

/** A Helm of one of the two major versions, as the administrator of a cluster. */
export type HelmProgram = (args: readonly string[], options?: RunOptions) => Promise<RunResult>;

export interface HelmVersion {
  readonly major: 3 | 4;
  readonly program: (cluster: TestCluster) => Promise<HelmProgram>;
}

/** The versions that there are here: Helm 3 is built, which takes Go. */
export const HELMS: readonly HelmVersion[] = [
  { major: 4, program: helm4For },
  ...(HAS_GO ? [{ major: 3 as const, program: helm3For }] : []),
];

function helm4For(cluster: TestCluster): Promise<HelmProgram> {
  return Promise.resolve((args, options) => cluster.helm(args, options));
}

async function helm3For(cluster: TestCluster): Promise<HelmProgram> {
  const path = await helm3();
  const scratch = dirname(cluster.kubeconfigPath);
  const env = {
    KUBECONFIG: cluster.kubeconfigPath,
    HELM_CACHE_HOME: join(scratch, 'helm3-cache'),
    HELM_CONFIG_HOME: join(scratch, 'helm3-config'),
    HELM_DATA_HOME: join(scratch, 'helm3-data'),
  };
  return (args, options = {}) => run(path, args, { ...options, env: { ...env, ...options.env } });
}
