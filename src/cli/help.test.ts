import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { COMMANDS } from './commands.ts';
import { wrapHelp } from './help.ts';
import { Interrupt } from './interrupt.ts';
import { runProgram } from './program.ts';

async function help(columns: number, ...argv: string[]): Promise<string> {
  const clock = new VirtualClock();
  let out = '';
  const stream = { columns, write: (text: string) => (out += text) };
  const interrupt = new Interrupt({ on: () => undefined }, clock, () => undefined);
  await runProgram([...argv, '--help'], {
    stdout: stream,
    stderr: stream,
    env: {},
    clock,
    random: () => 0,
    interrupt,
  });
  return out;
}

describe('help', () => {
  it.each([60, 80, 200])('fits a terminal of %i columns', async (columns) => {
    for (const argv of [[], ...COMMANDS.map(({ name }) => [name])]) {
      const long = (await help(columns, ...argv))
        .split('\n')
        // A command to copy, and a word that cannot be broken, stay whole.
        .filter((line) => line.length > columns && !/^ {2}\S+ \S|^\s*\S+$/.test(line));
      expect({ argv, long }).toEqual({ argv, long: [] });
    }
  });

  it('calls itself what a person calls it', async () => {
    const clock = new VirtualClock();
    let out = '';
    const stream = { columns: 100, write: (text: string) => (out += text) };
    const interrupt = new Interrupt({ on: () => undefined }, clock, () => undefined);
    await runProgram(['status', '--help'], {
      program: 'kubectl boxwright',
      stdout: stream,
      stderr: stream,
      env: {},
      clock,
      random: () => 0,
      interrupt,
    });
    expect(out).toContain('Usage: kubectl boxwright status');
    expect(out).toContain('  kubectl boxwright status -A');
  });
});

describe('notes', () => {
  it('become paragraphs of the width, with commands as they are', () => {
    expect(wrapHelp('One two\nthree four:\n  a command that is long\nfive', 12)).toBe(
      'One two\nthree four:\n  a command that is long\nfive',
    );
    expect(wrapHelp('  130  ended by the user', 16)).toBe('  130  ended by\n       the user');
  });
});
