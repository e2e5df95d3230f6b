import { Command } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { addFlags, describeFlag, readFlags, type FlagTable } from './flags.ts';

const TABLE = {
  hosts: { flag: '--hosts <hosts>', env: 'T_HOSTS', type: 'list', default: ['a'], description: 'hosts' },
  wait: { flag: '--wait <duration>', env: 'T_WAIT', type: 'duration', default: '5m', description: 'time' },
  keep: { flag: '--keep [boolean]', env: 'T_KEEP', type: 'boolean', default: true, description: 'keep it' },
  count: { flag: '--how-many <n>', env: 'T_COUNT', type: 'number', description: 'number' },
} as const satisfies FlagTable;

function read(...argv: string[]): ReturnType<typeof readFlags<typeof TABLE>> {
  const command = new Command('t');
  addFlags(command, TABLE);
  command.parse(argv, { from: 'user' });
  return readFlags(command, TABLE);
}

afterEach(() => vi.unstubAllEnvs());

describe('flags', () => {
  it('have their defaults, durations in milliseconds', () => {
    expect(read()).toEqual({ hosts: ['a'], wait: 300_000, keep: true, count: undefined });
  });

  it('are read from the command line', () => {
    expect(read('--hosts', 'b, c', '--hosts=d', '--wait=90s', '--keep=false', '--how-many', '3')).toEqual({
      hosts: ['b', 'c', 'd'],
      wait: 90_000,
      keep: false,
      count: 3,
    });
  });

  it('are read from the environment, which the command line overrides', () => {
    vi.stubEnv('T_HOSTS', 'x,y');
    vi.stubEnv('T_KEEP', 'false');
    vi.stubEnv('T_WAIT', '1s');
    expect(read('--wait', '2s')).toMatchObject({ hosts: ['x', 'y'], keep: false, wait: 2_000 });
    expect(read('--keep')).toMatchObject({ keep: true });
  });

  it('say default and variable in one line', () => {
    expect(describeFlag(TABLE.wait)).toBe('time (default: 5m, env: T_WAIT)');
    expect(describeFlag(TABLE.count)).toBe('number (env: T_COUNT)');
  });
});
