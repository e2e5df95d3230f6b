import {
  KubeApiError,
  KubeClient,
  KubeCredentialsError,
  KubeTransportError,
  loadKubeConfig,
  UndiciKubePort,
  type KubePort,
} from '../../kube/index.ts';
import type { CliIo } from '../command.ts';
import { CommandFailedError } from '../exit-codes.ts';
import { kubeConfigUsage } from '../kubeconfig-usage.ts';
import { checkNamespace } from '../namespaces.ts';
import { version } from '../version.ts';
import { CLUSTER_FLAGS, type ClusterValues } from './flags.ts';

/** Field manager of what a person writes by these commands. */
export const FIELD_MANAGER = 'kubectl-boxwright';

/** A cluster as the person at the terminal may use it. */
export interface Cluster {
  kube: KubeClient;
  port: KubePort;
  /** Of the flag, else of the context. */
  namespace: string;
  /** Address of the API server, for messages. */
  server: string;
  context: string;
}

/** A person waits: two tries, and no longer than this for an answer. */
const TRIES = 2;
const DEADLINE_MS = 20_000;

/**
 * Does something with the cluster that the flags name, and closes what it opened. What goes wrong with the cluster is
 * told in words: the usage of flags, a refusal, a server that does not answer.
 */
export async function withCluster<T>(
  flags: ClusterValues,
  io: CliIo,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  if (flags.namespace !== undefined) checkNamespace('--namespace', flags.namespace);
  let port: UndiciKubePort | undefined;
  let server = '';
  try {
    const loaded = await loadKubeConfig({
      env: io.env,
      ...(flags.kubeconfig === undefined ? {} : { file: flags.kubeconfig }),
      ...(flags.context === undefined ? {} : { context: flags.context }),
    });
    server = loaded.server;
    const options = { source: loaded.source, clock: io.clock, deadlineMs: DEADLINE_MS };
    port = new UndiciKubePort({ ...options, userAgent: `kubectl-boxwright/${version}` });
    const client = { clock: io.clock, random: io.random, maxTries: TRIES, fieldManager: FIELD_MANAGER };
    return await work({
      kube: new KubeClient(port, client),
      port,
      namespace: flags.namespace ?? loaded.namespace ?? 'default',
      server,
      context: loaded.context,
    });
  } catch (error) {
    if (io.interrupt.signal.aborted) throw io.interrupt.signal.reason;
    throw explained(kubeConfigUsage(error, flags, CLUSTER_FLAGS, io.env), server);
  } finally {
    await port?.close();
  }
}

function explained(error: unknown, server: string): unknown {
  if (error instanceof KubeTransportError) {
    return new CommandFailedError(`the cluster at ${server} does not answer`, { cause: error });
  }
  if (error instanceof KubeApiError) return new CommandFailedError(refusalOf(error));
  if (error instanceof KubeCredentialsError) return new CommandFailedError(error.message);
  return error;
}

/** What the API server said, and what a person does about it. */
export function refusalOf({ status, statusMessage }: KubeApiError): string {
  const next = {
    401: ': log in again, or name another --context',
    403: ': ask for this right, or name another --context',
  }[status];
  return `the API server answers ${status}: ${statusMessage}${next ?? ''}`;
}
