import { fileURLToPath } from 'node:url';

// In the bundle this module is part of dist/boxwright.js, and the build puts what it names beside that file.

/** The folder with the go.mod, go.sum and components.go of a pinned Go module. */
export function goModuleFolder(name: 'etcd' | 'kubernetes'): string {
  return fileURLToPath(new URL(`./go/${name}`, import.meta.url));
}

/** The script that a supervisor process runs. */
export function supervisorScript(): string {
  const script = import.meta.url.endsWith('.ts') ? './supervisor/supervisor.ts' : './supervisor.js';
  return fileURLToPath(new URL(script, import.meta.url));
}
