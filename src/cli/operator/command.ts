import { readFileSync } from 'node:fs';
// Not by the index: help and completion need nothing of a client.
import { readAllowedHost } from '../../service/transport/hosts.ts';
import {
  readSecretSelector,
  SecretSelectorError,
  type SecretSelector,
} from '../../controllers/secret-policy.ts';
import { defineCommand } from '../command.ts';
import { errorText, isForeseen } from '../error-text.ts';
import { CommandFailedError, EXIT, UsageError } from '../exit-codes.ts';
import { checkNamespace } from '../namespaces.ts';
import { proxiesOf, proxyAddresses } from '../proxies.ts';
import { OPERATOR_FLAGS, type OperatorFlags } from './flags.ts';
import type { OperatorSettings } from './run.ts';
import { servingOf } from './serving-flags.ts';

const SERVICE_ACCOUNT_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
const DEFAULT_NAMESPACE = 'boxwright-system';

/** `boxwright operator`. */
export const operatorCommand = defineCommand({
  flags: OPERATOR_FLAGS,
  notes: `
SIGTERM or ^C ends it in good order: no new work, what is under way is finished, the lease is given back; a
second one ends it at once. When leadership is lost it ends with 1, to be started anew.
No host may be called until --allowed-hosts names it: whoever may write a Connection must not be able to send a
credential elsewhere.`,
  async run(flags, io) {
    const proxies = proxiesOf(io.env);
    const told = settingsOf(flags);
    const settings = {
      ...told,
      cluster: { ...told.cluster, env: io.env },
      endpoints: { ...told.endpoints, proxies },
    };
    const [{ createLog }, { runOperator }] = await Promise.all([import('../log.ts'), import('./run.ts')]);
    const format = flags.logFormat ?? (io.stderr.isTTY === true ? 'text' : 'json');
    const log = createLog({ level: flags.logLevel, format, stream: io.stderr, clock: io.clock });
    if (proxies.http !== undefined || proxies.https !== undefined) {
      log.info({ proxies: proxyAddresses(proxies) }, 'services are called through a proxy');
    }
    try {
      await runOperator(settings, { clock: io.clock, random: io.random, log }, io.interrupt.signal);
      return EXIT.ok;
    } catch (cause) {
      const { kubeConfigUsage } = await import('../kubeconfig-usage.ts');
      const error = explained(kubeConfigUsage(cause, flags, OPERATOR_FLAGS, io.env), flags);
      // Whoever reads lines of JSON reads this one too; a person gets it in the usual form, and a mistake on the
      // command line has it always.
      if (format !== 'json' || error instanceof UsageError) throw error;
      const fields = isForeseen(error)
        ? { code: error.code, why: errorText(error).replaceAll(/\n\s*/g, ', ') }
        : { error };
      log.error(fields, 'the operator cannot go on');
      return EXIT.failed;
    }
  },
});

/** The system's codes for an address that cannot be listened on. */
const ADDRESS_CODES: ReadonlySet<unknown> = new Set(['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND']);

function explained(error: unknown, flags: OperatorFlags): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ServingCertificate') {
    const { message, cause } = error as Error;
    return new CommandFailedError(`${message}: see --metrics-cert-path and --metrics-client-ca`, { cause });
  }
  if (!ADDRESS_CODES.has(code) || (syscall !== 'listen' && syscall !== 'getaddrinfo')) return error;
  const { health, metrics } = servingOf(flags);
  // A listener says which port it did not get, a look-up which host it did not find.
  const { port, hostname = health?.host } = error as { port?: number; hostname?: string };
  const apart = flags.healthAddress !== undefined || metrics !== undefined;
  const isHealth = apart && (port ?? health?.port) === health?.port && hostname === health?.host;
  const flag = isHealth
    ? `--health-address ${flags.healthAddress ?? `${health?.host}:${health?.port}`}`
    : `--metrics-address ${flags.metricsAddress}`;
  return new CommandFailedError(`${flag} cannot be listened on: give another one, or off`, { cause: error });
}

/** What the flags mean, checked. @throws UsageError */
export function settingsOf(flags: OperatorFlags): OperatorSettings {
  const serving = servingOf(flags);
  const { leaseDuration, renewDeadline, retryPeriod } = flags;
  if (!(leaseDuration > renewDeadline && renewDeadline > retryPeriod && retryPeriod > 0)) {
    throw new UsageError(
      '--leader-lease-duration must be longer than --leader-renew-deadline, and that longer than --leader-retry-period',
    );
  }
  if (flags.namespace !== undefined) checkNamespace('--namespace', flags.namespace);
  for (const name of flags.namespaces) checkNamespace('--namespaces', name);
  for (const host of flags.allowedHosts) checkAllowedHost(host);
  if (flags.workers < 1) throw new UsageError('--workers 0: give at least 1');
  return {
    cluster: {
      ...(flags.kubeconfig === undefined ? {} : { file: flags.kubeconfig }),
      ...(flags.context === undefined ? {} : { context: flags.context }),
      ...(flags.inCluster ? { inCluster: true } : {}),
    },
    namespace: flags.namespace ?? podNamespace() ?? DEFAULT_NAMESPACE,
    ...(flags.namespaces.length === 0 ? {} : { namespaces: flags.namespaces }),
    ...(flags.installationId === undefined ? {} : { installationId: flags.installationId }),
    restore: flags.restore,
    watchSecrets: flags.watchSecrets,
    ...(flags.secretSelector === undefined ? {} : { secretSelector: secretSelectorOf(flags.secretSelector) }),
    keepCredentials: flags.keepCredentials,
    endpoints: {
      allowedHosts: flags.allowedHosts,
      allowInsecure: flags.allowInsecure,
      allowLoopback: flags.allowLoopback,
    },
    ...(flags.leaderElect
      ? {
          leader: {
            name: flags.leaseName,
            leaseDurationMs: leaseDuration,
            renewDeadlineMs: renewDeadline,
            retryPeriodMs: retryPeriod,
          },
        }
      : {}),
    ...serving,
    ...(flags.tracesEndpoint === undefined ? {} : { traces: collectorAt(flags.tracesEndpoint) }),
    workers: flags.workers,
  };
}

/** What would never match is a mistake that nobody notices. */
function checkAllowedHost(entry: string): void {
  const read = readAllowedHost(entry);
  if (read.kind === 'wrong')
    throw new UsageError(`--allowed-hosts ${JSON.stringify(entry)}: ${read.message}`);
}

/** An empty text is a variable that somebody forgot to fill: it must not open every Secret. */
function secretSelectorOf(text: string): SecretSelector {
  try {
    return readSecretSelector(text);
  } catch (error) {
    if (!(error instanceof SecretSelectorError)) throw error;
    throw new UsageError(`--secret-selector: ${error.message}`);
  }
}

function collectorAt(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new UsageError(
      '--traces-endpoint: give the http or https address of a collector, such as http://collector:4318, without a login in it',
    );
  }
  return url;
}

function podNamespace(): string | undefined {
  try {
    return readFileSync(SERVICE_ACCOUNT_NAMESPACE, 'utf8').trim() || undefined;
  } catch {
    // Not in a pod.
    return undefined;
  }
}
