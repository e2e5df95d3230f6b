import type { CommandEntry } from './command.ts';
import { completionCommand } from './completion/command.ts';
import { versionCommand } from './version-command.ts';
import { ASK_ENTRIES } from './people/ask/asks.ts';

/** Every command. What is large is loaded when it is called, so that help is quick. */
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
    name: 'status',
    summary: 'show resources as a tree: what is Ready, since when, and what the rest waits for',
    load: async () => (await import('./people/status/command.ts')).statusCommand,
  },
  {
    name: 'explain',
    summary: 'explain one resource in words: why it is as it is, and what to do',
    load: async () => (await import('./people/explain/command.ts')).explainCommand,
  },
  {
    name: 'validate',
    summary: 'check manifests without a cluster',
    load: async () => (await import('./people/validate/command.ts')).validateCommand,
  },
  {
    name: 'doctor',
    summary: 'check the installation: kinds, operator, rights, connections, and what waits for a person',
    load: async () => (await import('./people/doctor/command.ts')).doctorCommand,
  },
  {
    name: 'import',
    summary: 'write manifests of what exists on the service',
    load: async () => (await import('./people/import/command.ts')).importCommand,
  },
  ...ASK_ENTRIES,
  {
    name: 'completion',
    summary: 'print a script that completes commands and flags in a shell',
    load: () => Promise.resolve(completionCommand),
  },
  {
    name: 'version',
    summary: 'print the version',
    load: () => Promise.resolve(versionCommand),
  },
];
