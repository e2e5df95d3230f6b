import { runSandbox, SANDBOX_FLAGS, type SandboxCommandOptions } from '../../sandbox/index.ts';
import { defineCommand } from '../command.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import type { FlagRow, FlagTable } from '../flags.ts';

/** `boxwright sandbox`. */
export const sandboxCommand = defineCommand({
  flags: flagTable(),
  notes: 'It ends with ^C or SIGTERM. It has no TLS: leave it on loopback, or put a proxy in front of it.',
  async run(values, io) {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    try {
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
      throw error;
    }
    return EXIT.ok;
  },
});

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
      return [flag.name, flag.default === undefined ? row : { ...row, default: flag.default }];
    }),
  );
}
