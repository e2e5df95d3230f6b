import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock, Random } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { Operator } from '../../controllers/operator.ts';
import {
  countingPort,
  Elector,
  EventRecorder,
  KubeClient,
  loadKubeConfig,
  Manager,
  Metrics,
  UndiciKubePort,
  type KubeConfigOptions,
  type ReflectorNotice,
} from '../../kube/index.ts';
import { createUndiciPort } from '../../service/index.ts';
import { version } from '../version.ts';
import { ProcessMetrics } from './process-metrics.ts';
import { ServiceMetrics } from './service-metrics.ts';

/** What an operator process is told. */
export interface OperatorSettings {
  cluster: KubeConfigOptions;
  /** The operator's own namespace. */
  namespace: string;
  /** Look after these only; absent: all. */
  namespaces?: readonly string[];
  installationId?: string;
  /** Which endpoints a Connection may name. */
  endpoints: { allowedHosts: readonly string[]; allowInsecure: boolean; allowLoopback: boolean };
  /** Absent: works without asking whether another does. */
  leader?: { name: string; leaseDurationMs?: number; renewDeadlineMs?: number; retryPeriodMs?: number };
  /** Where to serve health and metrics; absent: nowhere. */
  health?: { host: string; port: number; onListening?: (url: string) => void };
  workers?: number;
}

/**
 * One operator process: connects, leads or waits to, works until `stop` is aborted, and drains.
 * @throws LeadershipLostError, KubeCredentialsError, or what the address of the metrics cannot be had for
 */
export async function runOperator(
  settings: OperatorSettings,
  { clock, random, log }: { clock: Clock; random: Random; log: Logger },
  stop: AbortSignal,
): Promise<void> {
  const { namespace, namespaces, installationId, endpoints, leader, health, workers } = settings;
  const loaded = await loadKubeConfig(settings.cluster);
  const metrics = new Metrics();
  const serviceMetrics = new ServiceMetrics(metrics);
  const processMetrics = new ProcessMetrics(metrics);
  const wireOptions = { source: loaded.source, clock, userAgent: `boxwright/${version}` };
  const wire = new UndiciKubePort(wireOptions);
  // A connection of its own: renewals must not queue behind the writes of a thousand resources.
  const leaderWire = new UndiciKubePort(wireOptions);
  try {
    const { host } = new URL(loaded.server);
    const port = countingPort(wire, metrics, host);
    const kube = new KubeClient(port, { clock, random });
    const identity = `${hostname()}_${randomUUID()}`;
    log.info({ version, server: loaded.server, namespace, namespaces: namespaces ?? 'all' }, 'starting');
    if (endpoints.allowedHosts.length === 0) {
      log.warn({}, 'no host may be called: every Connection waits until --allowed-hosts names its host');
    }
    const recorder = new EventRecorder({
      port,
      clock,
      random,
      reportingController: 'boxwright.dev/operator',
      reportingInstance: hostname(),
      metrics,
      logger: log,
    });
    const operator = new Operator({
      kube,
      clock,
      random,
      log,
      recorder,
      metrics,
      namespace,
      ...(namespaces === undefined ? {} : { namespaces }),
      ...(installationId === undefined ? {} : { installationId }),
      portFor: (target) => createUndiciPort({ ...target, ...endpoints, clock }),
      ...(workers === undefined ? {} : { workers }),
      onCall: (connection, report) => serviceMetrics.count(connection, report),
      onNotice: (notice) => logNotice(log, notice),
    });
    const manager = new Manager({
      clock,
      metrics,
      logger: log,
      sources: operator.sources,
      runners: [operator],
      recorder,
      ...(leader === undefined
        ? {}
        : {
            elector: new Elector({
              port: countingPort(leaderWire, metrics, host),
              clock,
              random,
              namespace,
              identity,
              metrics,
              logger: log,
              ...leader,
            }),
          }),
      ...(health === undefined ? {} : { health }),
    });
    await manager.run(stop);
    log.info({}, 'ended in good order');
  } finally {
    processMetrics.stop();
    await Promise.all([wire.close(), leaderWire.close()]);
  }
}

function logNotice(log: Logger, notice: ReflectorNotice): void {
  switch (notice.kind) {
    case 'error':
      log.warn({ ...notice }, 'following a kind failed, it is tried again');
      return;
    case 'listed':
      log.debug({ ...notice }, 'listed');
      return;
    case 'watch-ended':
      log.debug({ ...notice }, 'a watch ended');
      return;
    default:
      notice satisfies never;
  }
}
