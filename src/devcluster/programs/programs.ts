import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { buildComponent, requireGo } from './build.ts';
import { installClients, type Clients } from './clients.ts';
import { COMPONENT_NAMES, components, type Component, type ComponentName } from './components.ts';
import { AssetsIncompleteError } from '../errors.ts';
import { FileLock } from './file-lock.ts';
import type { Progress } from '../progress.ts';

/** Absolute paths of everything a control plane and its users run. */
export type Programs = Readonly<Record<ComponentName, string>> & Clients;

/** The variables of the environment that this area reads. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProgramOptions {
  /** `KUBEBUILDER_ASSETS`, `XDG_CACHE_HOME`, `PATH` and what Go wants of it. */
  env: Environment;
  clock: Clock;
  progress: Progress;
  signal?: AbortSignal | undefined;
  /**
   * kubectl and helm are a convenience: where there are none, their plain names are given.
   * @default false
   */
  clientsOptional?: boolean | undefined;
}

/** What the folder in KUBEBUILDER_ASSETS must hold; envtest's archives have no controller manager. */
const DEMANDED_OF_ASSETS: readonly ComponentName[] = ['kube-apiserver', 'etcd'];

/**
 * Finds each program in `KUBEBUILDER_ASSETS`, else in the user's cache, else builds it into the cache.
 * Processes that do so at the same time wait for each other. What an interrupted build had finished is kept.
 *
 * Throws {@link AssetsIncompleteError}, `PartsMissingError`, `GoMissingError`, `BuildFailedError`,
 * `ToolsMissingError`, or the signal's reason.
 */
export async function getPrograms(options: ProgramOptions): Promise<Programs> {
  const { env } = options;
  const cache = cacheFolder(env);
  const assets = env['KUBEBUILDER_ASSETS'];
  if (assets !== undefined && assets !== '') checkAssets(assets);
  const given = COMPONENT_NAMES.map((name) => givenIn(assets, name));
  const places = given.every((path) => path !== undefined) ? given : await provide(assets, cache, options);
  const clients = await installClients({
    cache,
    env,
    optional: options.clientsOptional === true,
    lock: (work) => locked(cache, options, work),
  });
  const [etcd, apiServer, controllerManager] = places as [string, string, string];
  return { etcd, 'kube-apiserver': apiServer, 'kube-controller-manager': controllerManager, ...clients };
}

/** The paths of all programs, in the order of their names, with what is missing built into the cache. */
async function provide(
  assets: string | undefined,
  cache: string,
  options: ProgramOptions,
): Promise<string[]> {
  const { env, clock, progress, signal } = options;
  const all = components();
  const place = (component: Component): string =>
    givenIn(assets, component.name) ?? join(cache, component.cacheKey, component.name);
  if (all.some((component) => !existsSync(place(component)))) {
    await locked(cache, options, async () => {
      const missing = all.filter((component) => !existsSync(place(component)));
      if (missing.length > 0) await requireGo(missing, env);
      for (const component of missing) {
        await buildComponent(component, { output: place(component), env, clock, progress, signal });
      }
    });
  }
  return all.map(place);
}

/** `boxwright/control-plane` in the user's cache folder. */
export function cacheFolder(env: Environment): string {
  const configured = env['XDG_CACHE_HOME'];
  const base = configured === undefined || configured === '' ? join(homedir(), '.cache') : configured;
  return join(base, 'boxwright', 'control-plane');
}

function checkAssets(assets: string): void {
  const missing = DEMANDED_OF_ASSETS.filter((name) => !existsSync(join(assets, name)));
  if (missing.length > 0) throw new AssetsIncompleteError(assets, missing);
}

function givenIn(assets: string | undefined, name: ComponentName): string | undefined {
  if (assets === undefined || assets === '') return undefined;
  const path = join(assets, name);
  return existsSync(path) ? path : undefined;
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
      if (file.endsWith('.tmp')) rmSync(join(cache, folder.name, file), { force: true });
    }
  }
}
