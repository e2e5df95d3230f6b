import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Component } from './components.ts';
import { BuildFailedError, GoMissingError } from '../errors.ts';
import type { Progress, ProgressStep } from '../progress.ts';
import { Supervisor } from '../supervisor/supervised.ts';

export interface BuildOptions {
  /** The finished program's path; it appears there only when it is complete. */
  output: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  progress: Progress;
  signal?: AbortSignal | undefined;
}

/** Throws {@link GoMissingError} when there is no `go` to build `missing` with. */
export async function requireGo(
  missing: readonly Component[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  try {
    await promisify(execFile)('go', ['version'], { env: { ...env } });
  } catch (error) {
    throw new GoMissingError(
      missing.map((component) => component.name),
      error,
    );
  }
}

/**
 * Builds one program from its pinned Go module. The go command runs under a supervisor, so that it ends with
 * this process; what it had compiled stays in Go's own build cache, and the next run takes up from there.
 */
export async function buildComponent(component: Component, options: BuildOptions): Promise<void> {
  const { output, env, clock, signal } = options;
  signal?.throwIfAborted();
  mkdirSync(dirname(output), { recursive: true });
  const partial = `${output}.${process.pid}.tmp`;
  const logFile = `${output}.build.log`;
  rmSync(logFile, { force: true });
  const step = options.progress.begin(
    `building ${component.name} ${component.version}, once per machine, ${component.takes}`,
  );
  const supervisor = new Supervisor({ graceMs: 2_000 });
  const watch = watchLog(logFile, clock, step);
  const onAbort = (): void => void supervisor.stop();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const program = supervisor.start({
      command: 'go',
      args: [
        'build',
        '-v',
        '-mod=readonly',
        '-trimpath',
        '-ldflags',
        component.ldflags,
        '-o',
        partial,
        component.package,
      ],
      cwd: component.moduleDir,
      // A workspace around the checkout would change what is built.
      env: { ...env, GOWORK: 'off' },
      logFile,
    });
    const end = await program.ended;
    signal?.throwIfAborted();
    if (end.code !== 0) throw new BuildFailedError(component.name, logFile, end.error ?? tail(logFile));
    renameSync(partial, output);
    step.end('done');
  } catch (error) {
    step.end('failed');
    throw error;
  } finally {
    watch.cancel();
    signal?.removeEventListener('abort', onAbort);
    await supervisor.stop();
    rmSync(partial, { force: true });
  }
  rmSync(logFile, { force: true });
}

/** `go build -v` writes a line for each module it fetches and each package it compiles. */
function watchLog(logFile: string, clock: Clock, step: ProgressStep): Timer {
  const look = (): Timer =>
    clock.setTimer(1_000, () => {
      const lines = readLog(logFile).split('\n').slice(0, -1);
      const fetched = lines.filter((line) => line.startsWith('go: downloading ')).length;
      const compiled = lines.length - fetched;
      if (compiled > 0) step.detail(`${compiled} packages compiled`);
      else if (fetched > 0) step.detail(`${fetched} modules fetched`);
      timer = look();
    });
  let timer = look();
  return { cancel: () => timer.cancel() };
}

function readLog(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8');
  } catch {
    // Not there yet.
    return '';
  }
}

function tail(logFile: string): string {
  return readLog(logFile).trimEnd().split('\n').slice(-15).join('\n');
}
