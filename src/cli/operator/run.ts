import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { KINDS } from '../../api/kinds.ts';
import type { Clock, Random } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProxySettings } from '../../base/proxy/settings.ts';
import {
  countingPort,
  loadKubeConfig,
  Metrics,
  UndiciKubePort,
  type KubeConfigOptions,
} from '../../kube/index.ts';
import { EventLoopTurns } from '../../base/turns.ts';
import { version } from '../version.ts';
import { metricsEndpoint } from './metrics-endpoint.ts';
import { ProcessMetrics } from './process-metrics.ts';
import type { MetricsSettings } from './serving-flags.ts';
import { encodeSpans, OtlpTracer } from './traces/otlp-tracer.ts';
import { sendTo } from './traces/send.ts';
import { SpanExporter } from './traces/span-exporter.ts';
import { TRACE_METRICS } from './traces/trace-metrics.ts';
import { wireOperator, type WiringSettings } from './wiring.ts';

/** What an operator process is told. */
export interface OperatorSettings extends WiringSettings {
  cluster: KubeConfigOptions;
  /** Where to serve metrics apart from health; absent: with it. */
  metrics?: MetricsSettings;
  /** The OpenTelemetry collector that traces go to; absent: there are none. */
  traces?: URL;
}

/** What an operator process has of the world. */
export interface OperatorEffects {
  clock: Clock;
  random: Random;
  log: Logger;
  /** Where it counts. @default a registry of its own */
  metrics?: Metrics;
}

/**
 * One operator process: connects, leads or waits to, works until `stop` is aborted, and drains.
 * @throws LeadershipLostError, KubeConfigError, ServingCertificateError, or what an address cannot be had for
 */
export async function runOperator(
  { cluster, metrics: serving, traces, ...settings }: OperatorSettings,
  { clock, random, log, metrics = new Metrics() }: OperatorEffects,
  stop: AbortSignal,
): Promise<void> {
  const { namespace, namespaces, endpoints } = settings;
  const loaded = await loadKubeConfig(cluster);
  const effects = { clock, random, log, metrics };
  const tracing = traces === undefined ? undefined : tracesTo(traces, endpoints.proxies, effects);
  const processMetrics = new ProcessMetrics(metrics);
  const wireOptions = { source: loaded.source, clock, userAgent: `boxwright/${version}` };
  const turns = new EventLoopTurns();
  const wire = new UndiciKubePort({ ...wireOptions, turns });
  // A connection of its own: renewals must not queue behind the writes of a thousand resources.
  const leaderWire = new UndiciKubePort(wireOptions);
  // Nor must the question who scrapes: whoever does gives up after ten seconds or so.
  const reviewWire = new UndiciKubePort({ ...wireOptions, deadlineMs: 5_000 });
  try {
    const { server, proxy } = loaded;
    const through = proxy === undefined ? {} : { proxy: proxy.address };
    log.info({ version, server, ...through, namespace, namespaces: namespaces ?? 'all' }, 'starting');
    if (endpoints.allowedHosts.length === 0) {
      log.warn({}, 'no host may be called: every Connection waits until --allowed-hosts names its host');
    }
    // Validators are made with the first object that is parsed, which holds the event loop for 200 ms: better now.
    for (const { parse } of KINDS) parse({});
    const { host } = new URL(server);
    const manager = wireOperator(settings, {
      clock,
      random,
      log,
      metrics,
      turns,
      ...(tracing === undefined ? {} : { tracer: tracing.tracer }),
      kubePort: countingPort(wire, metrics, host),
      leaderPort: countingPort(leaderWire, metrics, host),
      ...(serving === undefined
        ? {}
        : {
            endpoints: [
              metricsEndpoint(serving, {
                port: countingPort(reviewWire, metrics, host),
                clock,
                log,
                metrics,
              }),
            ],
          }),
    });
    await manager.run(stop);
    log.info({}, 'ended in good order');
  } finally {
    processMetrics.stop();
    await tracing?.close();
    await Promise.all([wire.close(), leaderWire.close(), reviewWire.close()]);
  }
}

/** Traces on their way to a collector. */
function tracesTo(
  endpoint: URL,
  proxies: ProxySettings | undefined,
  { clock, random, log, metrics }: OperatorEffects & { metrics: Metrics },
): { tracer: OtlpTracer; close(): Promise<void> } {
  const dropped = metrics.counter(TRACE_METRICS.dropped);
  const resource = {
    'service.name': 'boxwright',
    'service.version': version,
    'service.instance.id': hostname(),
  };
  const exporter = new SpanExporter({
    clock,
    random,
    log,
    send: sendTo({ endpoint, userAgent: `boxwright/${version}`, clock, proxies }),
    encode: (spans) => encodeSpans(resource, spans),
    onDrop: (spans, reason) => dropped.inc({ reason }, spans),
  });
  const tracer = new OtlpTracer({
    clock,
    add: (span) => exporter.add(span),
    randomHex: (bytes) => randomBytes(bytes).toString('hex'),
  });
  return { tracer, close: () => exporter.close() };
}
