import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';

const SOURCES = join(import.meta.dirname, '../../src/cli/main.ts');
/** So much of what a program says last is kept, characters. */
const TAIL = 20_000;

/** A `boxwright` process of its own. */
export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves when it has ended, however it did. */
  readonly ended: Promise<void>;
  /** What it said last. */
  said(): string;
  /** SIGTERM, then SIGKILL when that does not help in time. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** How a program is run. */
export interface ProgramOptions {
  /** For Node, such as `--cpu-prof`. */
  nodeArgs?: readonly string[];
  /** The script that is run; absent: the sources. */
  main?: string;
  /** Further variables. */
  env?: Readonly<Record<string, string>>;
}

/** Starts `boxwright <argv>`. */
export function startProgram(
  argv: readonly string[],
  { nodeArgs = [], main = SOURCES, env = {} }: ProgramOptions = {},
): Program {
  const child = spawn(process.execPath, [...nodeArgs, main, ...argv], {
    env: { ...process.env, KUBECONFIG: '', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-TAIL);
    });
  }
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  return {
    child,
    pid: child.pid ?? -1,
    ended,
    said: () => tail,
    kill,
    async stop() {
      child.kill('SIGTERM');
      const deadline = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await ended;
      clearTimeout(deadline);
    },
  };
}

/** How an operator process is started. */
export interface OperatorProgramOptions extends ProgramOptions {
  kubeconfigFile: string;
  home: string;
  namespaces: readonly string[];
  /** Which hosts it may call. @default every port of 127.0.0.1 */
  allowedHosts?: string;
  /** Further flags. */
  flags?: readonly string[];
}

/** Starts `boxwright operator` for the embedded service. */
export function startOperatorProgram(options: OperatorProgramOptions): Program {
  return startProgram(
    [
      'operator',
      `--kubeconfig=${options.kubeconfigFile}`,
      `--namespace=${options.home}`,
      `--namespaces=${options.namespaces.join(',')}`,
      '--metrics-address=127.0.0.1:0',
      '--log-format=json',
      `--allowed-hosts=${options.allowedHosts ?? '127.0.0.1:*'}`,
      '--allow-insecure',
      '--allow-loopback',
      ...(options.flags ?? []),
    ],
    options,
  );
}

/** Waits until the operator says where it serves its metrics. */
export function metricsUrlOf(program: Program): Promise<string> {
  const look = (): string | undefined => {
    if (program.child.exitCode !== null) throw new Error(`it has ended:\n${program.said()}`);
    return /"url":"(http:[^"]+)"/.exec(program.said())?.[1];
  };
  return eventually('the operator serves its metrics', look, { timeoutMs: 120_000 });
}

/** One value of a metrics text; undefined when it is not there. */
export function metricOf(text: string, name: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `) || each.startsWith(`${name}{`));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

/** What a sandbox process tells of itself. */
export interface SandboxProgram extends Program {
  readonly url: string;
  readonly token: string;
  /** One call of the admin port. */
  admin<T>(method: string, path: string, body?: object): Promise<T>;
}

/** Starts `boxwright sandbox` with further flags. */
export async function startSandboxProgram(
  flags: readonly string[],
  options: ProgramOptions = {},
): Promise<SandboxProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-sandbox-'));
  const file = join(folder, 'credentials.json');
  const program = startProgram(['sandbox', '--port=0', `--credentials-file=${file}`, ...flags], options);
  try {
    const facts = await eventually(
      'the embedded service is up',
      () =>
        JSON.parse(readFileSync(file, 'utf8')) as {
          url: string;
          token: string;
          adminUrl: string;
          adminToken: string;
        },
    );
    return {
      ...program,
      url: facts.url,
      token: facts.token,
      async admin<T>(method: string, path: string, body?: object) {
        const answer = await fetch(`${facts.adminUrl}${path}`, {
          method,
          headers: { authorization: `Bearer ${facts.adminToken}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
        return (await answer.json()) as T;
      },
    };
  } catch (error) {
    await program.kill();
    throw new Error(`the embedded service did not start:\n${program.said()}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
