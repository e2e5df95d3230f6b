import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { KubeCredentialsError, type AccessSource, type ClusterAccess, type TlsMaterial } from './auth.ts';

/** Where a kubeconfig is looked for. With none of the first three: as kubectl does, then in the pod. */
export interface KubeConfigOptions {
  /** Path of a kubeconfig file. */
  file?: string | undefined;
  /** A kubeconfig itself. */
  text?: string | undefined;
  /** The pod's service account. */
  inCluster?: boolean | undefined;
  /** Instead of the current context. */
  context?: string | undefined;
}

/** A kubeconfig's context, ready to use. */
export interface LoadedKubeConfig {
  source: AccessSource;
  /** Address of the API server, for messages. */
  server: string;
  context: string;
  /** The context's namespace. */
  namespace: string | undefined;
}

/**
 * Reads a kubeconfig with the parser and the credential plugins of client-node, whose own transport is not
 * used. Loaded on demand: it is by far the slowest import.
 * @throws {@link KubeCredentialsError}
 */
export async function loadKubeConfig(options: KubeConfigOptions = {}): Promise<LoadedKubeConfig> {
  // The one module behind KubeConfig, not the package with its API classes.
  const module = await import('@kubernetes/client-node/dist/config.js');
  const load = (): KubeConfig => read(new module.KubeConfig(), options);
  const config = load();
  const source = kubeConfigAccess(load);
  const context = config.getCurrentContext();
  return {
    source,
    server: serverIn(config),
    context,
    namespace: config.getContextObject(context)?.namespace,
  };
}

/**
 * Access by a kubeconfig. Files behind it (certificates, tokens) are read again at each look. A fresh look
 * loads the kubeconfig anew, because its credential plugins keep what they once had.
 */
export function kubeConfigAccess(load: () => KubeConfig): AccessSource {
  let config: KubeConfig | undefined;
  return {
    async access(fresh) {
      if (fresh || config === undefined) config = load();
      return accessOf(config);
    },
  };
}

function read(config: KubeConfig, options: KubeConfigOptions): KubeConfig {
  try {
    if (options.text !== undefined) config.loadFromString(options.text);
    else if (options.file !== undefined) config.loadFromFile(options.file);
    else if (options.inCluster === true) config.loadFromCluster();
    else config.loadFromDefault();
  } catch (cause) {
    const where = options.file ?? (options.inCluster === true ? 'the service account' : 'the kubeconfig');
    throw new KubeCredentialsError(`${where} cannot be read`, { cause });
  }
  if (options.context !== undefined) {
    if (config.getContextObject(options.context) === null) {
      const known = config.getContexts().map(({ name }) => name);
      throw new KubeCredentialsError(
        `the kubeconfig has no context "${options.context}"; it has ${known.join(', ') || 'none'}`,
      );
    }
    config.setCurrentContext(options.context);
  }
  return config;
}

async function accessOf(config: KubeConfig): Promise<ClusterAccess> {
  const server = serverIn(config);
  if (config.getCurrentCluster()?.proxyUrl !== undefined) {
    throw new KubeCredentialsError('the kubeconfig asks for a proxy (proxy-url), which is not supported');
  }
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw new KubeCredentialsError(`no credentials for ${server}: look at the kubeconfig's user`, { cause });
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    // A token file ends with a line feed, which no header may hold.
    if (typeof value === 'string') headers[name.toLowerCase()] = value.trim();
  }
  if (typeof options.auth === 'string') {
    headers['authorization'] ??= `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return { server, headers, tls: tlsOf(options) };
}

function tlsOf(options: RequestOptions): TlsMaterial {
  const tls: TlsMaterial = {};
  const ca = pem(options.ca);
  const cert = pem(options.cert);
  const key = pem(options.key);
  if (ca !== undefined) tls.ca = ca;
  if (cert !== undefined) tls.cert = cert;
  if (key !== undefined) tls.key = key;
  if (options.servername !== undefined) tls.servername = options.servername;
  if (options.rejectUnauthorized === false) tls.rejectUnauthorized = false;
  return tls;
}

function pem(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) ? value.toString('utf8') : undefined;
}

function serverIn(config: KubeConfig): string {
  const server = config.getCurrentCluster()?.server;
  if (server === undefined || !URL.canParse(server)) {
    throw new KubeCredentialsError(
      `the kubeconfig's context "${config.getCurrentContext()}" names no cluster with a valid server`,
    );
  }
  return server;
}
