import { systemClock } from '../base/clock.ts';
import { calledAs } from './called-as.ts';
import type { CliIo } from './command.ts';
import { Interrupt } from './interrupt.ts';
import { runProgram } from './program.ts';

// Whoever reads our output may leave early (`| head`): that is no failure of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
const { program, completes } = calledAs(process.argv[1]);
const argv = process.argv.slice(2);
const io: CliIo = {
  program,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  clock: systemClock,
  random: Math.random,
  interrupt: new Interrupt(process, systemClock, (code) => process.exit(code)),
};
const exitCode = completes
  ? await (await import('./completion/words.ts')).printWords(argv, io)
  : await runProgram(argv, io);
// Ends the process even if something still holds it open; what was written gets out first.
process.exitCode = exitCode;
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
