import { randomBytes } from 'node:crypto';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger, type Logger } from '../../src/base/logger.ts';
import { Operator } from '../../src/controllers/operator.ts';
import {
  Elector,
  EventRecorder,
  KubeClient,
  loadKubeConfig,
  Manager,
  Metrics,
  UndiciKubePort,
} from '../../src/kube/index.ts';
import { createUndiciPort } from '../../src/service/index.ts';

/** What an operator in this process is started with. */
export interface OperatorSettings {
  /** Whose rights and name it has at the API server. */
  kubeconfig: string;
  /** Its own namespace: installation id, key, leader lease. */
  home: string;
  /** The namespaces that it watches. */
  namespaces: readonly string[];
  log?: Logger;
  installationId?: string;
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

/** Runs the Operator in this process against the real API server, elected, with a real event recorder. */
export async function runOperator(settings: OperatorSettings): Promise<RunningOperator> {
  const { home, namespaces, allowedHosts = ['127.0.0.1', 'localhost'], serviceTimeoutMs } = settings;
  const log = settings.log ?? silentLogger;
  const clock = systemClock;
  const random = Math.random;
  const { source } = await loadKubeConfig({ file: settings.kubeconfig });
  const port = new UndiciKubePort({ source, clock });
  const metrics = new Metrics();
  const identity = `test-${randomBytes(4).toString('hex')}`;
  const kube = new KubeClient(port, { clock, random });
  const recorder = new EventRecorder({
    port,
    clock,
    random,
    reportingController: 'boxwright.dev/operator',
    reportingInstance: identity,
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
    namespace: home,
    namespaces,
    ...(settings.installationId === undefined ? {} : { installationId: settings.installationId }),
    portFor: (options) =>
      createUndiciPort({
        ...options,
        clock,
        allowedHosts,
        allowInsecure: true,
        allowLoopback: true,
        ...(serviceTimeoutMs === undefined
          ? {}
          : { headersTimeoutMs: serviceTimeoutMs, bodyTimeoutMs: serviceTimeoutMs }),
      }),
  });
  const elector = new Elector({
    port,
    clock,
    random,
    namespace: home,
    name: 'boxwright-leader',
    identity,
    metrics,
    logger: log,
    retryPeriodMs: 500,
  });
  const manager = new Manager({
    clock,
    metrics,
    logger: log,
    sources: operator.sources,
    runners: [operator],
    elector,
    recorder,
  });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  // Whoever stops it hears of a failure; until then it is nobody's.
  ended.catch((error: unknown) => log.error({ err: error }, 'the operator has failed'));
  return {
    metrics,
    async stop() {
      stop.abort(new Error('the test stops its operator'));
      try {
        await ended;
      } finally {
        await port.close();
      }
    },
  };
}
