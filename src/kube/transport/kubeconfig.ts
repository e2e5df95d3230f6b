import { accessSync, constants } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { HttpProxy, ProxySettingError } from '../../base/proxy/settings.ts';
import { KubeCredentialsError, type AccessSource, type ClusterAccess, type TlsMaterial } from './auth.ts';
import type { ConfigReader } from './config-reader.ts';
import {
  KubeConfigError,
  readInto,
  unreadable,
  type KubeConfigOptions,
  type Place,
} from './kubeconfig-place.ts';
import { NotPlainError, PlainConfig } from './plain-config.ts';

/** A kubeconfig's context, ready to use. */
export interface LoadedKubeConfig {
  source: AccessSource;
  /** Address of the API server, for messages. */
  server: string;
  /** Of `proxy-url`. */
  proxy: HttpProxy | undefined;
  context: string;
  /** The context's namespace. */
  namespace: string | undefined;
}

/** Makes an empty reader of kubeconfigs, of one kind. */
type NewReader = () => ConfigReader;

/**
 * Reads a kubeconfig. A plain one is read here; with anything else, and with what is wrong, the parser and the credential
 * plugins of client-node do it, whose own transport is not used. It is loaded on demand: it is by far the slowest import.
 * @throws {@link KubeConfigError}
 */
export async function loadKubeConfig(options: KubeConfigOptions = {}): Promise<LoadedKubeConfig> {
  const config = await readConfig(options);
  const context = config.getCurrentContext();
  return {
    source: kubeConfigAccess(() => readConfig(options)),
    server: serverIn(config),
    proxy: proxyIn(config),
    context,
    namespace: config.getContextObject(context)?.namespace,
  };
}

/**
 * Access by a kubeconfig. Files behind it (certificates, tokens) are read again at each look. A fresh look
 * loads the kubeconfig anew, because its credential plugins keep what they once had.
 */
export function kubeConfigAccess(load: () => ConfigReader | Promise<ConfigReader>): AccessSource {
  let config: ConfigReader | undefined;
  return {
    async access(fresh) {
      if (fresh || config === undefined) config = await load();
      return accessOf(config);
    },
  };
}

/** By the first reader that knows what it finds; the last one knows everything. */
async function readConfig(options: KubeConfigOptions): Promise<ConfigReader> {
  const { env = {} } = options;
  const lighter: (() => Promise<NewReader> | NewReader)[] = [
    // In a pod there is nothing to parse.
    () => () => new PlainConfig(JSON.parse, env),
    async () => {
      const { parse } = await import('./yaml-parse.ts');
      return () => new PlainConfig(parse, env);
    },
  ];
  for (const readerOf of lighter) {
    try {
      return readWith(await readerOf(), options);
    } catch (error) {
      if (!(error instanceof NotPlainError)) throw error;
    }
  }
  // The one module behind KubeConfig, not the package with its API classes.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  return readWith(() => new KubeConfig(), options);
}

function readWith(fresh: NewReader, options: KubeConfigOptions): ConfigReader {
  const config = fresh();
  const place = readInto(config, fresh, options);
  if (options.context !== undefined) choose(config, options.context, place);
  check(config, place);
  return config;
}

function choose(config: ConfigReader, context: string, { name }: Place): void {
  if (config.getContextObject(context) === null) {
    throw new KubeConfigError('context', `${name} has no context "${context}"; it has ${contextsOf(config)}`);
  }
  config.setCurrentContext(context);
}

/** Finds at once what no later look would mend. */
function check(config: ConfigReader, { option, name }: Place): void {
  const context: string | undefined = config.getCurrentContext();
  if (context === undefined || context === '') {
    throw new KubeConfigError(
      'context',
      `${name} has no current context; choose one of ${contextsOf(config)}`,
    );
  }
  try {
    const server = serverIn(config);
    const { skipTLSVerify = false } = config.getCurrentCluster() ?? {};
    if (!server.startsWith('https:') && !skipTLSVerify) {
      throw new KubeCredentialsError(`its server ${server} is not https, and no token goes there`);
    }
    proxyIn(config);
  } catch (error) {
    if (!(error instanceof KubeCredentialsError)) throw error;
    throw new KubeConfigError(option, `${name}: ${error.message}`);
  }
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  const files = {
    'certificate-authority': cluster?.caFile,
    'client-certificate': user?.certFile,
    'client-key': user?.keyFile,
  };
  for (const [field, file] of Object.entries(files)) {
    // The reader makes a field that is absent null.
    if (typeof file !== 'string' || file === '') continue;
    try {
      accessSync(file, constants.R_OK);
    } catch (cause) {
      throw new KubeConfigError(option, `${name}: its ${field} ${file}: ${unreadable(cause)}`, { cause });
    }
  }
}

function contextsOf(config: ConfigReader): string {
  return (
    config
      .getContexts()
      .map(({ name }) => name)
      .join(', ') || 'none'
  );
}

async function accessOf(config: ConfigReader): Promise<ClusterAccess> {
  const server = serverIn(config);
  const proxy = proxyIn(config);
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
  return { server, headers, tls: tlsOf(options), ...(proxy === undefined ? {} : { proxy }) };
}

/** The proxy of `proxy-url`, which is of this cluster alone and comes before every variable. */
function proxyIn(config: ConfigReader): HttpProxy | undefined {
  const { name, proxyUrl } = config.getCurrentCluster() ?? {};
  if (typeof proxyUrl !== 'string' || proxyUrl === '') return undefined;
  try {
    return HttpProxy.parse(proxyUrl, `proxy-url of cluster ${name}`);
  } catch (error) {
    if (!(error instanceof ProxySettingError)) throw error;
    throw new KubeCredentialsError(error.message);
  }
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

function serverIn(config: ConfigReader): string {
  const server = config.getCurrentCluster()?.server;
  if (server === undefined || !URL.canParse(server)) {
    throw new KubeCredentialsError(
      `context "${config.getCurrentContext()}" names no cluster with a valid server`,
    );
  }
  return server;
}
