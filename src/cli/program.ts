import { Argument, Command, CommanderError } from 'commander';
import { argumentTerm, type CliIo, type CommandDefinition } from './command.ts';
import { COMMANDS } from './commands.ts';
import { errorText } from './error-text.ts';
import { EXIT, EXIT_CODES, UsageError } from './exit-codes.ts';
import { addFlags, describeFlag, readFlags } from './flags.ts';
import { formatItem, wrapHelp } from './help.ts';
import { InterruptedError } from './interrupt.ts';
import { paintFor, textWidth } from './terminal.ts';
import { version } from './version.ts';

const PROGRAM = 'boxwright';

/** Runs the command line `argv` (without program names) and resolves with the exit code. Never rejects. */
export async function runProgram(argv: readonly string[], io: CliIo): Promise<number> {
  const paint = paintFor(io.stderr, io.env);
  let exitCode: number = EXIT.ok;
  const called = io.program ?? PROGRAM;
  const program = configure(new Command(called), io)
    .description('Kubernetes operator for a Cloud Deployment Automation service')
    .version(version, '-V, --version', 'print the version number')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', after(`${exitCodeHelp()}\nHelp of one command: ${called} <command> --help`, io));
  try {
    const wanted = calledCommand(argv);
    for (const entry of COMMANDS) {
      const command = configure(program.command(entry.name), io)
        .description(sentence(entry.summary))
        .summary(entry.summary)
        .helpOption('-h, --help', 'print this help');
      if (entry.name !== wanted) continue;
      const definition = await entry.load();
      describe(command, definition, io);
      command.action(async () => {
        exitCode = await definition.run(readFlags(command, definition.flags), io, command.args);
      });
    }
    const topic = topicOf(argv);
    if (topic !== undefined && COMMANDS.every(({ name }) => name !== topic)) {
      if (topic === 'help') program.help();
      // Said as it is of a command that is called; commander would print the general help without a word.
      await program.parseAsync([topic], { from: 'user' });
    }
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error instanceof InterruptedError) return io.interrupt.exitCode;
    io.stderr.write(`${paint.red('boxwright:')} ${errorText(error)}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  }
}

function configure(command: Command, io: CliIo): Command {
  const { program = PROGRAM } = io;
  return command
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => textWidth(io.stdout, io.env),
      getErrHelpWidth: () => textWidth(io.stderr, io.env),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      // As whatever else goes wrong begins.
      outputError: (text, write) =>
        write(text.replace(/^error: /, `${paintFor(io.stderr, io.env).red('boxwright:')} `)),
    })
    .configureHelp({ formatItem })
    .showHelpAfterError(`(see: ${program} ${command.name() === program ? '' : `${command.name()} `}--help)`);
}

function describe(command: Command, definition: CommandDefinition, io: CliIo): void {
  const { argument } = definition;
  if (argument !== undefined) {
    const taken = new Argument(argumentTerm(argument), argument.description);
    command.addArgument(argument.choices === undefined ? taken : taken.choices(argument.choices));
  }
  addFlags(command, definition.flags);
  const rows = new Map(Object.values(definition.flags).map((row) => [row.flag, row]));
  command.configureHelp({
    formatItem,
    optionDescription: ({ flags, description }) => {
      const row = rows.get(flags);
      return row === undefined ? description : describeFlag(row);
    },
  });
  const notes = definition.notes === undefined ? '' : `${definition.notes.trim()}\n\n`;
  command.addHelpText('after', after(`${notes}${exitCodeHelp()}`, io));
}

/** What stands under the flags, as wide as the terminal and with the commands as a person calls them. */
function after(text: string, { stdout, env, program = PROGRAM }: CliIo): string {
  const called = text.replaceAll(/^( {2}|.* )boxwright /gm, `$1${program} `);
  return `\n${wrapHelp(called, textWidth(stdout, env))}`;
}

/** The command whose definition is needed; help of it counts as a call. */
function calledCommand(argv: readonly string[]): string | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  return words[0] === 'help' ? words[1] : words[0];
}

/** What help is asked of by word. */
function topicOf(argv: readonly string[]): string | undefined {
  return argv[0] === 'help' ? argv.slice(1).find((word) => !word.startsWith('-')) : undefined;
}

function exitCodeHelp(): string {
  const lines = EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(4)} ${meaning}`);
  return `Exit codes:\n${lines.join('\n')}`;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
