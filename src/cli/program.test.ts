import { afterEach, describe, expect, it, vi } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { CliIo } from './command.ts';
import { COMMANDS } from './commands.ts';
import { EXIT_CODES } from './exit-codes.ts';
import type { FlagTable } from './flags.ts';
import { Interrupt } from './interrupt.ts';
import { runProgram } from './program.ts';
import { version } from './version.ts';

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  return runIn({}, ...argv);
}

async function runIn(
  env: CliIo['env'],
  ...argv: string[]
): Promise<{ code: number; out: string; err: string }> {
  const told = { out: '', err: '' };
  const clock = new VirtualClock();
  const io: CliIo = {
    stdout: { columns: 100, write: (text) => (told.out += text) },
    stderr: { columns: 100, write: (text) => (told.err += text) },
    env,
    clock,
    random: () => 0.5,
    interrupt: new Interrupt({ on: () => undefined }, clock, () => undefined),
  };
  const code = await runProgram(argv, io);
  return { code, ...told };
}

afterEach(() => vi.unstubAllEnvs());

describe('help', () => {
  it.each(COMMANDS.map(({ name }) => name))('of %s tells every flag and its variable', async (name) => {
    const { code, out } = await run(name, '--help');
    expect(code).toBe(0);
    const entry = COMMANDS.find((command) => command.name === name);
    const flags: FlagTable = (await entry?.load())?.flags ?? {};
    const words = out.replaceAll(/\s+/g, ' ');
    for (const row of Object.values(flags)) {
      expect(words).toContain(row.flag);
      expect(words).toContain(`env: ${row.env}`);
    }
  });

  it('tells what each exit code means, in general and of a command', async () => {
    for (const { out } of [await run('--help'), await run('dev', '--help')]) {
      for (const { code, meaning } of EXIT_CODES)
        expect(out).toContain(`${String(code).padEnd(4)} ${meaning}`);
    }
  });

  it('can be asked for by word', async () => {
    expect((await run('help', 'operator')).out).toBe((await run('operator', '--help')).out);
  });

  it('gives no variable to two flags of a command', async () => {
    for (const entry of COMMANDS) {
      const variables = Object.values((await entry.load()).flags).map((row) => row.env);
      expect(new Set(variables).size).toBe(variables.length);
    }
  });
});

describe('a mistake on the command line', () => {
  it('in a flag ends with 2 and a suggestion', async () => {
    const { code, err } = await run('operator', '--allow-insecur');
    expect(code).toBe(2);
    expect(err).toContain("unknown option '--allow-insecur'");
    expect(err).toContain('Did you mean --allow-insecure?');
    expect(err).toContain('boxwright operator --help');
  });

  it('in a command ends with 2 and a suggestion', async () => {
    const { code, err } = await run('operater');
    expect(code).toBe(2);
    expect(err).toContain('Did you mean operator?');
  });

  it.each([
    [['operator', '--workers', 'many'], 'Write a whole number'],
    [['operator', '--workers', '0'], 'give at least 1'],
    [['operator', '--leader-elect=perhaps'], 'Write true or false'],
    [['operator', '--leader-retry-period', '5 s'], 'such as 90s'],
    [['operator', '--leader-retry-period', '10s'], '--leader-renew-deadline'],
    [['operator', '--metrics-address', '8080'], 'write host:port'],
    [['operator', '--log-level', 'loud'], 'debug, info, warn, error'],
    [['operator', 'now'], 'too many arguments'],
    [['dev', '--endpoint', 'deploy.example.com'], 'write a URL'],
    [['dev', '--endpoint', 'https://deploy.example.com'], 'BOXWRIGHT_TOKEN'],
    [['dev', '--examples', '/nowhere'], 'there is no folder /nowhere'],
    [['sandbox', '--duration', 'deploy=soon'], 'give milliseconds'],
  ])('%j ends with 2 and says what to write', async (argv, hint) => {
    const { code, err } = await run(...argv);
    expect(err).toContain(hint);
    expect(code).toBe(2);
  });

  it('in a variable names the variable', async () => {
    vi.stubEnv('BOXWRIGHT_WORKERS', 'many');
    const { code, err } = await run('operator');
    expect(code).toBe(2);
    expect(err).toContain('BOXWRIGHT_WORKERS');
  });
});

describe('a proxy variable that cannot be used', () => {
  it('ends the operator with 2 and its name, without its value', async () => {
    const { code, err } = await runIn({ HTTPS_PROXY: 'socks5://me:CANARY@proxy' }, 'operator');
    expect(code).toBe(2);
    expect(err).toContain('HTTPS_PROXY names a proxy of kind socks5, not http or https');
    expect(err).not.toContain('CANARY');
  });
});

describe('version', () => {
  it('is printed for people and for programs', async () => {
    expect((await run('version')).out).toContain(`boxwright ${version} (boxwright.dev/v1alpha1`);
    expect(JSON.parse((await run('version', '--output', 'json')).out)).toMatchObject({
      version,
      apiVersion: 'boxwright.dev/v1alpha1',
      node: process.version,
    });
    expect((await run('--version')).out).toBe(`${version}\n`);
  });
});

describe('a kubeconfig that cannot be read ends the operator with 1', () => {
  const argv = ['operator', '--kubeconfig', '/nowhere/kubeconfig'];

  it('and is told to a person in two lines', async () => {
    const { code, err } = await run(...argv, '--log-format=text');
    expect(code).toBe(1);
    expect(err).toBe(
      'boxwright: /nowhere/kubeconfig cannot be read\n' +
        "  because: ENOENT: no such file or directory, open '/nowhere/kubeconfig'\n",
    );
  });

  it('and is a log line for who reads JSON', async () => {
    const { code, err } = await run(...argv, '--log-format=json');
    expect(code).toBe(1);
    expect(JSON.parse(err)).toMatchObject({
      level: 'error',
      error: { code: 'KubeCredentials', message: '/nowhere/kubeconfig cannot be read' },
    });
  });
});
