import type { CompletedCommand, CompletedFlag } from './model.ts';

/** The script for zsh: to be put on fpath as `_boxwright`, or sourced. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, summary }) => `    ${quote(`${colons(name)}:${colons(summary)}`)}`);
  return `#compdef boxwright
# Completion of boxwright for zsh.
_boxwright() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${commands.map(commandCase).join('\n')}
  esac
}
if [ "$funcstack[1]" = _boxwright ]; then
  _boxwright "$@"
else
  compdef _boxwright boxwright
fi
`;
}

function commandCase({ name, words, flags }: CompletedCommand): string {
  const specs = [
    ...flags.map(flagSpec),
    ...(words.length === 0 ? [] : [quote(`1:word:(${words.join(' ')})`)]),
  ];
  return `    ${name}) _arguments ${specs.join(' \\\n      ')} ;;`;
}

function flagSpec({ long, short, description, value, words }: CompletedFlag): string {
  const text = `[${description.replaceAll(/[[\]\\]/g, '\\$&')}]`;
  const action = {
    no: '',
    file: ':file:_files',
    directory: ':directory:_files -/',
    text: ':value: ',
    words: '',
  };
  const rest = text + (value === 'words' ? `:value:(${words.join(' ')})` : action[value]);
  const takes = value === 'no' ? '' : '=';
  if (short === undefined) return quote(`${long}${takes}${rest}`);
  const either = `(${long} ${short})`;
  return `${quote(`${either}${long}${takes}${rest}`)} ${quote(`${either}${short}${value === 'no' ? '' : '+'}${rest}`)}`;
}

function colons(text: string): string {
  return text.replaceAll(':', '\\:');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
