import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';

/** What reads kubeconfigs here: client-node's class, or the small one that knows plain ones only. */
export type ConfigReader = Pick<
  KubeConfig,
  | 'getClusters'
  | 'getContextObject'
  | 'getContexts'
  | 'getCurrentCluster'
  | 'getCurrentContext'
  | 'getCurrentUser'
  | 'loadFromCluster'
  | 'loadFromString'
  | 'makePathsAbsolute'
  | 'setCurrentContext'
> & {
  mergeConfig(other: ConfigReader, preserveContext?: boolean): void;
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
};
