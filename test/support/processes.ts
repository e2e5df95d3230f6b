import { readFileSync } from 'node:fs';

/** Whether a process still runs; one that has ended and only waits for its parent to notice does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // proc_pid_stat(5): the state follows the name, which stands in parentheses and may hold some itself.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    // No /proc on this system: it answered the signal, so it runs.
    return true;
  }
}
