import type { Clock, Random } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { KubeClient, Recorder } from '../kube/index.ts';
import type { Connections } from './connection-handle.ts';
import type { Digest } from './digest.ts';
import type { Installation } from './installation.ts';
import type { Sources } from './sources.ts';

/** What every controller is given. */
export interface OperatorContext {
  clock: Clock;
  random: Random;
  log: Logger;
  kube: KubeClient;
  recorder: Recorder;
  installation: Installation;
  /** Keyed hashes of secret values. */
  digest: Digest;
  /** Contents of Secrets and ConfigMaps. */
  sources: Sources;
  connections: Connections;
  /** Counts one step of a kind, for metrics. */
  onStep?: (kind: string, step: string) => void;
}
