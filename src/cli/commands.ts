import type { CommandEntry } from './command.ts';

/** Every command. Each is loaded when it is called, so that help is quick. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'operator',
    summary: 'run the operator against a cluster',
    load: async () => (await import('./operator/command.ts')).operatorCommand,
  },
  {
    name: 'dev',
    summary: 'control plane, embedded service, operator and examples in one terminal',
    load: async () => (await import('./dev/command.ts')).devCommand,
  },
  {
    name: 'sandbox',
    summary: 'run the embedded service alone',
    load: async () => (await import('./sandbox/command.ts')).sandboxCommand,
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands and flags in a shell',
    load: async () => (await import('./completion/command.ts')).completionCommand,
  },
  {
    name: 'version',
    summary: 'print the version',
    load: async () => (await import('./version-command.ts')).versionCommand,
  },
];
