import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { run, type RunOptions } from './run.ts';

/** Milliseconds. Building from nothing takes minutes on a busy machine; afterwards Go’s own cache has it. */
export const GO_BUILD_TIMEOUT = 1_800_000;

/** Whether there is a `go` to build test programs with. Without one such tests are skipped, and say so. */
export const HAS_GO = spawnSync('go', ['version']).status === 0;

if (!HAS_GO) process.stderr.write('tests that need Go are skipped: there is no go on PATH\n');

/** A program of a Go module of its own, which keeps its dependencies apart from everything else. */
export interface GoProgram extends Disposable {
  readonly path: string;
  /** Gives it JSON and reads JSON. Throws with its own words when it fails. */
  ask<T>(question: unknown, options?: RunOptions): Promise<T>;
}

/** Builds the module in a folder as its go.sum says. */
export async function buildGoProgram(folder: string): Promise<GoProgram> {
  const place = mkdtempSync(join(tmpdir(), 'boxwright-go-'));
  const path = join(place, basename(folder));
  const built = await run('go', ['build', '-mod=readonly', '-buildvcs=false', '-o', path, '.'], {
    cwd: folder,
    env: { GOWORK: 'off' },
    timeoutMs: GO_BUILD_TIMEOUT,
  });
  if (built.code !== 0) throw new Error(`go build in ${folder}: ${built.stderr.trim()}`);
  return {
    path,
    async ask<T>(question: unknown, options: RunOptions = {}): Promise<T> {
      const answer = await run(path, [], { ...options, input: JSON.stringify(question) });
      if (answer.code !== 0) throw new Error(`${basename(folder)}: ${answer.stderr.trim()}`);
      return JSON.parse(answer.stdout) as T;
    },
    [Symbol.dispose]: () => rmSync(place, { recursive: true, force: true }),
  };
}
