import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import {
  CertificateGuard,
  certificateFiles,
  MetricsServer,
  selfSigned,
  TokenGuard,
  type KubePort,
  type Metrics,
  type SecureServing,
} from '../../kube/index.ts';
import type { MetricsSettings, SecureSettings } from './serving-flags.ts';

/** Puts the server of the metrics together. `port`: for reviews, with a deadline below that of a scrape. */
export function metricsEndpoint(
  { secure, ...address }: MetricsSettings,
  parts: { port: KubePort; clock: Clock; log: Logger; metrics: Metrics },
): MetricsServer {
  const { clock, log, metrics } = parts;
  return new MetricsServer({
    ...address,
    metrics,
    clock,
    logger: log,
    ...(secure === undefined ? {} : { secure: secureServing(secure, parts) }),
  });
}

function secureServing(
  { certificate, clients }: SecureSettings,
  { port, clock, log }: { port: KubePort; clock: Clock; log: Logger },
): SecureServing {
  return {
    certificate:
      certificate === undefined
        ? selfSigned(clock, ['localhost', '127.0.0.1', hostname()])
        : certificateFiles(certificate.certFile, certificate.keyFile),
    guard:
      clients === undefined
        ? new TokenGuard({ port, clock, logger: log })
        : new CertificateGuard(clock, clients.names),
    ...(clients === undefined ? {} : { clientCaFile: clients.caFile }),
  };
}
