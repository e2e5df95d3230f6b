/** The reference page of the command line, from the tables that the program itself reads. */
import { argumentTerm, type CommandArgument, type CommandEntry } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { VARIABLES } from '../src/cli/environment.ts';
import { EXIT_CODES } from '../src/cli/exit-codes.ts';
import { defaultText, type FlagRow } from '../src/cli/flags.ts';
import { table } from './markdown.ts';

const TYPES: Readonly<Record<FlagRow['type'], string>> = {
  text: 'text',
  number: 'whole number',
  boolean: '`true` or `false`; the flag alone means `true`',
  list: 'list, with commas or the flag repeated',
  duration: 'duration, such as `90s` or `8h`',
};

/** docs/reference/cli.md. */
export async function cliPage(): Promise<string> {
  const commands = await Promise.all(COMMANDS.map(section));
  const parts = [
    '<!-- Generated from src/cli by scripts/cli-page.ts: edit there. -->',
    '# Command line',
    'Every flag can also be given by its variable; the flag wins. `boxwright <command> --help` tells the same.',
    table(
      ['command', 'what it does'],
      COMMANDS.map(({ name, summary }) => [`[\`${name}\`](#boxwright-${name})`, summary]),
    ),
    ...commands,
    '## Other variables',
    table(
      ['variable', 'what it does'],
      VARIABLES.map(({ name, meaning }) => [`\`${name}\``, meaning]),
    ),
    '## Exit codes',
    table(
      ['code', 'meaning'],
      EXIT_CODES.map(({ code, meaning }) => [String(code), meaning]),
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

async function section({ name, summary, load }: CommandEntry): Promise<string> {
  const { flags, argument, notes } = await load();
  const usage = `boxwright ${name}${argument === undefined ? '' : ` ${argumentTerm(argument)}`} [flags]`;
  const rows = Object.values(flags).map((row) => [
    `\`${row.flag}\``,
    `\`${row.env}\``,
    row.choices === undefined ? TYPES[row.type] : row.choices.map((word) => `\`${word}\``).join(', '),
    defaultText(row) ?? '',
    row.description,
  ]);
  return [
    `## boxwright ${name}`,
    `\`\`\`\n${usage}\n\`\`\``,
    `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`,
    ...(argument === undefined ? [] : [`\`${argument.name}\`: ${wordsOf(argument)}.`]),
    ...(rows.length === 0 ? [] : [table(['flag', 'variable', 'type', 'default', 'meaning'], rows)]),
    ...(notes === undefined ? [] : [notesText(notes)]),
  ].join('\n\n');
}

function wordsOf({ choices, description }: CommandArgument): string {
  return choices?.map((word) => `\`${word}\``).join(', ') ?? description;
}

/** Lines that are commands stand in the help text with two spaces in front. */
function notesText(notes: string): string {
  const lines = notes.trim().split('\n');
  return lines
    .map((line, index) => {
      if (!line.startsWith('  ')) return line.replaceAll('<', '\\<');
      const first = lines[index - 1]?.startsWith('  ') !== true;
      const last = lines[index + 1]?.startsWith('  ') !== true;
      return `${first ? '\n```sh\n' : ''}${line.trim()}${last ? '\n```\n' : ''}`;
    })
    .join('\n');
}
