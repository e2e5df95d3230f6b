import type { CompletedCommand, CompletedFlag } from './model.ts';

/**
 * The script for bash, from 3.2 on and without the bash-completion package. Bash takes `=` for a word of its
 * own, so `--output=j` arrives as three.
 */
export function bashScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of boxwright for bash.
_boxwright() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} words=''
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --help --version' -- "$cur"))
    return
  fi
  case "\${COMP_WORDS[1]} $prev" in
${commands.flatMap((command) => command.flags.flatMap((flag) => valueCase(command, flag))).join('\n')}
  esac
  if [[ -z $words ]]; then
    case "\${COMP_WORDS[1]}" in
${commands.map((command) => `      ${command.name}) words='${wordsOf(command).join(' ')}' ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _boxwright boxwright
`;
}

function wordsOf({ words, flags }: CompletedCommand): string[] {
  return [...words, ...flags.flatMap(({ long, short }) => (short === undefined ? [long] : [long, short]))];
}

function valueCase({ name }: CompletedCommand, flag: CompletedFlag): string[] {
  const spellings = [flag.long, ...(flag.short === undefined ? [] : [flag.short])];
  const pattern = spellings.map((each) => `'${name} ${each}'`).join('|');
  switch (flag.value) {
    case 'no':
      return [];
    case 'words':
      return [`    ${pattern}) words='${flag.words.join(' ')}' ;;`];
    case 'file':
    case 'directory':
      return [
        `    ${pattern})
      local IFS=$'\\n'
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen ${flag.value === 'file' ? '-f' : '-d'} -- "$cur"))
      return ;;`,
      ];
    case 'text':
      return [`    ${pattern}) return ;;`];
    default:
      return flag.value satisfies never;
  }
}
