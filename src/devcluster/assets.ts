import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PartsMissingError } from './errors.ts';

// In the bundle this module is part of a file in dist, and the build puts what it names beside that file.

/** The folder with the go.mod, go.sum and components.go of a pinned Go module. @throws PartsMissingError */
export function goModuleFolder(name: 'etcd' | 'kubernetes'): string {
  return existing(`./go/${name}`);
}

/** The script that a supervisor process runs. @throws PartsMissingError */
export function supervisorScript(): string {
  const script = import.meta.url.endsWith('.ts') ? './supervisor/supervisor.ts' : './supervisor.js';
  return existing(script);
}

function existing(relative: string): string {
  const path = fileURLToPath(new URL(relative, import.meta.url));
  if (!existsSync(path)) throw new PartsMissingError(path);
  return path;
}
