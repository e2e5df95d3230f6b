#!/usr/bin/env node
// oxlint-disable-next-line import/no-unassigned-import -- it has to run before the rest is loaded
import './node-check.ts';
import { systemClock } from '../base/clock.ts';
import { Interrupt } from './interrupt.ts';
import { runProgram } from './program.ts';

// Whoever reads our output may leave early (`| head`): that is no failure of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
const exitCode = await runProgram(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  clock: systemClock,
  random: Math.random,
  interrupt: new Interrupt(process, systemClock, (code) => process.exit(code)),
});
// Ends the process even if something still holds it open; what was written gets out first.
process.exitCode = exitCode;
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
