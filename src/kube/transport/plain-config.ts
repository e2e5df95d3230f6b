import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { isIPv6 } from 'node:net';
import { isAbsolute, join } from 'node:path';
import type { Cluster, Context, User } from '@kubernetes/client-node';
import type { ConfigReader } from './config-reader.ts';

/** Thrown for a kubeconfig that {@link PlainConfig} leaves to client-node, with its words about what is wrong. */
export class NotPlainError extends Error {
  readonly code = 'NotPlain';
  constructor() {
    super('this kubeconfig is not a plain one');
    this.name = 'NotPlainError';
  }
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Fields of a user that need nothing but reading. */
const PLAIN_USER: ReadonlySet<string> = new Set([
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'token',
]);

type Fields = Readonly<Record<string, unknown>>;
type Files = Pick<User, 'certData' | 'certFile' | 'keyData' | 'keyFile' | 'token'>;

/** A user with certificates, a token, or both; `tokenFile` is that of the pod. */
type PlainUser = Files & { readonly name: string; readonly tokenFile?: string };

/**
 * Reads one kubeconfig, or the pod's service account, whose user has certificates or a token. What runs a program, asks
 * an identity provider, is spread over several files or is wrong is thrown as {@link NotPlainError}: client-node, which
 * takes ten times as long to load, reads that.
 */
export class PlainConfig implements ConfigReader {
  readonly #parse: (text: string) => unknown;
  readonly #env: Readonly<Record<string, string | undefined>>;
  #clusters: Cluster[] = [];
  #contexts: Context[] = [];
  /** Undefined: one that is not plain. */
  #users = new Map<string, PlainUser | undefined>();
  #current = '';

  constructor(parse: (text: string) => unknown, env: Readonly<Record<string, string | undefined>>) {
    this.#parse = parse;
    this.#env = env;
  }

  loadFromString(text: string): void {
    const config = fieldsOf(this.#read(text));
    this.#clusters = listOf(config, 'clusters').map(clusterOf);
    this.#contexts = listOf(config, 'contexts').map(contextOf);
    const users = listOf(config, 'users').map(userOf);
    this.#users = new Map(users.map(({ name, user }) => [name, user]));
    this.#current = textOf(config, 'current-context') ?? '';
    const names = [this.#clusters, this.#contexts, users].map((list) => list.map(({ name }) => name));
    if (names.some((list) => new Set(list).size < list.length)) throw new NotPlainError();
  }

  loadFromCluster(): void {
    const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = this.#env;
    // Other ports mean plain http, which is client-node's affair.
    if (host === '' || port === '' || ['80', '8080', '8001'].includes(port)) throw new NotPlainError();
    const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
    const namespace = optional(() => readFileSync(join(SERVICE_ACCOUNT, 'namespace'), 'utf8'));
    const [cluster, user, name] = ['inCluster', 'inClusterUser', 'inClusterContext'];
    this.#clusters = [
      { name: cluster, server, caFile: join(SERVICE_ACCOUNT, 'ca.crt'), skipTLSVerify: false },
    ];
    this.#users = new Map([[user, { name: user, tokenFile: join(SERVICE_ACCOUNT, 'token') }]]);
    this.#contexts = [{ name, cluster, user, ...(namespace === undefined ? {} : { namespace }) }];
    this.#current = name;
  }

  mergeConfig(): void {
    throw new NotPlainError();
  }

  makePathsAbsolute(folder: string): void {
    const absolute = <T>(owner: T, ...fields: (keyof T)[]): void => {
      for (const field of fields) {
        const path = owner[field];
        if (typeof path === 'string' && !isAbsolute(path)) owner[field] = join(folder, path) as T[keyof T];
      }
    };
    for (const cluster of this.#clusters) absolute(cluster, 'caFile');
    for (const user of this.#users.values()) if (user !== undefined) absolute(user, 'certFile', 'keyFile');
  }

  getClusters(): Cluster[] {
    return this.#clusters;
  }

  getContexts(): Context[] {
    return this.#contexts;
  }

  getCurrentContext(): string {
    return this.#current;
  }

  setCurrentContext(context: string): void {
    this.#current = context;
  }

  getContextObject(name: string): Context | null {
    return this.#contexts.find((context) => context.name === name) ?? null;
  }

  getCurrentCluster(): Cluster | null {
    const name = this.getContextObject(this.#current)?.cluster;
    return this.#clusters.find((cluster) => cluster.name === name) ?? null;
  }

  getCurrentUser(): User {
    return this.#user();
  }

  applyToHTTPSOptions(options: RequestOptions): Promise<void> {
    const cluster = this.getCurrentCluster();
    const { certFile, certData, keyFile, keyData, token, tokenFile } = this.#user();
    if (cluster?.skipTLSVerify === true) options.rejectUnauthorized = false;
    if (cluster?.tlsServerName !== undefined) options.servername = cluster.tlsServerName;
    const given = {
      ca: contentOf(cluster?.caFile, cluster?.caData),
      cert: contentOf(certFile, certData),
      key: contentOf(keyFile, keyData),
    };
    for (const [name, content] of Object.entries(given)) {
      if (content !== undefined) Object.assign(options, { [name]: content });
    }
    const bearer = tokenFile === undefined ? token : readFileSync(tokenFile, 'utf8');
    if (bearer !== undefined && bearer !== '') options.headers = { authorization: `Bearer ${bearer}` };
    return Promise.resolve();
  }

  #read(text: string): unknown {
    try {
      return this.#parse(text);
    } catch {
      // Client-node says in which line, and nothing of what stands there.
      throw new NotPlainError();
    }
  }

  #user(): PlainUser {
    const user = this.#users.get(this.getContextObject(this.#current)?.user ?? '');
    // Also a context without a user: client-node does without TLS then.
    if (user === undefined) throw new NotPlainError();
    return user;
  }
}

function clusterOf(entry: Fields): Cluster {
  const cluster = fieldsOf(entry['cluster']);
  const server = textOf(cluster, 'server');
  if (server === undefined) throw new NotPlainError();
  return {
    name: nameOf(entry),
    server: server.replace(/\/$/, ''),
    skipTLSVerify: cluster['insecure-skip-tls-verify'] === true,
    ...optionalTexts(cluster, {
      caFile: 'certificate-authority',
      caData: 'certificate-authority-data',
      tlsServerName: 'tls-server-name',
      proxyUrl: 'proxy-url',
    }),
  };
}

function contextOf(entry: Fields): Context {
  const context = fieldsOf(entry['context']);
  return {
    name: nameOf(entry),
    cluster: textOf(context, 'cluster') ?? '',
    user: textOf(context, 'user') ?? '',
    ...optionalTexts(context, { namespace: 'namespace' }),
  };
}

function userOf(entry: Fields): { name: string; user: PlainUser | undefined } {
  const name = nameOf(entry);
  const fields = fieldsOf(entry['user'] ?? {});
  const isPlain = Object.entries(fields).every(
    ([field, value]) => PLAIN_USER.has(field) && typeof value === 'string' && value !== '',
  );
  if (!isPlain) return { name, user: undefined };
  const texts = optionalTexts(fields, {
    certFile: 'client-certificate',
    certData: 'client-certificate-data',
    keyFile: 'client-key',
    keyData: 'client-key-data',
    token: 'token',
  });
  return { name, user: { name, ...texts } };
}

function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new NotPlainError();
  return value as Fields;
}

function listOf(config: Fields, name: string): Fields[] {
  const list = config[name] ?? [];
  if (!Array.isArray(list)) throw new NotPlainError();
  return list.map(fieldsOf);
}

function nameOf(entry: Fields): string {
  const name = textOf(entry, 'name');
  if (name === undefined) throw new NotPlainError();
  return name;
}

/** A text that is there and not empty. */
function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new NotPlainError();
  return value;
}

function optionalTexts<K extends string>(
  fields: Fields,
  names: Readonly<Record<K, string>>,
): Partial<Record<K, string>> {
  const texts = Object.entries<string>(names).map(([key, name]) => [key, textOf(fields, name)] as const);
  return Object.fromEntries(texts.filter(([, value]) => value !== undefined)) as Partial<Record<K, string>>;
}

function contentOf(file: string | undefined, data: string | undefined): Buffer | undefined {
  if (file !== undefined) return readFileSync(file);
  return data === undefined ? undefined : Buffer.from(data, 'base64');
}

function optional(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    // Not in a pod with a namespace file.
    return undefined;
  }
}
