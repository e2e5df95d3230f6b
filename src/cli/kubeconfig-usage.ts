import { KubeConfigError } from '../kube/index.ts';
import { UsageError } from './exit-codes.ts';
import type { FlagRow } from './flags.ts';

/** The flags that say which cluster. */
export interface ClusterFlags {
  kubeconfig: FlagRow;
  context: FlagRow;
}

/** What is wrong with the flag or variable that led to a kubeconfig; any other error as it is. */
export function kubeConfigUsage(
  error: unknown,
  given: { kubeconfig?: string | undefined; context?: string | undefined },
  table: ClusterFlags,
  env: Readonly<Record<string, string | undefined>>,
): unknown {
  if (!(error instanceof KubeConfigError)) return error;
  const { message, option } = error;
  switch (option) {
    case 'file': {
      const path = given.kubeconfig ?? '';
      const one = 'give one that `kubectl --kubeconfig <file> cluster-info` works with';
      const { env: variable } = table.kubeconfig;
      return new UsageError(`${env[variable] === path ? `${variable}=` : '--kubeconfig '}${message}; ${one}`);
    }
    case 'context': {
      const { env: variable } = table.context;
      const name = given.context ?? '<name>';
      return new UsageError(
        `${env[variable] === name ? `${variable}=${name}` : `--context ${name}`}: ${message}`,
      );
    }
    case 'inCluster':
      return new UsageError(`--in-cluster: ${message}; give --kubeconfig <file> instead`);
    case undefined:
      return new UsageError(`${message}; name one with --kubeconfig <file>`);
    default:
      return option satisfies never;
  }
}
