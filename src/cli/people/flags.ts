import type { FlagRow, FlagTable, FlagValues } from '../flags.ts';

/** Which cluster, and where in it. */
export const CLUSTER_FLAGS = {
  namespace: {
    flag: '-n, --namespace <name>',
    env: 'BOXWRIGHT_NAMESPACE',
    type: 'text',
    defaultText: 'that of the context, else default',
    description: 'namespace of the resources',
  },
  context: {
    flag: '--context <name>',
    env: 'BOXWRIGHT_CONTEXT',
    type: 'text',
    defaultText: 'the current one',
    description: 'context of the kubeconfig',
  },
  kubeconfig: {
    flag: '--kubeconfig <file>',
    env: 'BOXWRIGHT_KUBECONFIG',
    type: 'text',
    defaultText: 'as kubectl finds it',
    description: 'kubeconfig file; its user needs the rights, not the operator',
  },
} as const satisfies FlagTable;

/** What {@link CLUSTER_FLAGS} were given. */
export type ClusterValues = FlagValues<typeof CLUSTER_FLAGS>;

/** Every namespace instead of one. */
export const ALL_NAMESPACES_FLAG = {
  flag: '-A, --all-namespaces [boolean]',
  env: 'BOXWRIGHT_ALL_NAMESPACES',
  type: 'boolean',
  default: false,
  description: 'resources of every namespace',
} as const satisfies FlagRow;

/** How the outcome is written. */
export const FORMAT_FLAG = {
  flag: '-o, --output <format>',
  env: 'BOXWRIGHT_OUTPUT',
  type: 'text',
  default: 'text',
  choices: ['text', 'json', 'yaml'],
  description: 'json and yaml have the same fields and are stable; text is for people and may change',
} as const satisfies FlagRow;

/** Where the operator itself is. */
export const SYSTEM_NAMESPACE_FLAG = {
  flag: '--system-namespace <name>',
  env: 'BOXWRIGHT_SYSTEM_NAMESPACE',
  type: 'text',
  default: 'boxwright-system',
  description: 'the operator’s own namespace',
} as const satisfies FlagRow;
