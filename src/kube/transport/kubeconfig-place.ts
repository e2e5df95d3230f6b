import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { KubeCredentialsError } from './auth.ts';
import type { ConfigReader } from './config-reader.ts';
import { NotPlainError } from './plain-config.ts';

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
  /** Where KUBECONFIG and HOME are. @default neither is set */
  env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Thrown when a kubeconfig cannot be used as it is. The message begins with where it is from and says what is
 * wrong, and never what is in it: there are credentials.
 */
export class KubeConfigError extends KubeCredentialsError {
  /** The option that is wrong; undefined where it was looked for. */
  readonly option: 'file' | 'context' | 'inCluster' | undefined;

  constructor(option: KubeConfigError['option'], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'KubeConfigError';
    this.option = option;
  }
}

/** What a kubeconfig was read from. */
export interface Place {
  option: KubeConfigError['option'];
  /** For messages: a path, or `KUBECONFIG=…`. */
  name: string;
}

const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** Fills `config` from where the options say, with paths made absolute. @throws KubeConfigError */
export function readInto(config: ConfigReader, fresh: () => ConfigReader, options: KubeConfigOptions): Place {
  const place = findInto(config, fresh, options);
  requireClusters(config, place);
  return place;
}

function findInto(config: ConfigReader, fresh: () => ConfigReader, options: KubeConfigOptions): Place {
  const { file, text, inCluster, env = {} } = options;
  if (text !== undefined) {
    const place: Place = { option: undefined, name: 'the kubeconfig' };
    parseInto(config, text, place);
    return place;
  }
  if (file !== undefined) {
    const place: Place = { option: 'file', name: file };
    readFileInto(config, file, place);
    return place;
  }
  if (inCluster === true) return podInto(config, { option: 'inCluster', name: 'the pod' });
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((each) => each !== '');
  if (listed.length > 0) return listInto(config, fresh, listed);
  const home = env['HOME'] ?? env['USERPROFILE'] ?? '';
  const usual = join(home, '.kube', 'config');
  if (home !== '' && existsSync(usual)) {
    const place: Place = { option: undefined, name: usual };
    readFileInto(config, usual, place);
    return place;
  }
  if (existsSync(SERVICE_ACCOUNT_TOKEN)) return podInto(config, { option: undefined, name: 'the pod' });
  throw new KubeConfigError(
    undefined,
    'no cluster is named: there is no KUBECONFIG, no ~/.kube/config, and this is no pod with a service account',
  );
}

/** The files of KUBECONFIG; as with kubectl some may be missing, but not all. */
function listInto(config: ConfigReader, fresh: () => ConfigReader, listed: readonly string[]): Place {
  const place: Place = { option: undefined, name: `KUBECONFIG=${listed.join(delimiter)}` };
  const part = (file: string): Place =>
    listed.length === 1 ? place : { ...place, name: `${place.name}: ${file}` };
  const there = listed.filter((file) => existsSync(file));
  // With none of them, reading the first says what is wrong.
  const [first = '', ...others] = there.length === 0 ? listed : there;
  readFileInto(config, first, part(first));
  for (const file of others) {
    const other = fresh();
    readFileInto(other, file, part(file));
    try {
      config.mergeConfig(other, config.getCurrentContext() !== undefined);
    } catch (cause) {
      if (cause instanceof NotPlainError) throw cause;
      throw new KubeConfigError(undefined, `${place.name}: ${file}: ${wordsOf(cause)}`, { cause });
    }
  }
  return place;
}

function readFileInto(config: ConfigReader, file: string, place: Place): void {
  if (file === '') throw new KubeConfigError(place.option, 'is empty: give the path of a kubeconfig');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new KubeConfigError(place.option, `${place.name}: ${unreadable(cause)}`, { cause });
  }
  parseInto(config, text, place);
  config.makePathsAbsolute(dirname(file));
}

function parseInto(config: ConfigReader, text: string, { option, name }: Place): void {
  try {
    config.loadFromString(text);
  } catch (cause) {
    if (cause instanceof NotPlainError) throw cause;
    // Not with the parser's words or as a cause: they repeat the lines around, and there are credentials.
    const line = (cause as { mark?: { line?: number } }).mark?.line;
    if (line !== undefined) throw new KubeConfigError(option, `${name}: line ${line + 1} is no YAML`);
    if (cause instanceof Error && 'syscall' in cause) {
      throw new KubeConfigError(option, `${name}: its token-file ${unreadable(cause)}`, { cause });
    }
    throw new KubeConfigError(option, `${name}: this is no kubeconfig (${wordsOf(cause)})`);
  }
}

/** One file of a list may hold users or contexts alone: only all together have to name a cluster. */
function requireClusters(config: ConfigReader, { option, name }: Place): void {
  if (config.getClusters().length > 0) return;
  throw new KubeConfigError(option, `${name}: this is no kubeconfig (there are no clusters in it)`);
}

function podInto(config: ConfigReader, place: Place): Place {
  config.loadFromCluster();
  if (!existsSync(SERVICE_ACCOUNT_TOKEN)) {
    throw new KubeConfigError(
      place.option,
      `this is no pod with a service account (there is no ${SERVICE_ACCOUNT_TOKEN})`,
    );
  }
  return place;
}

/** What it means that a file cannot be read. */
export function unreadable(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    ENOTDIR: 'there is no such file',
    EISDIR: 'this is a folder, not a file',
    EACCES: 'this user may not read it',
    EPERM: 'this user may not read it',
  };
  return `${known[code] ?? 'it cannot be read'} (${code})`;
}

/** The words of the reader about its structure: `clusters[0].name is missing`, and the like. */
function wordsOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  return /^(?:(?:clusters|contexts|users)\[\d+\][\w.]* is missing|Duplicate \w+: [\w.@:/-]+)$/.test(message)
    ? message
    : 'it has another form';
}
