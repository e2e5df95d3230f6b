import type { Clock, Random } from '../base/clock.ts';
import type { MemoryBudget } from '../base/memory-budget.ts';
import type { Turns } from '../base/turns.ts';
import type { Logger } from '../base/logger.ts';
import type { KnownSecrets } from '../base/masking/known-secrets.ts';
import type { KubeClient, Recorder } from '../kube/index.ts';
import type { Connections } from './connection-handle.ts';
import type { Digest } from './digest.ts';
import type { Installation } from './installation.ts';
import type { KeptRecords } from './kept-records.ts';
import type { Restarts } from './restarts.ts';
import type { Seals } from './record/identity/seal.ts';
import type { SealTurns } from './record/seal-turns.ts';
import type { Sources } from './sources.ts';

/** What every controller is given. */
export interface OperatorContext {
  clock: Clock;
  random: Random;
  log: Logger;
  /** The memory that everything from outside may take. */
  memory: MemoryBudget;
  /** The records that are remembered between passes. */
  kept: KeptRecords;
  /** When long lists and contents may be worked on. */
  turns: Turns;
  kube: KubeClient;
  recorder: Recorder;
  installation: Installation;
  restarts: Restarts;
  /** Seals of what is written into annotations. */
  seals: Seals;
  sealTurns: SealTurns;
  /** Keyed hashes of secret values. */
  digest: Digest;
  /** Contents of Secrets and ConfigMaps. */
  sources: Sources;
  /** The secret values that were read, by Connection: no text that is shown holds them. */
  secrets: KnownSecrets;
  connections: Connections;
  /** Hears of what is seen nowhere in the cluster, for metrics. */
  observer?: ControllerObserver;
}

/** Hears of what controllers do. */
export interface ControllerObserver {
  /** A pass over a resource of the kind has decided on a step. */
  step(kind: string, step: string): void;
  /** A write to the service has put right what somebody else had changed on a record. */
  corrected(kind: string): void;
}
