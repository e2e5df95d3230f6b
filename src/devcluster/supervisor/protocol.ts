/**
 * What travels between a process and its supervisor: one JSON object a line, commands on the supervisor's
 * standard input, events on its standard output. The end of the input is the command to end everything.
 */
export type SupervisorCommand =
  | {
      do: 'settings';
      /** How long a program gets between SIGTERM and SIGKILL; 0 sends SIGKILL at once. */
      graceMs: number;
      /** Folders to remove once every program has ended. */
      remove: readonly string[];
    }
  | ({ do: 'start'; id: number } & ProgramSpec)
  | { do: 'end'; id: number };

export interface ProgramSpec {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Standard output and error are appended to this file. */
  logFile: string;
  cwd?: string;
}

export type SupervisorEvent =
  | { event: 'started'; id: number; pid: number }
  | { event: 'ended'; id: number; code: number | null; signal: string | null; error?: string };
