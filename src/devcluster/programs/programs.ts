import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { formatKubernetesVersion, parseKubernetesVersion } from '../../base/kubernetes-version.ts';
import { fetchEnvtest, findEnvtest, type EnvtestOptions } from '../envtest/envtest.ts';
import { ENVTEST_PROGRAMS } from '../envtest/release.ts';
import { buildComponent, requireGo } from './build.ts';
import { installClients, type Clients } from './clients.ts';
import { COMPONENT_NAMES, components, type Component, type ComponentName } from './components.ts';
import { AssetsIncompleteError } from '../errors.ts';
import { FileLock } from './file-lock.ts';
import { silentProgress, type Progress } from '../progress.ts';

/** Absolute paths of everything a control plane and its users run. */
export type Programs = Readonly<Record<EssentialName, string>> & {
  /** Undefined only where {@link ProgramOptions.envtest} was given. */
  readonly 'kube-controller-manager': string | undefined;
} & Clients;

/** Without them there is no control plane. */
type EssentialName = (typeof ENVTEST_PROGRAMS)[number];

/** The variables of the environment that this area reads. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProgramOptions {
  /**
   * `KUBEBUILDER_ASSETS`, `XDG_CACHE_HOME`, `PATH`, what Go wants of it, and with `envtest` `XDG_DATA_HOME`, `HOME` and
   * `ENVTEST_INSTALLED_ONLY`.
   */
  env: Environment;
  clock: Clock;
  progress: Progress;
  signal?: AbortSignal | undefined;
  /**
   * kubectl and helm are a convenience: where there are none, their plain names are given.
   * @default false
   */
  clientsOptional?: boolean | undefined;
  /**
   * Takes programs of another version rather than build them, and does without a controller manager.
   * @default the versions of go.mod, all three
   */
  envtest?: EnvtestOptions | undefined;
}

/** The programs of one place; what it lacks is undefined. */
type Found = Readonly<Record<ComponentName, string | undefined>>;

/**
 * Finds each program in `KUBEBUILDER_ASSETS`, else in the user's cache, else (with `envtest`) in what setup-envtest
 * keeps or in an archive as it fetches them, else builds it into the cache. Processes that do so at the same time wait
 * for each other. What an interrupted build had finished is kept. The progress says which it was.
 *
 * Throws {@link AssetsIncompleteError}, `PartsMissingError`, `GoMissingError`, `BuildFailedError`,
 * `ToolsMissingError`, or the signal's reason.
 */
export async function getPrograms(options: ProgramOptions): Promise<Programs> {
  const { env } = options;
  const cache = cacheFolder(env);
  const assets = env['KUBEBUILDER_ASSETS'] ?? '';
  const found = assets === '' ? await provide(cache, options) : await complete(assets, cache, options);
  const { etcd, 'kube-apiserver': apiServer, 'kube-controller-manager': controllerManager } = found;
  if (controllerManager === undefined) {
    options.progress.note(
      'there is no kube-controller-manager: what an owner leaves behind and namespaces stay when they are deleted',
    );
  }
  const clients = await installClients({
    cache,
    env,
    folders: [dirname(apiServer)],
    optional: options.clientsOptional === true,
    lock: (work) => locked(cache, options, work),
  });
  return { etcd, 'kube-apiserver': apiServer, 'kube-controller-manager': controllerManager, ...clients };
}

type Sufficient = Found & Readonly<Record<EssentialName, string>>;

/** What `KUBEBUILDER_ASSETS` holds; a controller manager that it lacks is of ours. */
async function complete(assets: string, cache: string, options: ProgramOptions): Promise<Sufficient> {
  const given = programsIn(assets);
  const missing = ENVTEST_PROGRAMS.filter((name) => given[name] === undefined);
  if (!isSufficient(given)) throw new AssetsIncompleteError(assets, missing);
  options.progress.note(`the control plane is that of KUBEBUILDER_ASSETS=${assets}`);
  if (given['kube-controller-manager'] !== undefined) return given;
  const [own] = components().filter(({ name }) => name === 'kube-controller-manager');
  if (own === undefined) return given;
  if (options.envtest === undefined) await build([own], cache, options);
  return { ...given, 'kube-controller-manager': existing(placeOf(own, cache)) };
}

async function provide(cache: string, options: ProgramOptions): Promise<Sufficient> {
  const all = components();
  const built = (): Found => foundOf(all, cache);
  const { envtest, progress } = options;
  const before = built();
  if (isSufficient(before) && (envtest !== undefined || before['kube-controller-manager'] !== undefined)) {
    progress.note(`the control plane is Kubernetes ${apiServerOf(all).version}, built before, in ${cache}`);
    return before;
  }
  if (envtest !== undefined) {
    const release = await envtestRelease(envtest, apiServerOf(all), cache, options);
    if (release !== undefined) return release;
  }
  await build(all, cache, options);
  return built() as Sufficient;
}

/** A release as setup-envtest has them, with our controller manager where that is of the same minor version. */
async function envtestRelease(
  envtest: EnvtestOptions,
  apiServer: Component,
  cache: string,
  options: ProgramOptions,
): Promise<Sufficient | undefined> {
  const tried = parseKubernetesVersion(apiServer.version);
  if (tried === undefined) throw new Error(`${apiServer.version} is no version of Kubernetes`);
  const find = { ...options, ...envtest, folder: join(cache, 'envtest'), tried };
  let release = findEnvtest(find);
  if (release === undefined && envtest.index !== undefined) {
    await locked(cache, options, async () => {
      // Another process may have fetched it while this one waited.
      release = findEnvtest({ ...find, progress: silentProgress }) ?? (await fetchEnvtest(find));
    });
  }
  if (release === undefined) return undefined;
  const { version, folder, from } = release;
  options.progress.note(`the control plane is Kubernetes ${formatKubernetesVersion(version)}, from ${from}`);
  const found = programsIn(folder);
  if (!isSufficient(found)) return undefined;
  const own = foundOf(components(), cache)['kube-controller-manager'];
  return { ...found, 'kube-controller-manager': version.minor === tried.minor ? own : undefined };
}

/** Builds what is missing of `wanted` into the cache. */
async function build(wanted: readonly Component[], cache: string, options: ProgramOptions): Promise<void> {
  const { env, clock, progress, signal } = options;
  const missing = (): Component[] => wanted.filter((each) => !existsSync(placeOf(each, cache)));
  if (missing().length === 0) return;
  await locked(cache, options, async () => {
    const left = missing();
    if (left.length > 0) await requireGo(left, env);
    for (const component of left) {
      await buildComponent(component, { output: placeOf(component, cache), env, clock, progress, signal });
    }
  });
}

function placeOf({ cacheKey, name }: Component, cache: string): string {
  return join(cache, cacheKey, name);
}

function apiServerOf(all: readonly Component[]): Component {
  const found = all.find(({ name }) => name === 'kube-apiserver');
  if (found === undefined) throw new Error('no recipe makes a kube-apiserver');
  return found;
}

/** What of `all` was built before. */
function foundOf(all: readonly Component[], cache: string): Found {
  const places = all.map((component) => [component.name, existing(placeOf(component, cache))] as const);
  return Object.fromEntries(places) as Found;
}

function programsIn(folder: string): Found {
  return Object.fromEntries(COMPONENT_NAMES.map((name) => [name, existing(join(folder, name))])) as Found;
}

function existing(path: string): string | undefined {
  return existsSync(path) ? path : undefined;
}

function isSufficient(found: Found): found is Sufficient {
  return ENVTEST_PROGRAMS.every((name) => found[name] !== undefined);
}

/** `boxwright/control-plane` in the user's cache folder. */
export function cacheFolder(env: Environment): string {
  const configured = env['XDG_CACHE_HOME'];
  const base = configured === undefined || configured === '' ? join(homedir(), '.cache') : configured;
  return join(base, 'boxwright', 'control-plane');
}

async function locked(cache: string, options: ProgramOptions, work: () => Promise<void>): Promise<void> {
  mkdirSync(cache, { recursive: true });
  let waiting: ReturnType<Progress['begin']> | undefined;
  const lock = await FileLock.acquire(join(cache, 'lock'), {
    clock: options.clock,
    signal: options.signal,
    onWait: (owner) => {
      waiting = options.progress.begin(`waiting for ${owner}, which is filling ${cache}`);
    },
  }).finally(() => waiting?.end('done'));
  try {
    removeLeftovers(cache);
    await work();
  } finally {
    lock.release();
  }
}

/** Unfinished files of a process that was killed: whoever holds the lock is the only one to write here. */
function removeLeftovers(cache: string): void {
  for (const folder of readdirSync(cache, { withFileTypes: true })) {
    if (!folder.isDirectory()) continue;
    for (const file of readdirSync(join(cache, folder.name))) {
      if (file.endsWith('.tmp')) rmSync(join(cache, folder.name, file), { recursive: true, force: true });
    }
  }
}
