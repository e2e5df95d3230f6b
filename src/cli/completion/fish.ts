import type { CompletedCommand, CompletedFlag } from './model.ts';

/** The script for fish. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, words, flags }) => [
    `complete -c boxwright -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
    ...(words.length === 0 ? [] : [`${within(name)} -a ${quote(words.join(' '))}`]),
    ...flags.map((flag) => `${within(name)} ${flagWords(flag)}`),
  ]);
  return `# Completion of boxwright for fish.
complete -c boxwright -f
complete -c boxwright -n __fish_use_subcommand -l help -s h -d 'print this help'
complete -c boxwright -n __fish_use_subcommand -l version -s V -d 'print the version number'
${lines.join('\n')}
`;
}

function within(command: string): string {
  return `complete -c boxwright -n '__fish_seen_subcommand_from ${command}'`;
}

function flagWords({ long, short, description, value, words }: CompletedFlag): string {
  const names = `-l ${long.slice(2)}${short === undefined ? '' : ` -s ${short.slice(1)}`}`;
  const values = {
    no: '',
    file: ' -r -F',
    directory: " -x -a '(__fish_complete_directories)'",
    words: ` -x -a ${quote(words.join(' '))}`,
    text: ' -x',
  };
  return `${names}${values[value]} -d ${quote(description)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
