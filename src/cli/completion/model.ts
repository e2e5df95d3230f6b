import { Option } from 'commander';
import type { CommandEntry } from '../command.ts';
import type { FlagRow } from '../flags.ts';

/** What a shell is told of a command. */
export interface CompletedCommand {
  name: string;
  summary: string;
  /** What its one word may be; empty when it takes none. */
  words: readonly string[];
  flags: readonly CompletedFlag[];
}

/** What a shell is told of a flag. */
export interface CompletedFlag {
  /** With its dashes. */
  long: string;
  short?: string;
  description: string;
  /**
   * The value: `no` where the flag alone will do, `words` for a choice, `text` for what no shell can guess.
   */
  value: 'no' | 'file' | 'directory' | 'words' | 'text';
  words: readonly string[];
}

const HELP: CompletedFlag = {
  long: '--help',
  short: '-h',
  description: 'print this help',
  value: 'no',
  words: [],
};

/** Every command with its flags, from the tables that the program itself reads. */
export async function completedCommands(entries: readonly CommandEntry[]): Promise<CompletedCommand[]> {
  const commands = await Promise.all(
    entries.map(async ({ name, summary, load }) => {
      const { flags, argument } = await load();
      const rows = Object.values(flags);
      return { name, summary, words: argument?.choices ?? [], flags: [...rows.map(completedFlag), HELP] };
    }),
  );
  const names = entries.map(({ name }) => name);
  return [...commands, { name: 'help', summary: 'print the help of a command', words: names, flags: [HELP] }];
}

function completedFlag({ flag, choices, description, type }: FlagRow): CompletedFlag {
  const { long, short } = new Option(flag);
  return {
    long: long ?? flag,
    ...(short === undefined ? {} : { short }),
    description,
    value: type === 'boolean' ? 'no' : choices === undefined ? kindOfValue(flag) : 'words',
    words: choices ?? [],
  };
}

/** The placeholder says what the value is: `--kubeconfig <file>`. */
function kindOfValue(flag: string): CompletedFlag['value'] {
  if (/<(file|path)>/.test(flag)) return 'file';
  return /<(directory|folder)>/.test(flag) ? 'directory' : 'text';
}
