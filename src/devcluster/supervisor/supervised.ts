import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { supervisorScript } from '../assets.ts';
import type { ProgramSpec, SupervisorCommand, SupervisorEvent } from './protocol.ts';

/** How a program ended. */
export interface ProgramEnd {
  code: number | null;
  signal: string | null;
  /** Why it could not be started at all. */
  error?: string;
}

/** A program that runs under a {@link Supervisor}. */
export interface SupervisedProgram {
  /** Undefined until it has started. */
  readonly pid: number | undefined;
  /** Undefined while it runs. */
  readonly end: ProgramEnd | undefined;
  /** Resolves when it has ended, whatever the reason; never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Asks it to end. */
  stop(): void;
}

class Program implements SupervisedProgram {
  pid: number | undefined;
  end: ProgramEnd | undefined;
  readonly ended: Promise<ProgramEnd>;
  readonly stop: () => void;
  #resolve: (end: ProgramEnd) => void = () => undefined;

  constructor(stop: () => void) {
    this.stop = stop;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  finish(end: ProgramEnd): void {
    this.end ??= end;
    this.#resolve(this.end);
  }
}

/**
 * This process's end of a supervisor process (`supervisor.ts`): programs started through it end when this
 * process does, whatever way it goes. It does not keep this process alive.
 */
export class Supervisor {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #programs = new Map<number, Program>();
  readonly #gone: Promise<void>;
  #nextId = 1;

  constructor(options: { graceMs: number; remove?: readonly string[] }) {
    this.#child = spawn(process.execPath, [supervisorScript()], {
      // A session of its own: what ends this process's terminal or group must not end the one who cleans up.
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'] },
    });
    this.#child.stdin.on('error', () => undefined); // The 'exit' event below tells what matters.
    this.#gone = once(this.#child, 'exit').then(() => this.#onGone());
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#onEvent(JSON.parse(line) as SupervisorEvent);
    });
    this.#setKeepAlive(false);
    this.#send({ do: 'settings', graceMs: options.graceMs, remove: options.remove ?? [] });
  }

  /** The supervisor's own process id. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  start(spec: ProgramSpec): SupervisedProgram {
    const id = this.#nextId++;
    const program = new Program(() => this.#send({ do: 'end', id }));
    this.#programs.set(id, program);
    this.#send({ do: 'start', id, ...spec });
    return program;
  }

  /** Ends all programs, the last one first, and resolves when they and the supervisor are gone. */
  async stop(): Promise<void> {
    this.#setKeepAlive(true);
    this.#child.stdin.end();
    await this.#gone;
  }

  #send(command: SupervisorCommand): void {
    if (this.#child.stdin.writable) this.#child.stdin.write(`${JSON.stringify(command)}\n`);
  }

  #onEvent(event: SupervisorEvent): void {
    const program = this.#programs.get(event.id);
    if (program === undefined) return;
    switch (event.event) {
      case 'started':
        program.pid = event.pid;
        return;
      case 'ended':
        program.finish({
          code: event.code,
          signal: event.signal,
          ...(event.error === undefined ? {} : { error: event.error }),
        });
        return;
      default:
        event satisfies never;
    }
  }

  /** Only when somebody killed the supervisor itself are there programs left to end. */
  #onGone(): void {
    for (const program of this.#programs.values()) {
      if (program.end !== undefined) continue;
      if (program.pid !== undefined) killGroup(program.pid);
      program.finish({ code: null, signal: 'SIGKILL' });
    }
  }

  #setKeepAlive(alive: boolean): void {
    const act = alive ? 'ref' : 'unref';
    this.#child[act]();
    (this.#child.stdin as Socket)[act]();
    (this.#child.stdout as Socket)[act]();
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: it has ended already.
  }
}
