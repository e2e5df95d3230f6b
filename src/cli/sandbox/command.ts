import {
  runSandbox,
  runStateAction,
  SANDBOX_FLAGS,
  STATE_ACTIONS,
  type SandboxCommandOptions,
  type StateOptions,
} from '../../sandbox/index.ts';
import { defineCommand } from '../command.ts';
import { CommandFailedError, EXIT, UsageError } from '../exit-codes.ts';
import type { FlagRow, FlagTable } from '../flags.ts';

/** `boxwright sandbox`. */
export const sandboxCommand = defineCommand({
  flags: flagTable(),
  argument: {
    name: 'action',
    description: 'what to do with the state of a sandbox; without it, one is started',
    choices: STATE_ACTIONS,
    optional: true,
  },
  notes: `
It ends with ^C or SIGTERM. It has no TLS: leave it on loopback, or put a proxy in front of it.
The state of a sandbox, by --credentials-file of one that runs or --data of one that does not:
  boxwright sandbox export --credentials-file creds.json --file state.json
  boxwright sandbox import --data ./sandbox --file state.json
  boxwright sandbox reset --credentials-file creds.json`,
  async run(values, io, [word]) {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    checkPort('--port', values['port']);
    checkPort('--admin-port', values['adminPort']);
    const action = STATE_ACTIONS.find((name) => name === word);
    try {
      if (action !== undefined) {
        const told = await runStateAction(action, given as unknown as StateOptions, {
          write: (text) => void io.stdout.write(text),
          input: process.stdin,
        });
        if (told !== '') io.stderr.write(`${told}\n`);
        return EXIT.ok;
      }
      // The table is made from SANDBOX_FLAGS, whose names are the keys of these options.
      await runSandbox(given as unknown as SandboxCommandOptions, {
        write: (text) => void io.stdout.write(text),
        signal: io.interrupt.signal,
        log: (message, fields) => void io.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
      });
    } catch (error) {
      // A plain error of it names an option that is wrong; those of the system and of the data have a code.
      if (error instanceof Error && error.name === 'Error' && !('code' in error)) {
        throw new UsageError(error.message);
      }
      throw explained(error, values);
    }
    return EXIT.ok;
  },
});

function checkPort(flag: string, port: unknown): void {
  if (Number(port) > 65_535) throw new UsageError(`${flag} ${String(port)}: write a port, from 0 to 65535`);
}

/** What the system refuses, with the flag that it was given by. */
function explained(error: unknown, values: Readonly<Record<string, unknown>>): unknown {
  const { path, syscall, port, address } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    const where = port === undefined ? String(values['host']) : `${address}:${port}`;
    return new CommandFailedError(
      `${where} cannot be listened on: give another --host, --port or --admin-port; port 0 takes a free one`,
      { cause: error },
    );
  }
  const { data, credentialsFile, file } = values;
  const named = ([, value]: [string, unknown]): boolean =>
    typeof value === 'string' && value !== '' && path?.startsWith(value) === true;
  const [flag, value] =
    Object.entries({ '--credentials-file': credentialsFile, '--file': file, '--data': data }).find(named) ??
    [];
  return flag === undefined
    ? error
    : new CommandFailedError(`${flag} ${String(value)} cannot be used: give a place that you may use`, {
        cause: error,
      });
}

/** The embedded service has its own table, since it knows nothing of this program; here are the variables. */
function flagTable(): FlagTable {
  return Object.fromEntries(
    SANDBOX_FLAGS.map((flag) => {
      const row: FlagRow = {
        flag: flag.flags,
        env: `BOXWRIGHT_SANDBOX_${flag.name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
        type: flag.type,
        description: flag.description,
      };
      const [, about, preset] = /^(.*) \(default: ([^)]+)\)$/.exec(flag.description) ?? [];
      if (about !== undefined && preset !== undefined) {
        return [flag.name, { ...row, description: about, defaultText: preset }];
      }
      return [flag.name, flag.default === undefined ? row : { ...row, default: flag.default }];
    }),
  );
}
