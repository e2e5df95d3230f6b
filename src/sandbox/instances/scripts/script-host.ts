import { spawn, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import type { Clock, Timer } from '../../../base/clock.ts';
import type { ScriptEnvironment } from '../run/environment.ts';
import type { ScriptStep } from '../run/plan.ts';
import type { ScriptResult } from './simulate.ts';

/** Output beyond this is cut off, bytes. */
const MAX_OUTPUT = 1_000_000;
/** How often what is cut off is given back to the disk. */
const TRIM_MS = 250;

/**
 * Runs in front of each script: when the pipe on descriptor 3 closes, because the instance ends or the
 * sandbox dies, whatever the script started is killed with its process group.
 */
const GUARD = '{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 & exec 3<&-; exec bash "$0"';

/** Really runs event scripts, as the calling user: one directory per machine, a clean environment, a time limit. */
export class ScriptHost {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #children = new Map<string, Set<ChildProcess>>();
  /** The file that the script prints to which an instance waits for. */
  readonly #outputs = new Map<string, number>();
  #count = 0;

  /** @param folder where machines live @param limit milliseconds for one script */
  constructor(folder: string, clock: Clock, limit: number) {
    this.#folder = folder;
    this.#clock = clock;
    this.#limit = limit;
  }

  /** The directory that stands for a machine. */
  machine(instance: string, machine: string): string {
    return join(this.#folder, instance, machine);
  }

  /** Puts script and files down and runs the script; resolves with its exit code and output, never rejects. */
  async run(
    instance: string,
    step: ScriptStep,
    content: Uint8Array,
    environment: ScriptEnvironment,
  ): Promise<ScriptResult> {
    const home = this.machine(instance, step.machine);
    try {
      const variables: Record<string, string> = { ...environment.variables };
      for (const file of environment.files) {
        const path = join(home, 'files', step.box, file.variable, file.name);
        put(path, file.content);
        variables[file.variable] = path;
      }
      const script = scriptPath(home, step);
      put(script, content);
      return await this.#spawn(instance, home, script, variables);
    } catch (error) {
      return { exitCode: 126, output: `the script could not be started: ${(error as Error).message}` };
    }
  }

  /** What the script has printed that an instance waits for, the last `max` bytes; undefined while none runs. */
  printed(instance: string, max: number): string | undefined {
    const file = this.#outputs.get(instance);
    return file === undefined ? undefined : readOutput(file, max);
  }

  /** Ends whatever runs for an instance and removes its machines. */
  end(instance: string): void {
    for (const child of this.#children.get(instance) ?? []) kill(child);
    this.#children.delete(instance);
    rmSync(join(this.#folder, instance), { recursive: true, force: true });
  }

  /** Ends whatever runs for an instance; its machines stay. */
  interrupt(instance: string): void {
    for (const child of this.#children.get(instance) ?? []) kill(child);
    this.#children.delete(instance);
  }

  /** Ends everything. */
  stop(): void {
    for (const instance of this.#children.keys()) this.interrupt(instance);
  }

  #spawn(
    instance: string,
    home: string,
    script: string,
    variables: Readonly<Record<string, string>>,
  ): Promise<ScriptResult> {
    // Output goes to a file: a daemon that a script leaves behind may keep it open for as long as it likes.
    const log = join(home, `.output-${++this.#count}`);
    const output = openSync(log, 'w+');
    const child = spawn('bash', ['-c', GUARD, script], {
      cwd: home,
      detached: true,
      stdio: ['ignore', output, output, 'pipe'],
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        LANG: 'C.UTF-8',
        TMPDIR: '/tmp',
        ...variables,
        HOME: home,
      },
    });
    const children = this.#children.get(instance) ?? new Set();
    this.#children.set(instance, children.add(child));
    this.#outputs.set(instance, output);
    // The other end of the pipe may be gone before ours.
    child.stdio[3]?.on('error', () => undefined);
    return new Promise((resolveResult) => {
      let timedOut = false;
      const timer = this.#clock.setTimer(this.#limit, () => {
        timedOut = true;
        kill(child);
      });
      const trim = (): Timer =>
        this.#clock.setTimer(TRIM_MS, () => {
          // A script that prints without end would fill the disk. It goes on where it was, behind a hole.
          if (fstatSync(output).size > MAX_OUTPUT) ftruncateSync(output, MAX_OUTPUT);
          trimming = trim();
        });
      let trimming = trim();
      const end = (exitCode: number): void => {
        timer.cancel();
        trimming.cancel();
        const text = readOutput(output);
        if (this.#outputs.get(instance) === output) this.#outputs.delete(instance);
        closeSync(output);
        rmSync(log, { force: true });
        resolveResult({ exitCode, output: text, ...(timedOut ? { timedOut } : {}) });
      };
      child.once('error', () => end(126));
      child.once('exit', (code) => {
        if (isAllOver(child)) {
          kill(child);
          children.delete(child);
        }
        end(code ?? 137);
      });
    });
  }
}

/** `destination_path` names the script's file within the machine, or its folder when it ends with a slash. */
function scriptPath(home: string, step: ScriptStep): string {
  const name = `${step.box === '' ? 'main' : step.box}-${step.event}`;
  const wanted = step.destination ?? '';
  if (wanted === '') return join(home, 'scripts', name);
  const path = resolve(home, `.${sep}${wanted.endsWith('/') ? `${wanted}${step.event}` : wanted}`);
  return path.startsWith(home + sep) ? path : join(home, 'scripts', name);
}

function put(path: string, content: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: 0o700 });
}

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
  child.stdio[3]?.destroy();
}

/** Whether a script that has ended left nothing running but its guard; false where that cannot be told. */
function isAllOver({ pid }: ChildProcess): boolean {
  if (pid === undefined || !existsSync('/proc/self/stat')) return false;
  return readdirSync('/proc').every((name) => {
    if (!/^\d+$/.test(name)) return true;
    try {
      // After the name in brackets, which may hold anything: state, parent, process group.
      const [state, , group] = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ', 3);
      if (Number(group) !== pid || state === 'Z') return true;
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(GUARD);
    } catch {
      // It has ended meanwhile.
      return true;
    }
  });
}

/** The output so far without what is cut off, or its last `max` bytes. */
function readOutput(file: number, max = MAX_OUTPUT): string {
  const size = Math.min(fstatSync(file).size, MAX_OUTPUT);
  const bytes = Buffer.alloc(Math.min(size, max));
  const length = readSync(file, bytes, 0, bytes.length, size - bytes.length);
  return bytes.subarray(0, length).toString('utf8');
}
