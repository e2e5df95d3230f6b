import { defineCommand, type CommandDefinition } from '../../command.ts';
import { UsageError } from '../../exit-codes.ts';
import type { FlagTable } from '../../flags.ts';
import { CLUSTER_FLAGS, FORMAT_FLAG } from '../flags.ts';
import { readOne, type Named } from '../kind-name.ts';
import type { Ask } from './asks.ts';
import { takersOf } from './takers.ts';

const ASK_FLAGS = {
  ...CLUSTER_FLAGS,
  wait: {
    flag: '--wait [boolean]',
    env: 'BOXWRIGHT_WAIT',
    type: 'boolean',
    default: false,
    description: 'wait until it is done; the exit code says how it ended',
  },
  timeout: {
    flag: '--timeout <duration>',
    env: 'BOXWRIGHT_TIMEOUT',
    type: 'duration',
    default: '30m',
    description: 'with --wait: how long at most, for each resource',
  },
  output: FORMAT_FLAG,
} as const satisfies FlagTable;

/** The command of a request. */
export function askCommand(ask: Ask): CommandDefinition {
  const takers = takersOf(ask);
  const kinds = takers.map(({ kind }) => kind).join(', ');
  const only = takers.length === 1 ? takers[0] : undefined;
  return defineCommand({
    flags: ASK_FLAGS,
    argument: {
      name: only === undefined ? 'kind/name' : 'name',
      description:
        only === undefined ? `a resource of a kind that takes it: ${kinds}` : `name of the ${kinds}`,
      several: true,
    },
    notes: ask.notes,
    async run({ wait, timeout, output, ...flags }, io, words) {
      const named = words.map((word) => taker(ask, word));
      const [{ withCluster }, { askFor }] = await Promise.all([import('../cluster.ts'), import('./run.ts')]);
      return withCluster(flags, io, (cluster) => askFor(ask, cluster, io, named, { wait, timeout, output }));
    },
  });
}

/** A word as a resource that takes the request. @throws UsageError */
function taker(ask: Ask, word: string): Named & { name: string } {
  const takers = takersOf(ask);
  const [only, ...others] = takers;
  if (!word.includes('/') && only !== undefined && others.length === 0 && word !== '')
    return { definition: only, name: word };
  const named = readOne(word);
  if (takers.some(({ kind }) => kind === named.definition.kind)) return named;
  const kinds = takers.map(({ kind }) => kind).join(', ');
  throw new UsageError(`${word}: ${ask.command} is for ${kinds} only`);
}
