import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
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

/** Where the tests themselves run in a cluster, that is a cluster to be found. */
const IN_POD = existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token');

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
    expect(await run('help', 'help')).toEqual(await run('--help'));
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
    [['operator', '--namespaces='], 'Write at least one'],
    [['operator', '--namespaces', 'shop,Bad Name'], '--namespaces "Bad Name"'],
    [['operator', '--namespace', 'UPPER'], '--namespace "UPPER"'],
    [['operator', '--allowed-hosts', 'https://deploy.example.com'], 'must be a host'],
    [['operator', '--allowed-hosts', 'bücher.example'], 'write xn--bcher-kva.example'],
    [['operator', '--allowed-hosts', 'host.,deploy.example.com'], '--allowed-hosts "host."'],
    [['operator', '--allowed-hosts', 'deploy.example.com:0'], '1 to 65535'],
    [['operator', '--secret-selector', 'a!=b'], '--secret-selector: "a!=b" is not a label'],
    [['operator', '--secret-selector='], '--secret-selector: "" is not a label'],
    [['dev', '--system-namespace', '-'], '--system-namespace "-"'],
    [['help', 'operater'], 'Did you mean operator?'],
    [['sandbox', '--duration', 'deploy=soon'], 'give milliseconds'],
    [['sandbox', '--port', '65536'], '--port 65536: write a port'],
  ])('%j ends with 2 and says what to write', async (argv, hint) => {
    const { code, err } = await run(...argv);
    expect(err).toContain(hint);
    expect(code).toBe(2);
  });

  it('begins as all mistakes do', async () => {
    for (const argv of [['nothing'], ['--nothing'], ['version', 'extra'], ['dev', '--examples=/nowhere']]) {
      expect((await run(...argv)).err).toMatch(/^boxwright: /);
    }
  });

  it.each([
    'deploy.example.com',
    'deploy.example.com:8443',
    '*.example.com',
    '*',
    '*:*',
    '10.0.0.7',
    '[fd00::1]',
    '[fd00::1]:8443',
    'fd00::1',
    'localhost',
  ])('is no host such as %s', async (host) => {
    const { err } = await run('operator', `--allowed-hosts=${host}`, '--kubeconfig=/nowhere');
    expect(err).toContain('--kubeconfig /nowhere: there is no such file');
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

describe('what the system refuses the embedded service', () => {
  it('names the flag', async () => {
    const data = await run('sandbox', '--port=0', '--data=/dev/null/data');
    expect(data.err).toMatch(/^boxwright: --data \/dev\/null\/data cannot be used: .*\n {2}because: ENOTDIR/);
    const host = await run('sandbox', '--port=0', '--host=nobody.invalid');
    expect(host.err).toMatch(/^boxwright: nobody\.invalid cannot be listened on: give another --host/);
    expect([data.code, host.code]).toEqual([1, 1]);
  });
});

describe('validate', () => {
  const examples = join(import.meta.dirname, '..', '..', 'deploy', 'examples');

  it('ends with 0 where all is well, with 3 where something is wrong, with 2 without files', async () => {
    const well = await run('validate', '-f', examples);
    expect(well).toMatchObject({ code: 0, err: '' });
    expect(well.out).toMatch(/^\d+ resources of Boxwright in \d+ files: 0 errors, 0 warnings\n$/);
    const alone = join(examples, 'instance.yaml');
    expect((await run('validate', '-f', alone)).code).toBe(0);
    const strict = await run('validate', '-f', alone, '--strict', '-o', 'json');
    expect(strict.code).toBe(3);
    expect(JSON.parse(strict.out)).toMatchObject({ kind: 'Validation', resources: 1 });
    expect((await run('validate')).code).toBe(2);
    expect((await run('validate', '-f', '/nowhere')).err).toContain(
      '-f /nowhere: there is no such file or folder',
    );
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

describe('a kubeconfig that cannot be used ends the operator with 2 and one line', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'boxwright-kubeconfig-'));
    const cluster = { server: 'https://127.0.0.1:6443' };
    const config = (changes: object): string =>
      JSON.stringify({
        clusters: [{ name: 'c', cluster }],
        users: [{ name: 'u', user: { token: 'CANARY' } }],
        contexts: [{ name: 'one', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'one',
        ...changes,
      });
    const files = {
      good: config({}),
      cut: 'users:\n- name: u\n  user: {token: CANARY\n',
      text: 'CANARY',
      empty: '',
      unfinished: config({ clusters: [{ name: 'c', cluster: {} }] }),
      undecided: config({ 'current-context': undefined }),
      socks: config({
        clusters: [{ name: 'c', cluster: { ...cluster, 'proxy-url': 'socks5://a:CANARY@p' } }],
      }),
      plain: config({ clusters: [{ name: 'c', cluster: { server: 'http://10.0.0.1' } }] }),
      'no-ca': config({
        clusters: [{ name: 'c', cluster: { ...cluster, 'certificate-authority': 'ca.crt' } }],
      }),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['missing', 'there is no such file (ENOENT)'],
    ['.', 'this is a folder, not a file (EISDIR)'],
    ['cut', 'line 4 is no YAML'],
    ['text', 'this is no kubeconfig'],
    ['empty', 'this is no kubeconfig'],
    ['unfinished', 'this is no kubeconfig (clusters[0].cluster.server is missing)'],
    ['socks', 'proxy-url of cluster c names a proxy of kind socks5, not http or https'],
    ['plain', 'its server http://10.0.0.1 is not https'],
    ['no-ca', 'ca.crt: there is no such file (ENOENT)'],
  ])('%s', async (name, what) => {
    for (const format of ['text', 'json']) {
      const path = join(folder, name);
      const { code, err } = await run('operator', `--kubeconfig=${path}`, `--log-format=${format}`);
      expect({ code, lines: err.split('\n').length }).toEqual({ code: 2, lines: 2 });
      expect(err).toContain(`boxwright: --kubeconfig ${path}: `);
      expect(err).toContain(what);
      expect(err).toMatch(/; give one that `kubectl --kubeconfig <file> cluster-info` works with\n$/);
      expect(err).not.toContain('CANARY');
    }
  });

  it('that names the variable it comes from', async () => {
    const path = join(folder, 'missing');
    vi.stubEnv('BOXWRIGHT_KUBECONFIG', path);
    const own = await runIn({ BOXWRIGHT_KUBECONFIG: path }, 'operator');
    expect(own.err).toContain(`boxwright: BOXWRIGHT_KUBECONFIG=${path}: there is no such file`);
    vi.unstubAllEnvs();
    const usual = await runIn({ KUBECONFIG: path }, 'operator');
    expect(usual.err).toBe(
      `boxwright: KUBECONFIG=${path}: there is no such file (ENOENT); name one with --kubeconfig <file>\n`,
    );
    expect([own.code, usual.code]).toEqual([2, 2]);
  });

  it('that lists the contexts there are', async () => {
    const path = join(folder, 'good');
    const { code, err } = await run('operator', `--kubeconfig=${path}`, '--context=two');
    expect({ code, err }).toEqual({
      code: 2,
      err: `boxwright: --context two: ${path} has no context "two"; it has one\n`,
    });
    const undecided = await run('operator', `--kubeconfig=${join(folder, 'undecided')}`);
    expect(undecided.err).toContain('has no current context; choose one of one');
  });

  it.skipIf(IN_POD)('where nothing names a cluster', async () => {
    const { code, err } = await runIn({ HOME: folder }, 'operator');
    expect({ code, lines: err.split('\n').length }).toEqual({ code: 2, lines: 2 });
    expect(err).toContain('no cluster is named: there is no KUBECONFIG, no ~/.kube/config');
    const inPod = await run('operator', '--in-cluster');
    expect(inPod).toMatchObject({ code: 2, err: expect.stringContaining('--in-cluster: this is no pod') });
  });
});
