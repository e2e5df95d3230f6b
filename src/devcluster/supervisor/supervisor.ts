/**
 * A process that does nothing but hold others: it starts the programs its parent names and ends them, the
 * last one first, when the pipe from the parent closes. The pipe closes whatever way the parent goes, SIGKILL
 * included, which neither etcd nor the API server would notice. Speaks `protocol.ts`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { systemClock } from '../../base/clock.ts';
import type { SupervisorCommand, SupervisorEvent } from './protocol.ts';

interface Program {
  id: number;
  child: ChildProcess;
  ended: Promise<void>;
}

function main(): void {
  const programs: Program[] = [];
  let settings: Extract<SupervisorCommand, { do: 'settings' }> = {
    do: 'settings',
    graceMs: 5_000,
    remove: [],
  };
  let ending = false;

  async function endAll(): Promise<void> {
    if (ending) return;
    ending = true;
    while (programs.length > 0) {
      const last = programs.at(-1);
      if (last !== undefined) await endProgram(last, settings.graceMs);
    }
    for (const folder of settings.remove) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
    process.exit(0);
  }

  function start(command: Extract<SupervisorCommand, { do: 'start' }>): void {
    const log = openSync(command.logFile, 'a');
    // A process group of its own: it can be ended with all that it started, and ^C in a terminal does not
    // reach it before the parent has decided what to do.
    const child = spawn(command.command, command.args, {
      env: command.env,
      cwd: command.cwd,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const ended = new Promise<void>((resolve) => {
      const finish = (event: Omit<Extract<SupervisorEvent, { event: 'ended' }>, 'event' | 'id'>): void => {
        const at = programs.findIndex((program) => program.id === command.id);
        if (at >= 0) programs.splice(at, 1);
        send({ event: 'ended', id: command.id, ...event });
        resolve();
      };
      child.once('exit', (code, signal) => finish({ code, signal }));
      child.once('error', (error) => finish({ code: null, signal: null, error: error.message }));
    });
    programs.push({ id: command.id, child, ended });
    if (child.pid !== undefined) send({ event: 'started', id: command.id, pid: child.pid });
  }

  function obey(command: SupervisorCommand): void {
    if (ending) return;
    switch (command.do) {
      case 'settings':
        settings = command;
        return;
      case 'start':
        start(command);
        return;
      case 'end': {
        const program = programs.find((candidate) => candidate.id === command.id);
        if (program !== undefined) void endProgram(program, settings.graceMs);
        return;
      }
      default:
        command satisfies never;
    }
  }

  // The parent may be gone when an event is written; the closing input says so, too.
  process.stdout.on('error', () => undefined);
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => obey(JSON.parse(line) as SupervisorCommand));
  lines.on('close', () => void endAll());
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void endAll());
}

function send(event: SupervisorEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

async function endProgram(program: Program, graceMs: number): Promise<void> {
  const kill = (): void => signalGroup(program.child, 'SIGKILL');
  if (graceMs <= 0) {
    kill();
  } else {
    signalGroup(program.child, 'SIGTERM');
    const timer = systemClock.setTimer(graceMs, kill);
    void program.ended.then(() => timer.cancel());
  }
  await program.ended;
}

function signalGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // ESRCH: the whole group has ended already, which is what was wanted.
  }
}

main();
