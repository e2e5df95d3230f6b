import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

/** A run of the program, while it lasts. */
export interface Running {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** The exit code; -1 when a signal ended it. */
  readonly ended: Promise<number>;
  /** Waits for the end. @throws Error with everything it said when the code is another one */
  endsWith: (code: number) => Promise<void>;
  /** Waits until standard output or error matches, and answers the first group. */
  sees: (pattern: RegExp, timeoutMs?: number) => Promise<string>;
}

/** Starts `boxwright <argv>` in the environment of the tests, without what points to a cluster of the user. */
export function boxwright(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    env: { ...process.env, KUBECONFIG: '', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
  return {
    child,
    output,
    ended,
    endsWith: async (code) => {
      const got = await ended;
      if (got !== code) throw new Error(`ended with ${got}:\n${output.stdout}\n${output.stderr}`);
    },
    sees: async (pattern, timeoutMs = 60_000) => {
      const look = (): string | undefined => {
        const found = pattern.exec(output.stdout) ?? pattern.exec(output.stderr);
        if (found !== null) return found[1] ?? found[0];
        if (child.exitCode !== null) {
          throw new Error(`it ended with ${child.exitCode}:\n${output.stdout}\n${output.stderr}`);
        }
        return undefined;
      };
      return eventually(`boxwright says ${pattern.source}`, look, { timeoutMs });
    },
  };
}
