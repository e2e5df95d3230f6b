import { join } from 'node:path';
import type { ListenAddress } from '../../kube/index.ts';
import { UsageError } from '../exit-codes.ts';
import { addressOf, sameAddress } from './address.ts';
import type { OperatorFlags } from './flags.ts';

/** Metrics at an address of their own. */
export interface MetricsSettings extends ListenAddress {
  /** Absent: in the open. */
  secure?: SecureSettings;
}

/** How metrics are kept from those who may not read them. */
export interface SecureSettings {
  /** Absent: a self-signed certificate. */
  certificate?: { certFile: string; keyFile: string };
  /** Absent: the API server is asked about bearer tokens. */
  clients?: { caFile: string; names: readonly string[] };
}

/** Where health and metrics are served; absent: nowhere. Metrics that are absent are served with health. */
export interface ServingSettings {
  health?: ListenAddress & { metrics: boolean };
  metrics?: MetricsSettings;
}

/** The address of health where metrics are secure and nobody said another. */
const HEALTH_ADDRESS = '127.0.0.1:8081';

/** What the flags about health and metrics mean. @throws UsageError */
export function servingOf(flags: OperatorFlags): ServingSettings {
  const metrics = addressOf('--metrics-address', flags.metricsAddress);
  const secure = secureOf(flags);
  const healthText = flags.healthAddress ?? (secure === undefined ? flags.metricsAddress : HEALTH_ADDRESS);
  const health = addressOf('--health-address', healthText);
  if (metrics === undefined) return health === undefined ? {} : { health: { ...health, metrics: false } };
  if (secure === undefined && health !== undefined) {
    if (flags.healthAddress === undefined || sameAddress(health, metrics)) {
      return { health: { ...health, metrics: true } };
    }
  } else if (health !== undefined && sameAddress(health, metrics)) {
    throw new UsageError(
      `--health-address ${healthText}: with --metrics-secure it has to be another one than --metrics-address`,
    );
  }
  return {
    ...(health === undefined ? {} : { health: { ...health, metrics: false } }),
    metrics: { ...metrics, ...(secure === undefined ? {} : { secure }) },
  };
}

function secureOf(flags: OperatorFlags): SecureSettings | undefined {
  const { metricsCertPath, metricsClientCa, metricsClientNames } = flags;
  if (!flags.metricsSecure) {
    if (metricsCertPath !== undefined || metricsClientCa !== undefined) {
      throw new UsageError(
        '--metrics-cert-path and --metrics-client-ca mean nothing without --metrics-secure',
      );
    }
    return undefined;
  }
  if (metricsClientNames.length > 0 && metricsClientCa === undefined) {
    throw new UsageError('--metrics-client-names means nothing without --metrics-client-ca');
  }
  return {
    ...(metricsCertPath === undefined
      ? {}
      : {
          certificate: {
            certFile: join(metricsCertPath, flags.metricsCertName),
            keyFile: join(metricsCertPath, flags.metricsCertKey),
          },
        }),
    ...(metricsClientCa === undefined
      ? {}
      : { clients: { caFile: metricsClientCa, names: metricsClientNames } }),
  };
}
