import { spawn } from 'node:child_process';

export interface RunResult {
  /** -1 when a signal ended it. */
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** Goes to standard input, which is closed after it. */
  input?: string;
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** It is killed after this long. @default 60,000 */
  timeoutMs?: number;
}

/** Runs a program to its end. Rejects only when it cannot be started. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...options.env },
      cwd: options.cwd,
      timeout: options.timeoutMs ?? 60_000,
      killSignal: 'SIGKILL',
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? -1, ...output }));
    // A program that ends without reading its input is no failure of the caller's.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}
