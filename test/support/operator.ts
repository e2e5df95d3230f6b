import { runOperator, type OperatorSettings as ProcessSettings } from '../../src/cli/operator/run.ts';
import { LEADER_LEASE } from '../../src/controllers/rights.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger, type Logger } from '../../src/base/logger.ts';
import { Metrics } from '../../src/kube/index.ts';

/** What an operator in this process is started with. */
export interface OperatorSettings {
  /** Whose rights and name it has at the API server. */
  kubeconfig: string;
  /** Its own namespace: installation id, key, leader lease. */
  home: string;
  /** The namespaces that it watches; absent: all. */
  namespaces?: readonly string[];
  log?: Logger;
  installationId?: string;
  restore?: boolean;
  watchSecrets?: boolean;
  health?: ProcessSettings['health'];
  /** @default loopback, as tests have no other */
  allowedHosts?: readonly string[];
  /** Milliseconds until a call to the service counts as lost. @default 30 s */
  serviceTimeoutMs?: number;
}

/** An operator that runs in this process. */
export interface RunningOperator {
  readonly metrics: Metrics;
  /** Ends it in good order. */
  stop(): Promise<void>;
}

/** A busy machine may not get to a renewal within ten seconds, and nobody would start this operator again. */
const LEADER = {
  name: LEADER_LEASE,
  leaseDurationMs: 120_000,
  renewDeadlineMs: 90_000,
  retryPeriodMs: 500,
};

/** Runs in this process what `boxwright operator` runs, elected, against the real API server. */
export function startOperator(settings: OperatorSettings): RunningOperator {
  const log = settings.log ?? silentLogger;
  const metrics = new Metrics();
  const stop = new AbortController();
  const effects = { clock: systemClock, random: Math.random, log, metrics };
  const ended = runOperator(processSettings(settings), effects, stop.signal);
  // Whoever stops it hears of a failure; until then it is nobody's.
  ended.catch((error: unknown) => log.error({ err: error }, 'the operator has failed'));
  return {
    metrics,
    async stop() {
      stop.abort(new Error('the test stops its operator'));
      await ended;
    },
  };
}

function processSettings(settings: OperatorSettings): ProcessSettings {
  const { kubeconfig, home, namespaces, installationId, restore, watchSecrets, health, serviceTimeoutMs } =
    settings;
  return {
    cluster: { file: kubeconfig },
    namespace: home,
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(installationId === undefined ? {} : { installationId }),
    ...(restore === undefined ? {} : { restore }),
    ...(watchSecrets === undefined ? {} : { watchSecrets }),
    ...(health === undefined ? {} : { health }),
    endpoints: {
      allowedHosts: settings.allowedHosts ?? ['127.0.0.1:*', 'localhost:*'],
      allowInsecure: true,
      allowLoopback: true,
      headersTimeoutMs: serviceTimeoutMs,
      bodyTimeoutMs: serviceTimeoutMs,
    },
    leader: LEADER,
  };
}
