// Of a file that loads nothing else: help is quick.
import { ENVTEST_INDEX } from '../../devcluster/envtest/address.ts';
import type { FlagTable, FlagValues } from '../flags.ts';
import { OUTPUT_FLAG } from '../output-flag.ts';

/** Every flag of `boxwright dev`. */
export const DEV_FLAGS = {
  examples: {
    flag: '--examples <directory>',
    env: 'BOXWRIGHT_DEV_EXAMPLES',
    type: 'text',
    defaultText: 'the examples that come with this program',
    description:
      'manifests to apply (*.yaml); connection.yaml is left out, its place is taken by one for this run',
  },
  exit: {
    flag: '--exit [boolean]',
    env: 'BOXWRIGHT_DEV_EXIT',
    type: 'boolean',
    default: false,
    description: 'end once everything is Ready (0), or something is stalled or late (1, with the reasons)',
  },
  timeout: {
    flag: '--timeout <duration>',
    env: 'BOXWRIGHT_DEV_TIMEOUT',
    type: 'duration',
    default: '5m',
    description: 'with --exit: how long everything may take to be Ready, once the cluster is there',
  },
  output: OUTPUT_FLAG,
  namespace: {
    flag: '--namespace <name>',
    env: 'BOXWRIGHT_DEV_NAMESPACE',
    type: 'text',
    default: 'boxwright-demo',
    description: 'where the examples go; the operator looks after this namespace only',
  },
  systemNamespace: {
    flag: '--system-namespace <name>',
    env: 'BOXWRIGHT_DEV_SYSTEM_NAMESPACE',
    type: 'text',
    default: 'boxwright-system',
    description: 'the operator’s own namespace',
  },
  context: {
    flag: '--context <name>',
    env: 'BOXWRIGHT_DEV_CONTEXT',
    type: 'text',
    description: 'use this context of your kubeconfig instead of a control plane of its own',
  },
  kubeconfig: {
    flag: '--kubeconfig <file>',
    env: 'BOXWRIGHT_DEV_KUBECONFIG',
    type: 'text',
    description: 'use the cluster of this kubeconfig instead of a control plane of its own',
  },
  envtestIndex: {
    flag: '--envtest-index <url>',
    env: 'BOXWRIGHT_DEV_ENVTEST_INDEX',
    type: 'text',
    default: ENVTEST_INDEX,
    description:
      'list of published control planes, in the form that setup-envtest reads, for a machine that has none yet; off: build one instead',
  },
  keep: {
    flag: '--keep [boolean]',
    env: 'BOXWRIGHT_DEV_KEEP',
    type: 'boolean',
    default: false,
    description: 'leave what was applied where it is when an existing cluster or service is used',
  },
  endpoint: {
    flag: '--endpoint <url>',
    env: 'BOXWRIGHT_DEV_ENDPOINT',
    type: 'text',
    description: 'use an existing service instead of the embedded one; needs a token, or email and password',
  },
  token: {
    flag: '--token <text>',
    env: 'BOXWRIGHT_TOKEN',
    type: 'text',
    description: 'token for --endpoint; better given by the variable, which no list of processes shows',
  },
  email: {
    flag: '--email <address>',
    env: 'BOXWRIGHT_EMAIL',
    type: 'text',
    description: 'email for --endpoint',
  },
  password: {
    flag: '--password <text>',
    env: 'BOXWRIGHT_PASSWORD',
    type: 'text',
    description: 'password for --endpoint; better given by the variable',
  },
  logFile: {
    flag: '--log-file <path>',
    env: 'BOXWRIGHT_DEV_LOG_FILE',
    type: 'text',
    defaultText: 'in the folder of the run',
    description: 'where the operator’s log goes',
  },
  logLevel: {
    flag: '--log-level <level>',
    env: 'BOXWRIGHT_LOG_LEVEL',
    type: 'text',
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error'],
    description: 'least level of that log',
  },
} as const satisfies FlagTable;

/** What the flags of `boxwright dev` were given. */
export type DevFlags = FlagValues<typeof DEV_FLAGS>;
